//! What ends a session without a result.

use crate::{source::Located, trials::SavedSearchError};
use iotbench_broker::ViaError;
use iotbench_cluster::ClusterError;
use iotbench_core::{Error, UnknownBackend};
use iotbench_engine::{CannotBeCarried, PartsError, PlanError, ProfileError, TooFewDescriptors, cause_exit_code};
use iotbench_launcher::{FolderError as ServerFolderError, Missing, RecordError, StartError, WrongSetting};
use iotbench_report::{CompareError, FolderError, LockError, RecoverError, printable_lines};
use iotbench_workloads::{UnknownProfile, UnknownSuite};
use std::fmt;

/// The exit codes that a session gives itself. What a run's verdict gives stands in its document.
pub mod exit_code {
    /// The program is at fault.
    pub const INTERNAL: u8 = 1;
    /// The options or a profile are wrong.
    pub const USAGE: u8 = 2;
    /// The result is not valid.
    pub const INVALID: u8 = 11;
    /// Datapoints are lost, doubled, changed or added.
    pub const CORRUPT: u8 = 12;
    /// A regression was found.
    pub const REGRESSION: u8 = 13;
    /// A server died, or did not start.
    pub const SERVER: u8 = 24;
    /// A file of the user's machine cannot be read or written.
    pub const LOCAL_IO: u8 = 30;
    /// Something is not ours.
    pub const NOT_OURS: u8 = 31;
}
use exit_code::{INTERNAL, LOCAL_IO, NOT_OURS, SERVER, USAGE};

/// What ends a session without a result.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Options that do not fit each other, or what is there.
    #[error("{0}")]
    Usage(String),
    /// A fault of the program.
    #[error("{0}")]
    Internal(String),
    /// A file of this machine.
    #[error("{0}")]
    LocalIo(String),
    /// There is no such built-in profile.
    #[error(transparent)]
    UnknownProfile(#[from] UnknownProfile),
    /// There is no such built-in suite.
    #[error(transparent)]
    UnknownSuite(#[from] UnknownSuite),
    /// There is no such backend.
    #[error(transparent)]
    UnknownBackend(#[from] UnknownBackend),
    /// A profile, or another file in TOML, with the line at fault.
    #[error(transparent)]
    File(Box<Located>),
    /// A profile that does not take a change.
    #[error(transparent)]
    Profile(Box<ProfileError>),
    /// A profile that cannot be run on this database.
    #[error(transparent)]
    Plan(Box<PlanError>),
    /// A plan that agents cannot divide.
    #[error(transparent)]
    Parts(#[from] PartsError),
    /// A program of a private server.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// A setting of a private server.
    #[error("{of}{source}")]
    WrongSetting {
        /// Whose setting it is, as it stands before its name.
        of: String,
        /// What is wrong.
        source: WrongSetting,
    },
    /// More files than this process may open.
    #[error(transparent)]
    Descriptors(#[from] TooFewDescriptors),
    /// What devices cannot publish to a broker.
    #[error("--via: {0}")]
    CannotBeCarried(#[from] CannotBeCarried),
    /// What says where a broker is.
    #[error(transparent)]
    Via(#[from] ViaError),
    /// A private server that did not start.
    #[error("{}", printable_lines(&.0.to_string()))]
    Start(Box<StartError>),
    /// A start that a signal ended.
    #[error("{error}: interrupted")]
    Interrupted {
        /// What was being done.
        error: Box<StartError>,
        /// The signal.
        signal: i32,
    },
    /// The record of private servers.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The folder of a private server.
    #[error(transparent)]
    ServerFolder(#[from] ServerFolderError),
    /// A database that refuses or is not reached.
    #[error("{}", printable_lines(&format!("{what}: {error}")))]
    Target {
        /// What was tried.
        what: String,
        /// What it says.
        error: Error,
    },
    /// A results folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// What a run left that was killed.
    #[error(transparent)]
    Recover(#[from] RecoverError),
    /// Another program works on the same database.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// What is kept of a search that was interrupted.
    #[error(transparent)]
    SavedSearch(SavedSearchError),
    /// Agents.
    #[error(transparent)]
    Agents(#[from] ClusterError),
    /// Runs that cannot be compared.
    #[error("{}", printable_lines(&.0.to_string()))]
    Compare(#[from] CompareError),
    /// Anything else, also of the caller's own part.
    #[error("{message}")]
    Other {
        /// In words.
        message: String,
        /// Its exit code.
        exit_code: u8,
    },
}

impl SessionError {
    /// Options or files that are wrong.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::Usage(message.to_string())
    }

    /// A fault of the program.
    pub fn internal(message: impl fmt::Display) -> Self {
        Self::Internal(message.to_string())
    }

    /// A file of this machine.
    pub fn local_io(message: impl fmt::Display) -> Self {
        Self::LocalIo(message.to_string())
    }

    /// The program's exit code.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Internal(_) => INTERNAL,
            Self::LocalIo(_) => LOCAL_IO,
            Self::Usage(_)
            | Self::UnknownProfile(_)
            | Self::UnknownSuite(_)
            | Self::UnknownBackend(_)
            | Self::File(_)
            | Self::Profile(_)
            | Self::Plan(_)
            | Self::Parts(_)
            | Self::Missing(_)
            | Self::WrongSetting { .. }
            | Self::Descriptors(_)
            | Self::CannotBeCarried(_)
            | Self::Via(_)
            | Self::SavedSearch(_)
            | Self::Compare(_) => USAGE,
            Self::Start(error) => start_code(error),
            Self::Interrupted { signal, .. } => interrupted(*signal),
            Self::Record(error) => record_code(error),
            Self::ServerFolder(error) => folder_code(error),
            Self::Target { error, .. } => cause_exit_code(error.cause),
            Self::Folder(error) => error.exit_code(),
            Self::Recover(error) => error.exit_code(),
            Self::Lock(LockError::Held { .. }) => NOT_OURS,
            Self::Lock(LockError::Io { .. }) => LOCAL_IO,
            Self::Agents(error) if error.is_usage() => USAGE,
            Self::Agents(error) => cause_exit_code(error.cause()),
            Self::Other { exit_code, .. } => *exit_code,
        }
    }
}

/// The exit code of what a signal ended.
#[must_use]
pub fn interrupted(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(130)
}

fn start_code(error: &StartError) -> u8 {
    match error {
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
    }
}

fn record_code(error: &RecordError) -> u8 {
    match error {
        RecordError::NotOurs(_) => NOT_OURS,
        RecordError::Running { .. } => USAGE,
        RecordError::Io { .. } => LOCAL_IO,
        RecordError::Stuck { .. } => SERVER,
        RecordError::Folder(error) => folder_code(error),
    }
}

fn folder_code(error: &ServerFolderError) -> u8 {
    match error {
        ServerFolderError::Io { .. } => LOCAL_IO,
        ServerFolderError::NotOurs { .. } | ServerFolderError::InUse { .. } => NOT_OURS,
        ServerFolderError::NotTraversable { .. } => USAGE,
    }
}

impl From<Located> for SessionError {
    fn from(located: Located) -> Self {
        Self::File(Box::new(located))
    }
}

impl From<ProfileError> for SessionError {
    fn from(error: ProfileError) -> Self {
        Self::Profile(Box::new(error))
    }
}

impl From<PlanError> for SessionError {
    fn from(error: PlanError) -> Self {
        Self::Plan(Box::new(error))
    }
}

impl From<StartError> for SessionError {
    fn from(error: StartError) -> Self {
        Self::Start(Box::new(error))
    }
}

impl From<SavedSearchError> for SessionError {
    fn from(error: SavedSearchError) -> Self {
        match error {
            SavedSearchError::Folder(error) => error.into(),
            error => Self::SavedSearch(error),
        }
    }
}
