//! What ends a command without a result.

use iotbench_engine::{PlanError, ProfileError};
use std::fmt;

/// The program is at fault.
pub(crate) const INTERNAL: u8 = 1;
/// The arguments or a profile are wrong.
pub(crate) const USAGE: u8 = 2;
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

    pub(crate) fn code(&self) -> u8 {
        self.code
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
