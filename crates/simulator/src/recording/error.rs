//! Why a recording cannot be read.

use std::io;

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Read {
        /// Which file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// The datapoints do not fit into the memory that they may take.
    #[error(
        "{file}: its datapoints take {needed_bytes} bytes of memory or more, at most {limit_bytes} are allowed: give a larger memory_mib, \
         fewer signals, or split the file"
    )]
    TooLarge {
        /// Which file.
        file: String,
        /// What is needed, as far as was read.
        needed_bytes: u64,
        /// What may be taken.
        limit_bytes: u64,
    },
    /// What the file says of its columns is not as it should be.
    #[error("{file}: line {line}: {message}")]
    Header {
        /// Which file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
    /// A line does not hold what it should.
    #[error("{file}: line {line}{}: {message}", named(column))]
    Line {
        /// Which file.
        file: String,
        /// The line, from 1; of a table without lines, the row.
        line: u64,
        /// The column's name; empty where it is about the whole line.
        column: String,
        /// What is wrong.
        message: String,
    },
    /// A tag of a device changes.
    #[error("{file}: tag {tag}: {message}")]
    Tag {
        /// Which file.
        file: String,
        /// The tag.
        tag: String,
        /// How, with the line.
        message: String,
    },
    /// The file holds no datapoint.
    #[error("{file}: holds no datapoint{}", left_out(*skipped))]
    Empty {
        /// Which file.
        file: String,
        /// How many broken lines were skipped.
        skipped: u64,
    },
}

fn named(column: &str) -> String {
    if column.is_empty() { String::new() } else { format!(", column {column}") }
}

fn left_out(skipped: u64) -> String {
    if skipped == 0 { String::new() } else { format!("; broken lines that were skipped: {skipped}") }
}

/// What is wrong with one line.
#[derive(Debug)]
pub struct Fault {
    /// The column's name, if it is about one.
    pub column: String,
    /// What is wrong.
    pub message: String,
}

impl Fault {
    /// Of the whole line.
    pub fn line(message: impl Into<String>) -> Self {
        Self { column: String::new(), message: message.into() }
    }

    /// Of one column.
    pub fn column(column: &str, message: impl Into<String>) -> Self {
        Self { column: column.into(), message: message.into() }
    }
}
