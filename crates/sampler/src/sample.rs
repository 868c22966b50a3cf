//! One reading of one target.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Cumulative counters and momentary sizes of one target at one instant.
///
/// Counters (`cpu_s`, `disk_*`, `net_*`) never fall within one [`crate::Probe`]; their origin is arbitrary, so only
/// differences between two samples mean something. A figure that could not be had is `None`, never 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// When the sample was taken, since the caller's epoch.
    pub at: Duration,
    /// CPU time used, user and system, in seconds of one core.
    pub cpu_s: f64,
    /// CPU time in user mode, in seconds.
    pub user_s: f64,
    /// CPU time in the kernel, in seconds.
    pub system_s: f64,
    /// Processes alive: zombies are not, and kernel threads count for the host only.
    pub processes: u32,
    /// Sum of the processes' resident sets: a page shared by n processes counts n times. `None` for the host.
    pub rss_bytes: Option<u64>,
    /// Sum of the processes' proportional set sizes: a page shared by n processes counts once.
    pub pss_bytes: Option<u64>,
    /// The memory by kind.
    pub memory: Option<MemoryKinds>,
    /// Bytes fetched from storage devices.
    pub disk_read_bytes: Option<u64>,
    /// Bytes sent, or to be sent, to storage devices.
    pub disk_written_bytes: Option<u64>,
    /// The part of `disk_written_bytes` that never reached a device because the file was truncated first. Known for
    /// process trees only.
    pub disk_cancelled_bytes: Option<u64>,
    /// Bytes of the page cache that anybody made dirty, and of memory swapped out. Known for the host only.
    #[serde(default)]
    pub disk_dirtied_bytes: Option<u64>,
    /// Bytes of the page cache that wait to be written, or are being written: a size. Known for the host only.
    #[serde(default)]
    pub disk_dirty_bytes: Option<u64>,
    /// CPU time of all processes but kernel threads and those of the other subjects. Known for the host only, where all
    /// processes are to be seen.
    #[serde(default)]
    pub others_cpu_s: Option<f64>,
    /// Time that a hypervisor gave to other machines while this one wanted it, over all processors. Known for the host only.
    #[serde(default)]
    pub steal_s: Option<f64>,
    /// Bytes received.
    pub net_rx_bytes: Option<u64>,
    /// Bytes sent.
    pub net_tx_bytes: Option<u64>,
    /// Bytes, received and sent, of connections that ended unseen and may have been the target's; they are in neither figure.
    #[serde(default)]
    pub net_doubtful_bytes: u64,
    /// How often connections may have ended of which it is not known what they carried last. Where this grows, the figures are
    /// lower bounds.
    #[serde(default)]
    pub net_missed: u64,
    /// What processors and memory consumed, in microjoules. Known for the host only, where its counters can be read.
    pub energy_uj: Option<u64>,
}

/// Memory by kind; no page is in two of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryKinds {
    /// Anonymous pages: heaps, stacks, private copies.
    pub anon_bytes: u64,
    /// Shared memory and tmpfs.
    pub shmem_bytes: u64,
    /// Pages of files that are mapped, shared ones in proportion (process trees only).
    pub mapped_file_bytes: Option<u64>,
    /// Page cache of files, mapped or not, without shared memory (cgroups and the host only).
    pub page_cache_bytes: Option<u64>,
}

/// Where CPU, memory and disk figures come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// `/proc/PID/{stat,io,smaps_rollup}` of every process of a tree.
    ProcessTree,
    /// The files of cgroup v1 controllers.
    CgroupV1,
    /// The files of the unified hierarchy.
    CgroupV2,
    /// The figures of the whole machine.
    Host,
}

impl Source {
    /// A short name for results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProcessTree => "process tree",
            Self::CgroupV1 => "cgroup v1",
            Self::CgroupV2 => "cgroup v2",
            Self::Host => "host",
        }
    }
}

/// How network bytes are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NetworkMethod {
    /// All traffic of the interfaces that the target sees, loopback excluded; other processes' traffic is in it.
    Interface,
    /// Payload of the TCP sockets that the target's processes hold, loopback included.
    Socket,
}

impl NetworkMethod {
    /// A short name for results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Interface => "interface",
            Self::Socket => "socket",
        }
    }
}

/// How a target's figures are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method {
    /// CPU, memory and disk.
    pub source: Source,
    /// Network; `None` if there is no such figure.
    pub network: Option<NetworkMethod>,
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.source.as_str())?;
        match self.network {
            Some(network) => write!(f, ", network by {}", network.as_str()),
            None => Ok(()),
        }
    }
}
