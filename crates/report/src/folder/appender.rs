//! A file that grows by whole records.

use rustix::fs::OFlags;
use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

/// So much of a file is looked at in one go.
const CHUNK_BYTES: u64 = 64 << 10;

/// A file that grows by whole records. What was appended survives a kill of this process, as the system holds it; a record
/// that does not fit on the disk leaves no part of itself.
#[derive(Debug)]
pub struct Appender {
    file: File,
    length: u64,
}

impl Appender {
    /// Makes the file, which must not exist.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create_new(true).open(path)?;
        Ok(Self { file, length: 0 })
    }

    /// Appends a record.
    ///
    /// # Errors
    /// It cannot be written: the file stays as it was.
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
    ///
    /// # Errors
    /// The disk refuses.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}

/// Cuts a file after its last line break; how many bytes that took. A file that is not there is whole.
pub(super) fn cut_torn_line(path: &Path) -> io::Result<u64> {
    // No link that was planted is followed, and no pipe waited for.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut file = match OpenOptions::new().read(true).write(true).custom_flags(flags).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        opened => opened?,
    };
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is no file of a run"));
    }
    let length = found.len();
    let mut end = length;
    while end > 0 {
        let from = end.saturating_sub(CHUNK_BYTES);
        file.seek(SeekFrom::Start(from))?;
        let mut chunk = Vec::new();
        Read::by_ref(&mut file).take(end - from).read_to_end(&mut chunk)?;
        if let Some(place) = chunk.iter().rposition(|&byte| byte == b'\n') {
            end = from + place as u64 + 1;
            break;
        }
        end = from;
    }
    if end < length {
        file.set_len(end)?;
    }
    Ok(length - end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_planted_link_is_not_followed_and_a_device_not_cut() {
        let folder = tempfile::tempdir().unwrap();
        let (precious, planted) = (folder.path().join("precious"), folder.path().join("series.csv"));
        fs::write(&precious, "whole\ntorn").unwrap();
        std::os::unix::fs::symlink(&precious, &planted).unwrap();
        assert!(cut_torn_line(&planted).is_err());
        assert_eq!(fs::read_to_string(&precious).unwrap(), "whole\ntorn");
        assert!(cut_torn_line(Path::new("/dev/null")).is_err());
        assert_eq!(cut_torn_line(&precious).unwrap(), 4, "a file is cut after its last whole line");
        assert_eq!(fs::read_to_string(&precious).unwrap(), "whole\n");
    }
}
