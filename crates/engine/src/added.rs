//! Signals that are added under load: operations that carry them wait until the table has been altered. No lock is on their way.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Holds back what carries signals that the table does not have yet.
#[derive(Debug)]
pub struct Gate {
    state: AtomicU8,
    /// When the first operation came that carries them, in nanoseconds since the run's start; [`NOT_YET`]: none has.
    reached_ns: AtomicU64,
}

/// No signals are added.
const UNUSED: u8 = 0;
/// What carries them may be sent.
const OPEN: u8 = 1;
/// The table lacks them.
const CLOSED: u8 = 2;

const NOT_YET: u64 = u64::MAX;

/// When the devices of a run began to send signals that they had not sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaChange {
    /// When the first operation with them was due to be sent, in nanoseconds since the run's start.
    pub from_ns: u64,
    /// When the database had altered its table; `None`: it did not have to, or did not.
    pub altered_ns: Option<u64>,
}

impl Default for Gate {
    fn default() -> Self {
        Self { state: AtomicU8::new(UNUSED), reached_ns: AtomicU64::new(NOT_YET) }
    }
}

impl Gate {
    /// Signals are added; the table is altered first, or need not be.
    pub fn guard(&self, is_altered_first: bool) {
        self.state.store(if is_altered_first { CLOSED } else { OPEN }, Ordering::Relaxed);
    }

    /// Whether an operation may be sent that carries all signals.
    pub fn lets_pass(&self, now_ns: u64) -> bool {
        let state = self.state.load(Ordering::Acquire);
        if state != UNUSED {
            self.reached_ns.fetch_min(now_ns, Ordering::Relaxed);
        }
        state != CLOSED
    }

    /// When the first one came.
    pub fn reached_ns(&self) -> Option<u64> {
        Some(self.reached_ns.load(Ordering::Relaxed)).filter(|&ns| ns != NOT_YET)
    }

    /// Whether the table is still to be altered.
    pub fn is_closed(&self) -> bool {
        self.state.load(Ordering::Acquire) == CLOSED
    }

    /// The table has been altered.
    pub fn open(&self) {
        self.state.store(OPEN, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_came_is_remembered_and_all_wait_until_it_opens() {
        let gate = Gate::default();
        assert!(gate.lets_pass(5) && gate.reached_ns().is_none(), "no signals are added");
        gate.guard(true);
        assert_eq!((gate.lets_pass(9), gate.lets_pass(7), gate.reached_ns()), (false, false, Some(7)));
        gate.open();
        assert!(gate.lets_pass(8) && !gate.is_closed());
        let gate = Gate::default();
        gate.guard(false);
        assert_eq!((gate.lets_pass(3), gate.reached_ns()), (true, Some(3)));
    }
}
