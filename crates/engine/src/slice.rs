//! What a load thread hands to the control thread once a second.

mod sent;

pub use sent::{NotOurSlice, SentSlice};

use crate::{ledger::Fates, operation_record::OperationRecord};
use iotbench_recorder::{LatencyHistogram, Window};
use serde::{Deserialize, Serialize};

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
    /// At the end of a generation: operations that were due in it and are not recorded as offered yet.
    pub unoffered: u64,
    /// What became after its end of the operations that were due in it; it has no counts.
    pub late: Option<Window>,
    /// What the users of a closed loop did beside their operations and thinking.
    pub user_time: UserTime,
    /// At the end of the thread: operations that were due and never started.
    pub pending: u64,
    /// At the end of the thread: how late it sent after an operation was due and a connection was free.
    pub pacing_error: Option<Box<LatencyHistogram>>,
    /// Measurements that were lost.
    pub samples_dropped: u64,
    /// Requests that were answered.
    pub reads: ReadCounts,
}

/// Requests that were answered, and by whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Requests that were users' statements that write.
    #[serde(default)]
    pub changes: u64,
    /// Rows that these changed.
    #[serde(default)]
    pub rows_changed: u64,
}

impl Slice {
    /// Adds another thread's slice of the same generation: windows of the same second become one.
    pub fn add(&mut self, mut other: Self) {
        for window in other.windows {
            let is_same = |own: &&mut Window| {
                (own.phase(), own.first_second(), own.seconds())
                    == (window.phase(), window.first_second(), window.seconds())
            };
            if let Some(own) = self.windows.iter_mut().find(is_same) {
                merge(own, &window);
            } else {
                self.windows.push(window);
            }
        }
        self.fates.append(&mut other.fates);
        self.operations.append(&mut other.operations);
        self.unoffered += other.unoffered;
        match (&mut self.late, other.late) {
            (Some(own), Some(other)) => merge(own, &other),
            (own @ None, other) => *own = other,
            (Some(_), None) => {}
        }
        self.user_time = self.user_time.plus(other.user_time);
        self.pending += other.pending;
        match (&mut self.pacing_error, other.pacing_error) {
            (Some(own), Some(other)) => own.merge(&other),
            (own @ None, other) => *own = other,
            (Some(_), None) => {}
        }
        self.samples_dropped += other.samples_dropped;
        self.reads.merge(other.reads);
    }

    /// Makes one window of several, so that a slice that has to wait does not grow. Single seconds are lost, no count.
    pub fn unite_windows(&mut self) {
        let mut windows = self.windows.drain(..);
        let Some(mut first) = windows.next() else { return };
        for window in windows {
            merge(&mut first, &window);
        }
        self.windows.push(first);
    }
}

/// Adds a window of the same run: all its recorders have the same kinds.
fn merge(own: &mut Window, other: &Window) {
    let merged = own.merge(other);
    debug_assert!(merged.is_ok(), "recorders of one run have different kinds");
}

/// Time of the users of a closed loop that belongs to no cycle of an operation and a think time that began in a generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserTime {
    /// From its end until each user starts next, together: what its end cuts off their cycles.
    pub until_next_ns: u64,
    /// Within it, what users spent waiting for data or in operations of a generation before the one before, together.
    pub elsewhere_ns: u64,
}

impl UserTime {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            until_next_ns: self.until_next_ns.saturating_add(other.until_next_ns),
            elsewhere_ns: self.elsewhere_ns.saturating_add(other.elsewhere_ns),
        }
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
        self.changes += other.changes;
        self.rows_changed += other.rows_changed;
    }
}

#[cfg(test)]
mod tests;
