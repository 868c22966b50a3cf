//! What can be scored.

use serde::{Deserialize, Serialize};

/// Something of which less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// CPU time of the database's processes over elapsed time, in percent of one core, as `ps -o %cpu` tells it.
    ServerCpuPct,
    /// Resident memory of the database's processes, mean over time.
    ServerMemoryBytes,
    /// What the database's processes read from and wrote to storage devices, in 1000 bytes a second.
    ServerIoKbPerS,
    /// CPU time of the client over elapsed time, in percent of one core.
    ClientCpuPct,
    /// Resident memory of the client, mean over time.
    ClientMemoryBytes,
    /// What went between client and database in both directions, in 1000 bits a second.
    NetworkKbitPerS,
    /// By how much the data folder grew.
    DiskGrowthBytes,
    /// How hard it is to program, from 1 (easy) to 5 (hard): the judgement of whoever wrote the score file.
    Difficulty,
    /// Mean response time of an operation.
    ResponseMeanUs,
    /// 99th percentile of the response time of an operation.
    ResponseP99Us,
}

impl Criterion {
    /// The key in a score file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ServerCpuPct => "server_cpu_pct",
            Self::ServerMemoryBytes => "server_memory_bytes",
            Self::ServerIoKbPerS => "server_io_kb_per_s",
            Self::ClientCpuPct => "client_cpu_pct",
            Self::ClientMemoryBytes => "client_memory_bytes",
            Self::NetworkKbitPerS => "network_kbit_per_s",
            Self::DiskGrowthBytes => "disk_growth_bytes",
            Self::Difficulty => "difficulty",
            Self::ResponseMeanUs => "response_mean_us",
            Self::ResponseP99Us => "response_p99_us",
        }
    }

    /// What it is called in a table, with its unit.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::ServerCpuPct => "server CPU %",
            Self::ServerMemoryBytes => "server RSS bytes",
            Self::ServerIoKbPerS => "server I/O kB/s",
            Self::ClientCpuPct => "client CPU %",
            Self::ClientMemoryBytes => "client RSS bytes",
            Self::NetworkKbitPerS => "network kbit/s",
            Self::DiskGrowthBytes => "disk growth bytes",
            Self::Difficulty => "difficulty 1 to 5",
            Self::ResponseMeanUs => "response mean µs",
            Self::ResponseP99Us => "response p99 µs",
        }
    }
}
