//! Reading files that people write: a pipe never ends and a device never stops, so that neither is opened.

use std::{
    fs::{self, File},
    io::{self, Error, ErrorKind, Read},
    path::Path,
};

/// Opens a regular file.
///
/// # Errors
/// The file cannot be read, or is no regular one.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let facts = fs::metadata(path)?;
    if facts.is_dir() {
        return Err(Error::new(ErrorKind::IsADirectory, "it is a folder"));
    }
    if !facts.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(path)
}

/// The bytes of a regular file of at most `most` bytes.
///
/// # Errors
/// The file cannot be read, is no regular file, or has more bytes.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// As [`read_regular`], of a text in UTF-8.
///
/// # Errors
/// As [`read_regular`], and bytes that are no text.
pub fn read_regular_text(path: &Path, most: u64) -> io::Result<String> {
    let no_text = |_| Error::new(ErrorKind::InvalidData, "it is no UTF-8 text");
    String::from_utf8(read_regular(path, most)?).map_err(no_text)
}
