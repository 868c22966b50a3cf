//! The folder of a suite: its file as written, what became of its runs, and their folders.

use super::{Flush, FolderError, ResultsFolder, SUITE_DOCUMENT, SUITE_FILE, shown};
use iotbench_simulator::read_regular_text;
use iotbench_suite::{Record, SCHEMA};
use std::{io, path::Path};

/// Larger files are none of ours.
const MAX_BYTES: u64 = 64 << 20;

impl ResultsFolder {
    /// Writes a suite's text, as `suite.toml`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_suite_file(&self, text: &str) -> Result<(), FolderError> {
        self.replace(SUITE_FILE, Flush::Now, |file| file.write_all(text.as_bytes()))
    }

    /// Writes what became of a suite's runs, as `suite.json`: after each of them, so that the suite can be gone on with.
    ///
    /// # Errors
    /// It cannot be written; what was there before stays.
    pub fn write_suite_record(&self, record: &Record) -> Result<(), FolderError> {
        self.replace(SUITE_DOCUMENT, Flush::Now, |file| {
            serde_json::to_writer_pretty(&mut *file, record)?;
            file.write_all(b"\n")
        })
    }
}

/// Opens a suite's folder: the folder, the suite's text, and what became of its runs.
///
/// # Errors
/// It is no such folder, one of another version, or another iotbench is at it.
pub fn read_suite(path: &Path) -> Result<(ResultsFolder, String, Record), FolderError> {
    let text = read(&path.join(SUITE_FILE))?;
    let folder = ResultsFolder::of_killed(path)?;
    let file = path.join(SUITE_DOCUMENT);
    let wrong = |message: String| {
        let source = io::Error::new(io::ErrorKind::InvalidData, message);
        FolderError::Read { path: shown(&file), source }
    };
    let record: Record =
        serde_json::from_str(&read(&file)?).map_err(|e| wrong(format!("no record of a suite: {e}")))?;
    if record.schema != SCHEMA {
        return Err(wrong(format!("it has the format {:?}, and this iotbench reads {SCHEMA}", record.schema)));
    }
    Ok((folder, text, record))
}

fn read(file: &Path) -> Result<String, FolderError> {
    let failed = |source| FolderError::Read { path: shown(file), source };
    read_regular_text(file, MAX_BYTES).map_err(failed)
}
