//! Why the next row of a file cannot be had.

use super::{devices::TooMany, error::Fault};
use std::io;

/// Why the next row of a file cannot be had.
#[derive(Debug)]
pub enum Stop {
    /// The line at hand is broken; the next one may be whole.
    Fault(Fault),
    /// Nothing of the file can be used, for what the line at hand says.
    Refused(String),
    /// The file cannot be read on.
    Io(io::Error),
    /// More devices than may be held.
    TooMany(TooMany),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<TooMany> for Stop {
    fn from(too_many: TooMany) -> Self {
        Self::TooMany(too_many)
    }
}
