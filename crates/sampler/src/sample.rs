//! One reading of one target.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Cumulative counters and momentary sizes of one target at one instant.
///
/// Counters (`cpu_s`, those of disk and network) never fall within one [`crate::Probe`]; their origin is arbitrary, so only
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
    /// What was read and written.
    #[serde(flatten)]
    pub disk: DiskCounters,
    /// CPU time of all processes but kernel threads and those of the other subjects. Known for the host only, where all
    /// processes are to be seen.
    #[serde(default)]
    pub others_cpu_s: Option<f64>,
    /// Time that a hypervisor gave to other machines while this one wanted it, over all processors. Known for the host only.
    #[serde(default)]
    pub steal_s: Option<f64>,
    /// What was sent and received.
    #[serde(flatten)]
    pub network: NetworkCounters,
    /// What processors and memory consumed, in microjoules. Known for the host only, where its counters can be read.
    pub energy_uj: Option<u64>,
}

/// Bytes on their way to and from storage devices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskCounters {
    /// Bytes fetched from storage devices.
    #[serde(rename = "disk_read_bytes")]
    pub read_bytes: Option<u64>,
    /// Bytes sent, or to be sent, to storage devices.
    #[serde(rename = "disk_written_bytes")]
    pub written_bytes: Option<u64>,
    /// The part of `written_bytes` that never reached a device because the file was truncated first. Known for process trees
    /// only.
    #[serde(rename = "disk_cancelled_bytes")]
    pub cancelled_bytes: Option<u64>,
    /// Bytes of the page cache that anybody made dirty, and of memory swapped out. Known for the host only.
    #[serde(default, rename = "disk_dirtied_bytes")]
    pub dirtied_bytes: Option<u64>,
    /// Bytes of the page cache that wait to be written, or are being written: a size. Known for the host only.
    #[serde(default, rename = "disk_dirty_bytes")]
    pub dirty_bytes: Option<u64>,
}

/// Bytes on the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkCounters {
    /// Bytes received.
    #[serde(rename = "net_rx_bytes")]
    pub rx_bytes: Option<u64>,
    /// Bytes sent.
    #[serde(rename = "net_tx_bytes")]
    pub tx_bytes: Option<u64>,
    /// Bytes, received and sent, of connections that ended unseen and may have been the target's; they are in neither figure.
    #[serde(default, rename = "net_doubtful_bytes")]
    pub doubtful_bytes: u64,
    /// How often connections may have ended of which it is not known what they carried last. Where this grows, the figures are
    /// lower bounds.
    #[serde(default, rename = "net_missed")]
    pub missed: u64,
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// As agents tell it: one flat object.
    #[test]
    fn a_sample_is_one_flat_object_of_which_later_fields_may_be_missing() {
        let earlier = json!({
            "at": { "secs": 3, "nanos": 5 }, "cpu_s": 1.5, "user_s": 1.0, "system_s": 0.5, "processes": 2,
            "rss_bytes": null, "pss_bytes": 7, "memory": null,
            "disk_read_bytes": 8, "disk_written_bytes": 18_446_744_073_709_551_615_u64, "disk_cancelled_bytes": null,
            "net_rx_bytes": 10, "net_tx_bytes": null, "energy_uj": null,
        });
        let sample: Sample = serde_json::from_str(&earlier.to_string()).unwrap();
        assert_eq!((sample.disk.written_bytes, sample.disk.dirty_bytes), (Some(u64::MAX), None));
        assert_eq!((sample.network.rx_bytes, sample.network.missed), (Some(10), 0));
        let told: Value = serde_json::from_str(&serde_json::to_string(&sample).unwrap()).unwrap();
        let earlier = earlier.as_object().unwrap();
        assert!(earlier.iter().all(|(key, value)| told[key] == *value), "{told}");
        assert_eq!(told.as_object().unwrap().len(), earlier.len() + 6, "{told}");
    }
}
