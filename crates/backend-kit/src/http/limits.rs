//! How much of an answer is taken, whatever the server sends: for every backend that speaks HTTP, here and nowhere else.
//!
//! What is beyond a limit is a protocol error, its rest is never read, and its connection is given up. A row, line or chunk
//! is handed over and forgotten, so a streamed answer has no limit as a whole. A compressed answer is not taken at all: what
//! would come out of it has no limit. JSON may be [`serde_json`]'s 128 levels deep; what is skipped over is skipped without
//! recursion.

/// The most bytes of an answer's head; no more of a body is buffered at once either.
pub const MAX_HEAD_BYTES: usize = 256 << 10;
/// The most headers.
pub const MAX_HEADERS: usize = 100;
/// An acknowledgement, or an answer that is an error.
pub const MAX_REFUSAL_BYTES: usize = 64 << 10;
/// A list of names, a page of rows; or of an answer that is streamed, a line or a record.
pub const MAX_SHORT_BYTES: usize = 16 << 20;
/// Of an answer that is streamed, a row with its texts or a chunk of rows; or the account of a batch, which repeats what was
/// not stored.
pub const MAX_PART_BYTES: usize = 64 << 20;
/// An answer that cannot be read before its end, because the values of each series come one series after the other.
pub const MAX_WHOLE_BYTES: usize = 256 << 20;
