//! What an acknowledgement promises.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The worst event that an acknowledged write survives.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "level")]
pub enum PromiseLevel {
    /// None: an acknowledged write may be lost at any crash.
    Buffered,
    /// A crash of the database's process.
    ProcessCrash,
    /// A crash of the operating system, but for the last `seconds`.
    OsCrashWithin {
        /// How much of the past may be lost.
        seconds: f64,
    },
    /// A crash of the operating system or a loss of power, as far as the disk obeys a flush.
    OsCrash,
}

impl PromiseLevel {
    /// The worst event after which acknowledged data is there, in two words.
    #[must_use]
    pub fn survives(&self) -> String {
        match self {
            Self::Buffered => "nothing".into(),
            Self::ProcessCrash => "process crash".into(),
            Self::OsCrashWithin { seconds } => format!("OS crash, but for {seconds} s"),
            Self::OsCrash => "OS crash".into(),
        }
    }
}

impl fmt::Display for PromiseLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Buffered => f.write_str("buffered (may be lost at any crash)"),
            Self::ProcessCrash => f.write_str("survives a process crash"),
            Self::OsCrashWithin { seconds } => write!(f, "survives an OS crash but for the last {seconds} s"),
            Self::OsCrash => f.write_str("survives an OS crash"),
        }
    }
}

/// How a promise is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromiseSource {
    /// Read from the server's effective settings.
    ReadBack,
    /// Declared, with where it is written.
    Declared(String),
}

/// What an acknowledgement promises, by how many nodes, and how that is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// The worst event survived.
    pub level: PromiseLevel,
    /// How many nodes have it when it is acknowledged.
    pub nodes: u32,
    /// How this is known.
    pub source: PromiseSource,
}
