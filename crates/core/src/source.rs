//! Where a writer's batches come from.

use crate::Batch;
use async_trait::async_trait;

/// An operation that is due, with its batch already filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// When it was intended to start, in nanoseconds since the run's start.
    pub intended_ns: u64,
    /// Whose operation it is: the source's own number for the virtual user, sensor or slot.
    pub user: u32,
}

/// Gives a writer its operations one by one: a local feed, or a broker.
#[async_trait]
pub trait Source: Send {
    /// Waits for the next operation and fills `batch` with its datapoints. `None`: there will be no other.
    async fn next(&mut self, batch: &mut Batch) -> Option<Due>;

    /// Says that an operation has ended, at this time since the run's start.
    fn complete(&mut self, due: Due, ended_ns: u64);
}
