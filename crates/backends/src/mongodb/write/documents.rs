//! How datapoints become documents.

use crate::mongodb::encode::Encoder;
use iotbench_core::{Applied, Batch};

/// The documents of a batch, one layout each.
pub(crate) trait Documents: Send + Sync {
    /// Looks at a batch, and says how many documents it makes.
    fn take(&mut self, batch: &Batch) -> usize;

    /// Writes the elements of one of them.
    fn encode(&self, batch: &Batch, document: usize, to: &mut Encoder);

    /// The rows of the batch that are stored when these documents are and no other.
    fn rows(&self, stored: &[bool]) -> Applied;
}

/// The rows of those that are stored, ascending.
pub(crate) fn places(stored: &[bool]) -> Vec<u32> {
    (0..).zip(stored).filter_map(|(row, is_stored)| is_stored.then_some(row)).collect()
}
