//! What passes the pipes between a program and its supervisor: one JSON document a line.

use crate::{password::Password, process::ProcessId, topology::count_ports};
use iotbench_core::{ProcessAction, Recipe};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Both ends are of one version: they are one program, or installed together.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The line after which a closed pipe is no reason to end.
pub(crate) const DETACH: &str = "\"detach\"";
/// The line that says that all processes of the present stage are ready.
pub(crate) const READY: &str = "\"ready\"";

/// All that a supervisor has to know. The first line it gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    pub(crate) version: String,
    pub(crate) marker: Marker,
    pub(crate) folder: PathBuf,
    /// Whether the folder is to be made and filled.
    pub(crate) fresh: bool,
    /// User and group that get the folder.
    pub(crate) owner: Option<(u32, u32)>,
    /// What stands before each command, so that it runs as that user.
    pub(crate) prefix: Vec<String>,
    /// The processes, those of one role together: each stage waits until the one before is ready, and stops before it.
    pub(crate) stages: Vec<Vec<ProcessOrder>>,
    /// What is run once on a fresh folder when all are ready.
    pub(crate) join: Vec<Vec<String>>,
    pub(crate) join_in: Surroundings,
    /// A stage that was asked to stop is killed after so long.
    pub(crate) grace_ms: u64,
}

/// What a server's folder remembers of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Marker {
    pub(crate) backend: String,
    pub(crate) nodes: u32,
    /// The ports of all roles: processes that know one another start again where they were.
    pub(crate) ports: Vec<u16>,
    /// Its password; `None`: the server of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) password: Option<Password>,
}

impl Marker {
    /// Whether a server of this recipe may have left it: another form of the same database has other roles.
    pub(crate) fn is_of(&self, recipe: &Recipe) -> bool {
        self.ports.len() == count_ports(recipe)
    }
}

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProcessOrder {
    pub(crate) surroundings: Surroundings,
    /// Files that are written before each start, with what they say.
    pub(crate) files: Vec<(PathBuf, String)>,
    pub(crate) init: Vec<Vec<String>>,
    pub(crate) start: Vec<String>,
    /// The number of the signal that asks it to stop.
    pub(crate) stop_signal: i32,
}

/// Where commands run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Surroundings {
    pub(crate) folder: PathBuf,
    pub(crate) environment: Vec<(String, String)>,
    /// Where what they say goes; `None`: where the supervisor's own errors go.
    pub(crate) log: Option<PathBuf>,
    /// Which of several processes it is, for people.
    pub(crate) of: String,
}

/// Something to be done to one process while the server runs. A line of its own after the order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Act {
    /// Its place among all processes, through all stages.
    pub(crate) process: usize,
    pub(crate) action: ProcessAction,
}

/// What a supervisor tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Report {
    /// This process runs; they are numbered through all stages.
    Started { process: usize, id: ProcessId },
    /// All are joined: the server is ready.
    Joined,
    /// A command before or between the processes failed, or a process was not even started.
    Failed { process: Option<usize>, how: String },
    /// A process ended without having been asked to.
    Exited { process: usize, how: String },
    /// The action that was asked for last is done: this is the process now; `Err`: why it is not.
    Acted(Result<ProcessId, String>),
    /// All is over, and the folder is gone.
    Removed,
    /// All is over, and the folder stays as wished.
    Kept,
    /// All is over, but the folder could not be removed.
    NotRemoved(String),
}
