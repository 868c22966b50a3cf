//! Why a target cannot be read.

use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Why a target cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// Every process of the tree ended, or the cgroup was removed.
    #[error("the target is gone: all its processes ended or its cgroup was removed")]
    Gone,
    /// No such process when the probe was made.
    #[error("there is no process {pid}: check the pid, and that /proc shows other users' processes")]
    NoSuchProcess {
        /// The pid asked for.
        pid: i32,
    },
    /// No hierarchy has the group.
    #[error("no cgroup hierarchy has {}: name it as /proc/PID/cgroup does", path.display())]
    NoSuchCgroup {
        /// The path asked for.
        path: PathBuf,
    },
    /// The group exists, but neither cpuacct (v1) nor cpu.stat (v2) does.
    #[error("the cgroup {} has no CPU accounting: measure the process tree instead", path.display())]
    NoCpuAccounting {
        /// The path asked for.
        path: PathBuf,
    },
    /// A file that should be readable is not.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file of the kernel does not look as documented.
    #[error("cannot make sense of {}: {what}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// Whoever sees the subject tells nothing.
    #[error("nothing is known of it: {why}")]
    Untold {
        /// Why.
        why: String,
    },
}

impl ProbeError {
    pub(crate) fn malformed(path: &Path, what: impl Display) -> Self {
        Self::Malformed { path: path.to_owned(), what: what.to_string() }
    }
}
