//! What is known of a machine. `None`: not known, or not looked at.

use iotbench_sampler::OthersNow;
use serde::Serialize;
use std::path::PathBuf;

/// A machine, as far as it decides what is measured on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MachineFacts {
    /// Processors of the machine.
    pub processors: Option<u64>,
    /// Those that this process may use.
    pub processors_usable: Option<u64>,
    /// How many processors' time its cgroups allow.
    pub quota_cores: Option<f64>,
    /// What sets the clock rate of the first processor.
    pub governor: Option<String>,
    /// What others have of it.
    pub others: Option<OthersNow>,
    /// Its clock.
    pub clock: ClockFacts,
    /// Its memory.
    pub memory: MemoryFacts,
    /// The most files that a process may have open; `None`: there is no limit.
    pub open_files: Option<u64>,
    /// The folders that databases and results would lie in.
    pub folders: Vec<FolderFacts>,
}

/// A machine's clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClockFacts {
    /// The kernel's source of time.
    pub source: Option<String>,
    /// The sources that it could have.
    pub available: Vec<String>,
    /// Its finest step, in nanoseconds.
    pub resolution_ns: Option<u64>,
    /// What reading it takes, in nanoseconds.
    pub reading_ns: Option<f64>,
    /// By how much the kernel may wake this process late, to save power, in nanoseconds.
    pub slack_ns: Option<u64>,
    /// By how much it wakes late without that, in nanoseconds: the median, and 99 of 100.
    pub wakes_late_ns: Option<[u64; 2]>,
}

/// A machine's memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryFacts {
    /// All of it.
    pub total_bytes: Option<u64>,
    /// What programs can still have.
    pub available_bytes: Option<u64>,
    /// What the cgroups of this process allow.
    pub limit_bytes: Option<u64>,
    /// What is swapped out.
    pub swapped_bytes: Option<u64>,
}

/// A folder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FolderFacts {
    /// What lies there, such as `private servers`.
    pub of: String,
    /// Where it is: the folder, or the nearest one above it that is there.
    pub path: PathBuf,
    /// The kind of its file system.
    pub filesystem: Option<String>,
    /// Whether that keeps its files in memory.
    pub in_memory: bool,
    /// What is free there.
    pub free_bytes: Option<u64>,
    /// Appends that waited until they were on the disk.
    pub appends: Option<AppendFacts>,
    /// Why there were none.
    pub failed: Option<String>,
}

/// How long appends took until they were on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AppendFacts {
    /// So many bytes each.
    pub bytes: u64,
    /// So many of them.
    pub count: u64,
    /// Half of them took at most so long, in nanoseconds.
    pub p50_ns: u64,
    /// And 99 of 100.
    pub p99_ns: u64,
    /// Whether the storage was another one in their second half; `None`: they were too few to tell.
    pub drifted: Option<bool>,
}
