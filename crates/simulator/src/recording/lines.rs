//! A file as a stream of bytes and of lines, in bounded memory.

use crate::text_file::open_regular;
use flate2::bufread::MultiGzDecoder;
use std::{
    cell::Cell,
    fs::File,
    io::{self, BufRead, BufReader, Error, ErrorKind, Read},
    path::Path,
    rc::Rc,
};

/// Longer lines are refused.
pub const MAX_LINE_BYTES: u64 = 1 << 20;
const BUFFER_BYTES: usize = 1 << 18;
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A file's bytes, decompressed.
pub type Bytes = BufReader<Box<dyn Read>>;

/// How much of a file was read, of how much.
#[derive(Clone, Debug)]
pub struct Reached {
    read_bytes: Rc<Cell<u64>>,
    size_bytes: u64,
}

impl Reached {
    /// Nothing yet, of so much.
    #[cfg(feature = "parquet")]
    pub fn of(size_bytes: u64) -> Self {
        Self { read_bytes: Rc::default(), size_bytes }
    }

    /// So much was read.
    #[cfg(feature = "parquet")]
    pub fn set(&self, read_bytes: u64) {
        self.read_bytes.set(read_bytes);
    }

    /// The part of the file, as it lies on the disk, that was read.
    #[expect(clippy::cast_precision_loss, reason = "a part, to be shown")]
    pub fn part(&self) -> f64 {
        self.read_bytes.get() as f64 / self.size_bytes.max(1) as f64
    }
}

/// Opens a file, compressed by gzip or not.
///
/// # Errors
/// It cannot be read, or is no regular file.
pub fn open(path: &Path) -> io::Result<(Bytes, Reached)> {
    let file = open_regular(path)?;
    let reached = Reached { read_bytes: Rc::default(), size_bytes: file.metadata()?.len() };
    let counted: Box<dyn Read> = Box::new(Counted { file, read_bytes: Rc::clone(&reached.read_bytes) });
    let mut bytes = BufReader::with_capacity(BUFFER_BYTES, counted);
    if bytes.fill_buf()?.starts_with(&GZIP) {
        bytes = BufReader::with_capacity(BUFFER_BYTES, Box::new(MultiGzDecoder::new(bytes)));
    }
    Ok((bytes, reached))
}

struct Counted {
    file: File,
    read_bytes: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read(buffer)?;
        self.read_bytes.set(self.read_bytes.get() + bytes as u64);
        Ok(bytes)
    }
}

/// Lines without their ends.
pub struct Lines {
    bytes: Bytes,
    line: Vec<u8>,
    /// The number of the line at hand, from 1.
    pub number: u64,
    /// Line ends in the line at hand.
    within: u64,
}

impl Lines {
    /// The lines of a file.
    pub fn new(bytes: Bytes) -> Self {
        Self { bytes, line: Vec::new(), number: 0, within: 0 }
    }

    /// Goes to the next line; false at the end.
    ///
    /// # Errors
    /// The file cannot be read, or the line is too long.
    pub fn advance(&mut self) -> io::Result<bool> {
        self.number += 1 + std::mem::take(&mut self.within);
        self.line.clear();
        self.more()
    }

    /// Adds the next line to the one at hand, with the line end between; false at the end.
    ///
    /// # Errors
    /// As [`Lines::advance`].
    pub fn join(&mut self) -> io::Result<bool> {
        self.line.push(b'\n');
        self.within += 1;
        self.more()
    }

    fn more(&mut self) -> io::Result<bool> {
        let before = self.line.len();
        let left = (MAX_LINE_BYTES + 1).saturating_sub(before as u64);
        let read = self.bytes.by_ref().take(left).read_until(b'\n', &mut self.line)?;
        if read as u64 >= left {
            return Err(too_long());
        }
        if self.line.last() == Some(&b'\n') && self.line.len() > before {
            self.line.pop();
        }
        Ok(read > 0)
    }

    /// The line at hand.
    pub fn line(&self) -> &[u8] {
        self.line.strip_suffix(b"\r").unwrap_or(&self.line)
    }

    /// The line at hand as text.
    ///
    /// # Errors
    /// It is none.
    pub fn text(&self) -> Result<&str, &'static str> {
        std::str::from_utf8(self.line()).map_err(|_| "is no UTF-8 text")
    }
}

/// A line has more bytes than is read of one.
pub fn too_long() -> Error {
    Error::new(ErrorKind::FileTooLarge, format!("a line has more than {MAX_LINE_BYTES} bytes"))
}
