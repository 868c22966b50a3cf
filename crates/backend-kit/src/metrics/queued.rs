//! When what was acknowledged is visible: the queue has no read-out, so what is stored is counted.

use iotbench_core::Settled;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

/// What was acknowledged, and how much of it was seen.
#[derive(Debug)]
pub struct Queued {
    /// So many looks in a row that find nothing new mean that nothing more comes.
    quiet_looks: u32,
    values_acknowledged: AtomicU64,
    seen: Mutex<Seen>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    values: u64,
    quiet_looks: u32,
}

impl Queued {
    /// Nothing was acknowledged yet.
    pub fn new(quiet_looks: u32) -> Self {
        Self { quiet_looks, values_acknowledged: AtomicU64::new(0), seen: Mutex::default() }
    }

    /// Begins anew with a table that holds so many values.
    pub fn begin(&self, values: u64) {
        self.values_acknowledged.store(values, Ordering::Relaxed);
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Seen { values, quiet_looks: 0 };
    }

    /// Notes values that were acknowledged, or handed over where nothing is.
    pub fn acknowledged(&self, values: u64) {
        self.values_acknowledged.fetch_add(values, Ordering::Relaxed);
    }

    /// Takes note of how many values are stored now. One that was written twice is stored once: then they come to rest
    /// below what was acknowledged, and nobody can tell that none is still to come.
    pub fn look(&self, values: u64) -> Settled {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.quiet_looks = if seen.values == values { seen.quiet_looks + 1 } else { 0 };
        seen.values = values;
        if values >= self.values_acknowledged.load(Ordering::Relaxed) {
            Settled::Yes
        } else if seen.quiet_looks >= self.quiet_looks {
            Settled::CannotTell
        } else {
            Settled::NotYet
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_settled_when_all_that_was_acknowledged_is_seen() {
        let queued = Queued::new(50);
        queued.begin(0);
        assert_eq!(queued.look(0), Settled::Yes, "nothing was acknowledged");
        queued.acknowledged(10);
        assert_eq!((queued.look(4), queued.look(9), queued.look(10)), (Settled::NotYet, Settled::NotYet, Settled::Yes));
        queued.begin(10);
        assert_eq!(queued.look(10), Settled::Yes);
    }

    #[test]
    fn what_rests_below_it_cannot_be_told() {
        let queued = Queued::new(3);
        queued.acknowledged(10);
        let looks: Vec<_> = (0..=3).map(|_| queued.look(9)).collect();
        assert!(looks[..looks.len() - 1].iter().all(|look| *look == Settled::NotYet));
        assert_eq!(looks.last(), Some(&Settled::CannotTell));
        assert_eq!(queued.look(9 + 1), Settled::Yes);
    }
}
