//! The ledger: which datapoints were acknowledged, failed or are unknown, and which may have been sent at all.
//!
//! Load threads hand over what became of their datapoints once a second; the control thread codes it and appends it to a
//! file. So it takes no memory that grows with the run, and at most two bytes a datapoint of the file.

mod block;
mod coding;
mod corrected;
mod fates;
mod journal;
mod ranges;
mod reader;
mod reservation;
mod store;

pub use block::LedgerError;
pub use coding::{MAX_RANGES, decode, encode};
pub use corrected::{decode_corrected, encode_corrected};
pub use fates::{CorrectedSend, Fate, Fates, Sent};
pub use journal::{Journal, LedgerHead};
pub use ranges::PointRanges;
pub use reader::{FateRanges, Ledger, LedgerSummary, TwoSends};
pub use reservation::Reached;
pub use store::{LedgerStore, MemoryLedger};
