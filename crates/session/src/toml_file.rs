//! Files in TOML that are no profiles: suites, scores, prices.

use crate::{error::SessionError, source::Source};
use iotbench_engine::{ProfileError, read_regular_text};
use iotbench_report::{PriceFileError, printable_lines};
use iotbench_scoring::ScoreFileError;
use iotbench_suite::SuiteFileError;
use std::{fs, path::Path};

/// Larger files are none of these.
const MAX_BYTES: u64 = 1 << 20;

/// What is wrong with such a file.
#[derive(Debug)]
pub enum Fault {
    /// It is no TOML, or holds unknown keys or values that do not fit.
    Toml(toml::de::Error),
    /// A value out of its range.
    Value {
        /// The key, dotted.
        key: String,
        /// What is wrong.
        message: String,
    },
}

/// Reads a file; `kind` says what it should be, such as `score file`.
///
/// # Errors
/// It cannot be read.
pub fn read_toml_file(path: &Path, kind: &str) -> Result<String, SessionError> {
    let wrong = |message: String| SessionError::usage(printable_lines(&format!("{}: {message}", path.display())));
    if fs::metadata(path).is_ok_and(|m| m.is_dir()) {
        return Err(wrong(format!("is a folder, and no {kind}")));
    }
    read_regular_text(path, MAX_BYTES).map_err(|e| wrong(format!("cannot be read as a {kind}: {e}")))
}

/// What the text of the file `name` holds, or what is wrong with it and where.
///
/// # Errors
/// The text is no such file.
pub fn parse_toml_file<T, E: Into<Fault>>(
    name: &str,
    text: &str,
    from_toml: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, SessionError> {
    from_toml(text).map_err(|error| {
        let source = Source { file: name.into(), text: text.into() };
        source.error(&match error.into() {
            Fault::Toml(e) => ProfileError::of_toml(name, text, &e),
            Fault::Value { key, message } => ProfileError::new(name, key, message),
        })
    })
}

impl From<SuiteFileError> for Fault {
    fn from(error: SuiteFileError) -> Self {
        match error {
            SuiteFileError::Toml(e) => Self::Toml(e),
            SuiteFileError::Value { key, message } => Self::Value { key, message },
        }
    }
}

impl From<ScoreFileError> for Fault {
    fn from(error: ScoreFileError) -> Self {
        match error {
            ScoreFileError::Toml(e) => Self::Toml(e),
            ScoreFileError::Value { key, message } => Self::Value { key, message },
        }
    }
}

impl From<PriceFileError> for Fault {
    fn from(error: PriceFileError) -> Self {
        match error {
            PriceFileError::Toml(e) => Self::Toml(e),
            PriceFileError::Value { key, message } => Self::Value { key, message },
        }
    }
}
