//! A file that grows by whole records.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// A file that grows by whole records. What was appended survives a kill of this process, as the system holds it; a record
/// that does not fit on the disk leaves no part of itself.
#[derive(Debug)]
pub(crate) struct Appender {
    file: File,
    length: u64,
}

impl Appender {
    /// Makes the file, which must not exist.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create_new(true).open(path)?;
        Ok(Self { file, length: 0 })
    }

    /// Appends a record.
    pub fn append(&mut self, record: &[u8]) -> io::Result<()> {
        match self.file.write_all(record) {
            Ok(()) => {
                self.length += record.len() as u64;
                Ok(())
            }
            Err(error) => {
                // Shrinking needs no space; should it fail all the same, the first error is the one to tell.
                let _ = self.file.set_len(self.length);
                Err(error)
            }
        }
    }

    /// Waits until all is on the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}
