//! One second of a run.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::conservation::PointCounts;
use crate::outcome::Outcome;
use crate::recording::{KindsDiffer, OperationKind, Recording};

/// Length of a window in nanoseconds.
pub const WINDOW_NS: u64 = 1_000_000_000;
/// A window's parts in which something is told to have happened: 64, a bit each.
pub const PART_NS: u64 = WINDOW_NS / 64;

/// Datapoints and bytes of an operation that ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Payload {
    /// Datapoints acknowledged.
    pub points_acked: u64,
    /// Datapoints definitely not stored.
    pub points_failed: u64,
    /// Datapoints without a verdict.
    pub points_unknown: u64,
    /// Values of the acknowledged datapoints.
    pub values_acked: u64,
    /// Rows of answers.
    pub rows_read: u64,
    /// Bytes of content sent and received, as far as the backend tells.
    pub bytes: u64,
}

impl Payload {
    /// The payload of an operation whose datapoints all shared its outcome: `points` datapoints with `values` values in all.
    #[must_use]
    pub fn undivided(outcome: Outcome, points: u64, values: u64, bytes: u64) -> Self {
        let empty = Self { bytes, ..Self::default() };
        match outcome {
            Outcome::Ok => Self { points_acked: points, values_acked: values, ..empty },
            Outcome::Fail | Outcome::Expired => Self { points_failed: points, ..empty },
            Outcome::Unknown => Self { points_unknown: points, ..empty },
        }
    }
}

/// Events of a window, each counted in the second in which it happened, whichever phase the operation belongs to. Over a
/// single window they do not balance: what starts in one second may end in another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowCounts {
    /// Operations whose intended start lies in the window.
    pub offered: u64,
    /// Operations sent in the window.
    pub started: u64,
    /// Operations acknowledged in the window.
    pub ok: u64,
    /// In which of its parts of [`PART_NS`] they were, a bit each, the lowest first: where no bit is set, none was.
    pub ok_parts: u64,
    /// Operations that failed in the window.
    pub fail: u64,
    /// Operations given up in the window.
    pub unknown: u64,
    /// Operations dropped in the window.
    pub dropped: u64,
    /// Of ok, fail and unknown, those that belong to an earlier phase: they are in no window's [`Recording`].
    pub carried: u64,
    /// Events of earlier seconds that were told only after their window had been taken, and are counted here instead.
    pub late: u64,
    /// Datapoints. These balance over a whole run, all phases together.
    pub points: PointCounts,
    /// Values of the acknowledged datapoints.
    pub values_acked: u64,
    /// Rows of answers.
    pub rows_read: u64,
    /// Bytes of content sent and received.
    pub bytes: u64,
}

impl WindowCounts {
    /// Adds `other`, term by term.
    pub fn merge(&mut self, other: &Self) {
        self.offered += other.offered;
        self.started += other.started;
        self.ok += other.ok;
        self.ok_parts |= other.ok_parts;
        self.fail += other.fail;
        self.unknown += other.unknown;
        self.dropped += other.dropped;
        self.carried += other.carried;
        self.late += other.late;
        self.points.merge(&other.points);
        self.values_acked += other.values_acked;
        self.rows_read += other.rows_read;
        self.bytes += other.bytes;
    }

    #[inline]
    pub(crate) fn complete(&mut self, outcome: Outcome, part: u64, payload: &Payload) {
        match outcome {
            Outcome::Ok => {
                self.ok += 1;
                self.ok_parts |= 1 << part;
            }
            Outcome::Fail | Outcome::Expired => self.fail += 1,
            Outcome::Unknown => self.unknown += 1,
        }
        self.points.acked += payload.points_acked;
        self.points.failed += payload.points_failed;
        self.points.unknown += payload.points_unknown;
        self.values_acked += payload.values_acked;
        self.rows_read += payload.rows_read;
        self.bytes += payload.bytes;
    }
}

/// One second of a run, of one thread or merged over threads: the events of that second, and the operations of the
/// current phase that ended in it.
///
/// A window spans several seconds only when its recorder was not drained in time; a second is divided between two windows
/// when a phase begins within it.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    pub(crate) phase: u32,
    pub(crate) first_second: u64,
    pub(crate) seconds: u64,
    pub(crate) counts: WindowCounts,
    pub(crate) recording: Recording,
}

impl Window {
    /// An empty window of the second `second` of the run.
    #[must_use]
    pub fn new(kinds: Arc<[OperationKind]>, phase: u32, second: u64) -> Self {
        Self {
            phase,
            first_second: second,
            seconds: 1,
            counts: WindowCounts::default(),
            recording: Recording::new(kinds),
        }
    }

    /// Number of the phase, counted by the beginnings of phases that the recorder was told.
    #[must_use]
    pub fn phase(&self) -> u32 {
        self.phase
    }

    /// The first second of the run that the window covers; the second n begins n · 10⁹ ns after the run's epoch.
    #[must_use]
    pub fn first_second(&self) -> u64 {
        self.first_second
    }

    /// Seconds that the window covers: 1 unless its recorder was not drained in time.
    #[must_use]
    pub fn seconds(&self) -> u64 {
        self.seconds
    }

    /// The last second that the window covers.
    #[must_use]
    pub fn last_second(&self) -> u64 {
        self.first_second + (self.seconds - 1)
    }

    /// Covers nothing before this second: what happened then is told with it.
    pub fn cover_from(&mut self, second: u64) {
        let last = self.last_second().max(second);
        self.first_second = self.first_second.max(second);
        self.seconds = last - self.first_second + 1;
    }

    /// Events of these seconds.
    #[must_use]
    pub fn counts(&self) -> &WindowCounts {
        &self.counts
    }

    /// Operations of the current phase that ended in these seconds.
    #[must_use]
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Adds the counts and the recording of `other`, such as another thread's window of the same second, and covers its
    /// seconds too. The phase stays.
    ///
    /// # Errors
    /// [`KindsDiffer`] when `other` was made for other kinds of operations; nothing is changed then.
    pub fn merge(&mut self, other: &Self) -> Result<(), KindsDiffer> {
        self.recording.merge(&other.recording)?;
        self.cover(other);
        Ok(())
    }

    /// Adds `other`, which must have the same kinds.
    pub(crate) fn add(&mut self, other: &Self) {
        self.recording.add(&other.recording);
        self.cover(other);
    }

    fn cover(&mut self, other: &Self) {
        let last = self.last_second().max(other.last_second());
        self.first_second = self.first_second.min(other.first_second);
        self.seconds = last - self.first_second + 1;
        self.counts.merge(&other.counts);
    }

    /// The number of the part in which this instant lies. What is told after its second was taken happened just before the
    /// seconds of this window, and counts at their beginning.
    #[inline]
    pub(crate) fn part(&self, at_ns: u64) -> u64 {
        if at_ns / WINDOW_NS < self.first_second { 0 } else { at_ns % WINDOW_NS / PART_NS }
    }

    pub(crate) fn covers(&self, second: u64) -> bool {
        self.first_second <= second && second <= self.last_second()
    }

    /// Makes this an empty window of another second, and keeps the memory.
    pub fn reuse(&mut self, phase: u32, second: u64) {
        self.phase = phase;
        self.first_second = second;
        self.seconds = 1;
        self.counts = WindowCounts::default();
        self.recording.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_of_a_windows_counts_is_added() {
        let of = |k: u64| WindowCounts {
            offered: k,
            started: 2 * k,
            ok: 3 * k,
            ok_parts: k,
            fail: 4 * k,
            unknown: 5 * k,
            dropped: 6 * k,
            carried: 7 * k,
            late: 8 * k,
            points: PointCounts { sent: 9 * k, ..PointCounts::default() },
            values_acked: 10 * k,
            rows_read: 11 * k,
            bytes: 12 * k,
        };
        let mut sum = of(1);
        sum.merge(&of(100));
        assert_eq!(sum, WindowCounts { ok_parts: 1 | 100, ..of(101) });
    }

    #[test]
    fn what_an_operation_carried_is_counted_by_its_outcome() {
        let empty = Payload { bytes: 7, ..Payload::default() };
        let payload = |outcome| Payload::undivided(outcome, 3, 5, 7);
        assert_eq!(payload(Outcome::Ok), Payload { points_acked: 3, values_acked: 5, ..empty });
        assert_eq!(payload(Outcome::Fail), Payload { points_failed: 3, ..empty });
        assert_eq!(payload(Outcome::Expired), payload(Outcome::Fail));
        assert_eq!(payload(Outcome::Unknown), Payload { points_unknown: 3, ..empty });
        let mut counts = WindowCounts::default();
        let read = Payload { rows_read: 11, ..payload(Outcome::Ok) };
        (0..2).for_each(|_| counts.complete(Outcome::Ok, 3, &read));
        assert_eq!((counts.ok, counts.rows_read, counts.values_acked, counts.bytes), (2, 22, 10, 14));
    }
}
