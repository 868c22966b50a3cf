//! A file of lines, read one after the other in bounded memory.

use crate::folder::{FolderError, shown};
use iotbench_simulator::open_regular;
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

/// Lines of ours are shorter; what is longer is none.
const MAX_LINE_BYTES: u64 = 4 << 20;

/// The lines of a file that is being read.
pub struct Lines {
    path: PathBuf,
    file: Option<BufReader<File>>,
    number: u64,
}

/// The lines of a file; none where there is no file.
///
/// # Errors
/// It cannot be opened, or is no regular file.
pub fn lines(path: &Path) -> Result<Lines, FolderError> {
    let file = match open_regular(path) {
        Ok(file) => Some(BufReader::new(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(source) => return Err(FolderError::Read { path: shown(path), source }),
    };
    Ok(Lines { path: path.into(), file, number: 0 })
}

impl Lines {
    /// The next whole line with its line break; what is no text in it is replaced, and not understood then.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn next_line(&mut self) -> Result<Option<String>, FolderError> {
        let Some(file) = &mut self.file else { return Ok(None) };
        let mut line = Vec::new();
        let read = file.take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
        read.map_err(|source| FolderError::Read { path: shown(&self.path), source })?;
        if line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(String::from_utf8_lossy(&line).into_owned()))
    }

    /// The number of the line that was read last, from 1.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }
}
