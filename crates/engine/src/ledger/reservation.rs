//! How far datapoints are about to be sent, told ahead in blocks.

use iotbench_core::Run;
use std::sync::atomic::{AtomicU64, Ordering};

/// Load threads tell the end of what they send in blocks of so many indices.
const BLOCK: u64 = 1 << 10;
/// So many indices are reserved ahead: more than a device sends between two looks of the control thread.
const AHEAD: u64 = 1 << 16;

/// Below which index of a device everything is that was sent, rounded up to whole blocks; of all devices together.
#[derive(Debug, Default)]
pub struct Reached(AtomicU64);

impl Reached {
    /// Datapoints are about to be sent. `told` is the caller's own: what it has told last, so that most sends touch nothing
    /// that is shared.
    pub fn sends(&self, runs: &[Run], told: &mut u64) {
        let end = runs.iter().map(|run| run.indices().end).max().unwrap_or(0);
        if end > *told {
            *told = end.next_multiple_of(BLOCK);
            self.0.fetch_max(*told, Ordering::AcqRel);
        }
    }

    /// Others have come so far.
    pub fn reach(&self, end: u64) {
        self.0.fetch_max(end, Ordering::AcqRel);
    }

    /// How far they are.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// How far may be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reservation(u64);

impl Reservation {
    /// What has to be reserved anew when the load has come so far; `None`: what is reserved suffices.
    pub fn follow(&mut self, reached: u64) -> Option<u64> {
        if reached.saturating_add(AHEAD / 2) <= self.0 {
            return None;
        }
        self.0 = reached.saturating_add(AHEAD);
        Some(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_always_reserved_and_seldom_told() {
        let (reached, mut told, mut reservation) = (Reached::default(), 0, Reservation::default());
        let mut reserved = reservation.follow(0).unwrap();
        let mut reservations = 1;
        for first in 0..1_000_000 {
            reached.sends(&[Run { device: 3, first, count: 1 }], &mut told);
            assert!(first < reserved && first < reached.get() && reached.get() <= first + BLOCK);
            // The control thread looks only now and then.
            if first % 20_000 == 0
                && let Some(more) = reservation.follow(reached.get())
            {
                (reserved, reservations) = (more, reservations + 1);
            }
        }
        assert!(reservations <= 1_000_000 / (AHEAD / 2) + 2, "{reservations}");
    }

    #[test]
    fn what_others_have_reached_counts() {
        let reached = Reached::default();
        reached.reach(70_000);
        reached.reach(5_000);
        assert_eq!(reached.get(), 70_000);
    }
}
