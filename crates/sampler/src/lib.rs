//! CPU, memory, disk and network of a process tree, a cgroup or the host, on the caller's clock. Linux only.
//!
//! [`Probe`] reads one [`Target`] when asked; [`Sampler`] reads many on one thread and sums up a window. Figures are
//! those of whole trees: children that came and went between two samples count, shared pages count once, and what
//! cannot be had is `None`.
//!
//! ```
//! use std::time::{Duration, Instant};
//! use iotbench_sampler::{Sampler, Subject, Target};
//!
//! let epoch = Instant::now();
//! let pid = i32::try_from(std::process::id())?;
//! let client = Subject { role: "client".to_owned(), node: 0, target: Target::ProcessTree { pid } };
//! let sampler = Sampler::start(epoch, Duration::from_secs(1), vec![client], |_readings| {})?;
//! sampler.begin_window(epoch.elapsed());
//! // … what is to be measured …
//! sampler.end_window(epoch.elapsed());
//! let report = sampler.stop();
//! assert!(report.subjects[0].memory.rss_bytes_max.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`HiccupMeter`] and [`OwnCpu`] watch the process that they are in: when it could not run and why, and how much of a core
//! its busiest thread takes. [`OthersWatch`] tells by samples of the whole machine whether others disturbed it. [`OthersLook`] tells what
//! others have of the machine before anything runs, [`memory_now`] and [`memory_limit_bytes`] what memory there is, and
//! [`clock_reading_ns`] and [`wakes_late_ns`] how well the machine keeps time.
//!
//! # Invariants
//! - Never counts a process, a page or a storage device twice.
//! - Never turns an unknown figure into 0, and never lets a counter fall.
//! - Never takes a reused pid for the process that had it.
//! - Never keeps more than the latest reading of each living process and socket: memory does not grow with time.
//! - Never needs privileges; other users' processes then give fewer figures.
//!
//! # Limits
//! - A child that starts and ends between two samples counts only if its parent waits for it; a child that ends
//!   without being waited for inside the tree counts up to its last sample.
//! - CPU times of process trees have the kernel's resolution of one clock tick (10 ms) per process.
//! - Network by socket is TCP payload in this network namespace: Unix sockets and UDP are not in it. A connection that was never
//!   seen counts by its ends; what cannot be told apart so makes the figure a lower bound.
//! - What each figure means, and from which file it comes, is in the README.

mod cgroup;
mod clock_timing;
mod cpu_bound;
mod cpu_credit;
mod disk;
mod disturbance;
mod drift;
mod energy;
mod hiccup;
mod host;
mod listener;
mod network;
mod network_bytes;
mod others;
mod others_now;
mod owed;
mod own_connections;
mod own_threads;
mod page_cache;
mod probe;
mod probe_error;
mod process_files;
mod process_tree;
mod pss;
mod remote_probe;
mod sample;
mod sampler;
mod sampling_thread;
mod sock_diag;
mod socket_account;
mod summary;
mod tcp_sockets;
mod tree_account;
mod usage_between;
mod write_back;

pub use cgroup::{CpuLimit, cgroup_of, memory_limit_bytes};
pub use clock_timing::{clock_reading_ns, clock_resolution_ns, wakes_late_ns};
pub use disturbance::{OthersSecond, OthersShare, OthersWatch, STEAL};
pub use drift::{PROCESSOR_DRIFT, STORAGE_DRIFT};
pub use hiccup::{Hiccup, HiccupCause, HiccupMeter, Hiccups, Lateness};
pub use host::{MemoryNow, memory_now, processors};
pub use listener::{Listener, listener};
pub use network_bytes::NetworkBytes;
pub use others_now::{BusyProcess, OthersLook, OthersNow};
pub use owed::{Owed, WithWriteBack, Writes};
pub use own_connections::{ConnectionId, OwnConnections};
pub use own_threads::{CpuShares, OwnCpu};
pub use probe::{DEFAULT_CPU_SHARE, Probe, Target};
pub use probe_error::ProbeError;
pub use remote_probe::RemoteProbe;
pub use sample::{DiskCounters, MemoryKinds, Method, NetworkCounters, NetworkMethod, Sample, Source};
pub use sampler::{Observation, Reading, Sampler, SamplerError, SamplerReport, Subject};
pub use summary::{CpuFigures, DiskFigures, MemoryFigures, NetworkFigures, Summary};
pub use tree_account::{ProcessId, ProcessRow, TreeAccount, Usage};
pub use usage_between::UsageBetween;
pub use write_back::{Medium, WriteBack};
