//! What ends a command without a result.

use crate::console::printable;
use iotbench_engine::{PlanError, ProfileError};
use iotbench_launcher::{FolderError as ServerFolderError, RecordError, StartError};
use std::fmt;

/// The program is at fault.
pub(crate) const INTERNAL: u8 = 1;
/// The arguments or a profile are wrong.
pub(crate) const USAGE: u8 = 2;
/// A server died, or did not start.
pub(crate) const SERVER: u8 = 24;
/// Something is not ours.
pub(crate) const NOT_OURS: u8 = 31;
/// A file of the user's machine cannot be read or written.
pub(crate) const LOCAL_IO: u8 = 30;

/// What ends a command without a result: an exit code, and words for people.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct CliError {
    code: u8,
    message: String,
}

impl CliError {
    pub(crate) fn internal(message: impl fmt::Display) -> Self {
        Self { code: INTERNAL, message: message.to_string() }
    }

    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self { code: USAGE, message: message.to_string() }
    }

    pub(crate) fn local_io(message: impl fmt::Display) -> Self {
        Self { code: LOCAL_IO, message: message.to_string() }
    }

    /// With an exit code of the table in the help.
    pub(crate) fn with_code(code: u8, message: impl fmt::Display) -> Self {
        Self { code, message: message.to_string() }
    }

    pub(crate) fn code(&self) -> u8 {
        self.code
    }
}

impl From<StartError> for CliError {
    fn from(error: StartError) -> Self {
        let code = match &error {
            StartError::Missing(_)
            | StartError::NoSupervisor
            | StartError::NoSetpriv
            | StartError::OtherNodes { .. }
            | StartError::OtherKind { .. }
            | StartError::Refused { .. }
            | StartError::NotReachable { .. } => USAGE,
            StartError::Folder(error) => folder_code(error),
            StartError::Io { .. } => LOCAL_IO,
            StartError::Died { .. } | StartError::NotReady { .. } => SERVER,
            StartError::Cancelled => 130,
            StartError::Recipe(_) => INTERNAL,
        };
        Self::with_code(code, printable(&error.to_string()))
    }
}

impl From<RecordError> for CliError {
    fn from(error: RecordError) -> Self {
        let code = match &error {
            RecordError::NotOurs(_) => NOT_OURS,
            RecordError::Running { .. } => USAGE,
            RecordError::Io { .. } => LOCAL_IO,
            RecordError::Stuck { .. } => SERVER,
            RecordError::Folder(error) => folder_code(error),
        };
        Self::with_code(code, error)
    }
}

impl From<ServerFolderError> for CliError {
    fn from(error: ServerFolderError) -> Self {
        Self::with_code(folder_code(&error), error)
    }
}

fn folder_code(error: &ServerFolderError) -> u8 {
    match error {
        ServerFolderError::Io { .. } => LOCAL_IO,
        ServerFolderError::NotOurs { .. } | ServerFolderError::InUse { .. } => NOT_OURS,
        ServerFolderError::NotTraversable { .. } => USAGE,
    }
}

impl From<ProfileError> for CliError {
    fn from(error: ProfileError) -> Self {
        Self::usage(error)
    }
}

impl From<PlanError> for CliError {
    fn from(error: PlanError) -> Self {
        Self::usage(error)
    }
}
