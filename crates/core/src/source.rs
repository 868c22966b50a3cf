//! Where a writer's batches come from.

use crate::Batch;
use async_trait::async_trait;

/// An operation that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// When it was intended to start, in nanoseconds since the run's start.
    pub intended_ns: u64,
    /// Whose operation it is: the source's own number for the virtual user, sensor or slot.
    pub user: u32,
    /// When that ended for which it had to wait: the operation before it, or its way through a broker; 0: there was none.
    pub free_since_ns: u64,
    /// Datapoints that came into being with this operation: those of its batch where the source makes them on demand,
    /// none where they were generated before.
    pub generated: u64,
    /// Of these, the datapoints that were lost because nobody sent them in time.
    pub lost: u64,
}

/// What a source has for a free writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// An operation; its datapoints are in the batch.
    Due(Due),
    /// Nothing is due now: wait for [`Source::ready`].
    Wait,
    /// There will be no other.
    Finished,
}

/// What was due at the end and never taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// An operation, due at this time since the run's start.
    Operation {
        /// When it was intended to start.
        intended_ns: u64,
    },
    /// Generated datapoints.
    Points(u64),
}

/// Gives a writer its operations one by one: a local feed, or a broker.
///
/// All calls come from one thread. Time is in nanoseconds since the run's start.
#[async_trait]
pub trait Source: Send {
    /// Gives the next operation that is due at `now_ns` and fills the empty `batch` with its datapoints.
    fn take(&mut self, now_ns: u64, batch: &mut Batch) -> Next;

    /// Waits until [`Source::take`] may give something other than [`Next::Wait`]. May return early; may be dropped and
    /// called again.
    async fn ready(&mut self);

    /// Says that an operation has ended.
    fn complete(&mut self, due: Due, ended_ns: u64);

    /// Tells what is due at `now_ns` and was not taken. It stays due.
    fn left(&mut self, now_ns: u64, tell: &mut dyn FnMut(Left));
}
