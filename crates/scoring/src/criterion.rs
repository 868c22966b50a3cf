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
    /// Of throughput more is better: its inverse, in microseconds for an acknowledged operation. Not in any study.
    ThroughputInverse,
    /// Of capacity more is better: its inverse, in millionths. Not in any study.
    CapacityInverse,
}

impl Criterion {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::ServerCpuPct,
        Self::ServerMemoryBytes,
        Self::ServerIoKbPerS,
        Self::ClientCpuPct,
        Self::ClientMemoryBytes,
        Self::NetworkKbitPerS,
        Self::DiskGrowthBytes,
        Self::Difficulty,
        Self::ResponseMeanUs,
        Self::ResponseP99Us,
    ];

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
            Self::ThroughputInverse => "throughput_inverse",
            Self::CapacityInverse => "capacity_inverse",
        }
    }

    /// What it is called in a table.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::ServerCpuPct => "server CPU",
            Self::ServerMemoryBytes => "server RSS",
            Self::ServerIoKbPerS => "server I/O",
            Self::ClientCpuPct => "client CPU",
            Self::ClientMemoryBytes => "client RSS",
            Self::NetworkKbitPerS => "network",
            Self::DiskGrowthBytes => "disk growth",
            Self::Difficulty => "grade",
            Self::ResponseMeanUs => "response mean",
            Self::ResponseP99Us => "response p99",
            Self::ThroughputInverse => "1/throughput",
            Self::CapacityInverse => "1/capacity",
        }
    }

    /// The unit of its figures.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::ServerCpuPct | Self::ClientCpuPct => "%",
            Self::ServerMemoryBytes | Self::ClientMemoryBytes | Self::DiskGrowthBytes => "bytes",
            Self::ServerIoKbPerS => "kB/s",
            Self::NetworkKbitPerS => "kbit/s",
            Self::Difficulty => "1 to 5",
            Self::ResponseMeanUs | Self::ResponseP99Us => "µs",
            Self::ThroughputInverse => "µs/op",
            Self::CapacityInverse => "10⁻⁶",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Criterion::{self, *};

    #[test]
    fn each_has_a_title_and_a_unit_of_its_own() {
        let titles: std::collections::BTreeSet<_> = Criterion::ALL.iter().map(|criterion| criterion.title()).collect();
        assert_eq!((titles.len(), ResponseP99Us.title(), CapacityInverse.title()), (10, "response p99", "1/capacity"));
        let units = [ServerCpuPct, DiskGrowthBytes, ServerIoKbPerS, NetworkKbitPerS, Difficulty, ResponseMeanUs];
        let expected = ["%", "bytes", "kB/s", "kbit/s", "1 to 5", "µs"];
        assert_eq!(units.map(Criterion::unit), expected);
        assert_eq!([ThroughputInverse, CapacityInverse].map(Criterion::unit), ["µs/op", "10⁻⁶"]);
    }
}
