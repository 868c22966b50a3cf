//! The file's frame: a magic, a version, then blocks of a kind, a length, a content and a check.
//!
//! ```text
//! magic      8 bytes   "IOTBLDGR"
//! version    2 bytes   3, little endian; 2 has no blocks of corrected datapoints, 1 none of a table made anew either
//! blocks     kind 1 byte, length 4 bytes little endian, content, first 4 bytes of the SHA-256 of all these
//! ```
//!
//! A process that is killed leaves the last block half written at most: what comes before it stands.

use sha2::{Digest, Sha256};
use std::io::{self, Read};

const MAGIC: &[u8; 8] = b"IOTBLDGR";
const VERSION: u16 = 3;
const OLDEST: u16 = 1;
/// The longest content of a block: a plan in JSON, or ranges of datapoints.
const MAX_BYTES: usize = 16 << 20;
const CHECK_BYTES: usize = 4;

/// Why a ledger cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The file cannot be read.
    #[error("the ledger cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is another file.
    #[error("this is no ledger of iotbench")]
    NoLedger,
    /// Another version.
    #[error("this ledger has the version {0}, and this iotbench reads {VERSION}: use the iotbench that wrote it")]
    OtherVersion(u16),
    /// It was changed.
    #[error("the ledger is damaged ({0}): it is not what the run wrote, and nothing can be verified by it")]
    Damaged(String),
}

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All that is needed to make the data again.
    Head = 0,
    /// Datapoints that were acknowledged.
    Acked = 1,
    /// Datapoints that are definitely not stored.
    Failed = 2,
    /// Datapoints without an answer.
    Unknown = 3,
    /// No datapoint with a greater index is sent before the next block of this kind.
    Reserved = 4,
    /// The history, whole.
    History = 5,
    /// The end of the run: the sums.
    End = 6,
    /// What was written so far is about to be dropped on purpose: from here on it may be there or not.
    Dropping = 7,
    /// It is dropped.
    Dropped = 8,
    /// What became of the sends of datapoints that are sent wrong and then right, beside the datapoints themselves.
    Corrected = 9,
}

impl Kind {
    fn of(byte: u8) -> Option<Self> {
        let first = [Self::Head, Self::Acked, Self::Failed, Self::Unknown, Self::Reserved, Self::History];
        first
            .into_iter()
            .chain([Self::End, Self::Dropping, Self::Dropped, Self::Corrected])
            .find(|&kind| kind as u8 == byte)
    }
}

/// What a file begins with.
pub fn begin() -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes()].concat()
}

/// Puts a block into `out`, whose content is what `write` appends.
pub fn put(kind: Kind, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.push(kind as u8);
    out.extend_from_slice(&[0; 4]);
    write(out);
    let length = u32::try_from(out.len() - start - 5).unwrap_or(u32::MAX);
    if let Some(place) = out.get_mut(start + 1..start + 5) {
        place.copy_from_slice(&length.to_le_bytes());
    }
    let check = check(out.get(start..).unwrap_or_default());
    out.extend_from_slice(&check);
}

fn check(block: &[u8]) -> [u8; CHECK_BYTES] {
    let digest = Sha256::digest(block);
    std::array::from_fn(|i| digest.get(i).copied().unwrap_or_default())
}

/// Reads blocks one after the other.
pub struct Blocks<R> {
    from: R,
    block: Vec<u8>,
}

impl<R: Read> Blocks<R> {
    /// Reads what a file begins with.
    ///
    /// # Errors
    /// It is no ledger, or one of another version.
    pub fn new(mut from: R) -> Result<Self, LedgerError> {
        let mut start = [0; 10];
        match from.read_exact(&mut start) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Err(LedgerError::NoLedger),
            read => read?,
        }
        let (magic, version) = start.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(LedgerError::NoLedger);
        }
        match version.try_into().map(u16::from_le_bytes) {
            Ok(OLDEST..=VERSION) => Ok(Self { from, block: Vec::new() }),
            Ok(other) => Err(LedgerError::OtherVersion(other)),
            Err(_) => Err(LedgerError::NoLedger),
        }
    }

    /// The next block's kind and content. `None`: there is no other, or only a part of one.
    ///
    /// # Errors
    /// A block that was changed.
    pub fn next_block(&mut self) -> Result<Option<(Kind, &[u8])>, LedgerError> {
        self.block.resize(5, 0);
        if !self.fill(0)? {
            return Ok(None);
        }
        let &[byte, a, b, c, d] = self.block.as_slice() else { return Ok(None) };
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        let Some(kind) = Kind::of(byte) else {
            return Err(LedgerError::Damaged(format!("there is no kind of block {byte}")));
        };
        if length > MAX_BYTES {
            return Err(LedgerError::Damaged(format!("a block of {length} bytes")));
        }
        self.block.resize(5 + length + CHECK_BYTES, 0);
        if !self.fill(5)? {
            return Ok(None);
        }
        let (block, sum) = self.block.split_at(5 + length);
        if sum != check(block) {
            return Err(LedgerError::Damaged("a block that does not match its check".into()));
        }
        Ok(block.get(5..).map(|content| (kind, content)))
    }

    /// Reads the block from this place on; false at the file's end.
    fn fill(&mut self, start: usize) -> Result<bool, LedgerError> {
        match self.from.read_exact(self.block.get_mut(start..).unwrap_or_default()) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            read => Ok(read.map(|()| true)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of these bytes whose disk then fails.
    struct Failing<'a>(&'a [u8]);

    impl Read for Failing<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            match self.0.read(out)? {
                0 => Err(io::Error::other("the disk is gone")),
                read => Ok(read),
            }
        }
    }

    fn file(kind: Kind, content: &[u8]) -> Vec<u8> {
        let mut bytes = begin();
        put(kind, &mut bytes, |out| out.extend_from_slice(content));
        bytes
    }

    #[test]
    fn the_longest_block_is_read_and_a_longer_one_is_damage() {
        let bytes = file(Kind::Acked, &vec![7; MAX_BYTES]);
        let mut blocks = Blocks::new(&bytes[..]).unwrap();
        let (kind, content) = blocks.next_block().unwrap().unwrap();
        assert_eq!((kind, content.len()), (Kind::Acked, MAX_BYTES));
        assert!(blocks.next_block().unwrap().is_none());
        let longer = file(Kind::Acked, &vec![7; MAX_BYTES + 1]);
        let found = Blocks::new(&longer[..]).unwrap().next_block().unwrap_err();
        assert!(matches!(found, LedgerError::Damaged(why) if why == format!("a block of {} bytes", MAX_BYTES + 1)));
    }

    /// Half a block is the end of a run that was killed; a disk that fails is not.
    #[test]
    fn an_end_is_no_error_and_an_error_is_no_end() {
        let bytes = file(Kind::End, b"sums");
        for end in 10..bytes.len() {
            assert!(Blocks::new(&bytes[..end]).unwrap().next_block().unwrap().is_none(), "{end}");
            let failing = Blocks::new(Failing(&bytes[..end])).unwrap().next_block().is_err();
            assert!(failing, "{end}");
        }
        assert!(matches!(Blocks::new(&bytes[..9]), Err(LedgerError::NoLedger)));
        assert!(matches!(Blocks::new(Failing(&bytes[..9])), Err(LedgerError::Io(_))));
        for (version, is_read) in [(0, false), (OLDEST, true), (VERSION, true), (VERSION + 1, false)] {
            let start = [&MAGIC[..], &version.to_le_bytes()].concat();
            assert_eq!(Blocks::new(&start[..]).is_ok(), is_read, "version {version}");
        }
    }
}
