//! What a load thread hands to the control thread once a second.

use crate::{ledger::Fates, observer::OperationRecord};
use iotbench_recorder::{LatencyHistogram, Window};

/// Slices that may wait for the control thread before a load thread keeps its own back.
pub const SLICES: usize = 64;

/// What happened on one thread since its last slice.
#[derive(Debug, Default)]
pub struct Slice {
    /// The generation of its windows.
    pub generation: u32,
    /// What was recorded.
    pub windows: Vec<Window>,
    /// What became of its datapoints, where a ledger is kept.
    pub fates: Fates,
    /// Operations, with a trace only.
    pub operations: Vec<OperationRecord>,
    /// At the end of a generation: what it leaves unanswered.
    pub outstanding: Option<Outstanding>,
    /// At the end of the thread: operations that were due and never started.
    pub pending: u64,
    /// At the end of the thread: how late it sent although a connection was free.
    pub pacing_error: Option<Box<LatencyHistogram>>,
    /// Measurements that were lost.
    pub samples_dropped: u64,
    /// Requests that were answered.
    pub reads: ReadCounts,
}

/// Requests that were answered, and by whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// All.
    pub requests: u64,
    /// Those that the client worked out, from more rows than it answered with.
    pub by_client: u64,
    /// Machine cycles that were found.
    pub cycles: u64,
    /// Searches that ended without a machine cycle.
    pub no_cycles: u64,
    /// Requests that were answered with rows.
    pub with_rows: u64,
    /// From the sends of these to their first rows, together, in nanoseconds.
    pub first_rows_ns: u64,
}

impl Slice {
    /// Makes one window of several, so that a slice that has to wait does not grow. Single seconds are lost, no count.
    pub fn unite_windows(&mut self) {
        let mut windows = self.windows.drain(..);
        let Some(mut first) = windows.next() else { return };
        for window in windows {
            // All windows of a loop have its recorder's kinds.
            let merged = first.merge(&window);
            debug_assert!(merged.is_ok(), "windows of one recorder have different kinds");
        }
        self.windows.push(first);
    }
}

/// Operations without an answer at the end of a generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outstanding {
    /// How many.
    pub operations: u64,
    /// How long they have waited together since their intended starts.
    pub waited_ns: u128,
}

impl Outstanding {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { operations: self.operations + other.operations, waited_ns: self.waited_ns + other.waited_ns }
    }
}

impl ReadCounts {
    /// Adds others.
    pub fn merge(&mut self, other: Self) {
        self.requests += other.requests;
        self.by_client += other.by_client;
        self.cycles += other.cycles;
        self.no_cycles += other.no_cycles;
        self.with_rows += other.with_rows;
        self.first_rows_ns += other.first_rows_ns;
    }
}
