//! What passes the pipes between a program and its supervisor: one JSON document a line.

use crate::process::ProcessId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Both ends are of one version: they are one program, or installed together.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The line after which a closed pipe is no reason to end.
pub(crate) const DETACH: &str = "\"detach\"";

/// All that a supervisor has to know. The first line it gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    pub(crate) version: String,
    pub(crate) backend: String,
    pub(crate) folder: PathBuf,
    /// Whether the folder is to be made and filled.
    pub(crate) fresh: bool,
    /// User and group that get the folder.
    pub(crate) owner: Option<(u32, u32)>,
    /// What stands before each command, so that it runs as that user.
    pub(crate) prefix: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) init: Vec<Vec<String>>,
    pub(crate) start: Vec<String>,
    /// The number of the signal that asks the server to stop.
    pub(crate) stop_signal: i32,
    /// After so long it is killed.
    pub(crate) grace_ms: u64,
}

/// What a supervisor tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The server runs.
    Started(ProcessId),
    /// It was not even started.
    Failed(String),
    /// It ended without having been asked to.
    Exited(String),
    /// All is over, and the folder is gone.
    Removed,
    /// All is over, and the folder stays as wished.
    Kept,
    /// All is over, but the folder could not be removed.
    NotRemoved(String),
}
