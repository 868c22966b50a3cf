//! What ends a command without a result.

use crate::diagnostics;
use iotbench_cluster::ClusterError;
use iotbench_launcher::{FolderError as ServerFolderError, RecordError, StartError};
use iotbench_report::{CompareError, FolderError, LockError, RecoverError};
use iotbench_session::{SavedSearchError, SessionError, exit_code};
use std::fmt;

pub(crate) use exit_code::{INTERNAL, LOCAL_IO, NOT_OURS, USAGE};

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

impl From<SessionError> for CliError {
    fn from(error: SessionError) -> Self {
        match &error {
            SessionError::File(located) => Self::usage(diagnostics::shown(located)),
            _ => Self::with_code(error.exit_code(), error),
        }
    }
}

/// What a session calls of the command line fails with the command line's words.
impl From<CliError> for SessionError {
    fn from(CliError { code, message }: CliError) -> Self {
        Self::Other { message, exit_code: code }
    }
}

/// Errors of the parts that a session knows too: it says which exit code they have.
macro_rules! known_to_a_session {
    ($($error:ty),*) => {$(
        impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                SessionError::from(error).into()
            }
        }
    )*};
}

known_to_a_session!(
    ClusterError,
    CompareError,
    FolderError,
    LockError,
    RecordError,
    RecoverError,
    SavedSearchError,
    ServerFolderError,
    StartError
);
