//! A thread that sleeps for a millisecond, again and again, and looks at the clock.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::evidence::Readings;
use super::lateness::Lateness;
use super::stalls::Stall;
use super::{STALL, Shared};

/// From one tick to the next.
const TICK: Duration = Duration::from_millis(1);
/// The evidence of a stall is what counters have grown by since the last look: not longer ago than this.
const LOOK: Duration = Duration::from_millis(250);

pub(super) struct Ticker {
    number: usize,
    epoch: Instant,
    shared: Arc<Shared>,
}

impl Ticker {
    pub fn new(number: usize, epoch: Instant, shared: Arc<Shared>) -> Self {
        Self { number, epoch, shared }
    }

    /// Ticks until told to stop. What a stall has cost is not caught up: the next tick is a millisecond after it.
    pub fn tick(self) {
        let mut lateness = Lateness::default();
        let mut readings = Readings::new(self.number == 0);
        let mut looked = Instant::now();
        let started = looked;
        while !self.shared.stops.load(Ordering::Relaxed) {
            let due = Instant::now() + TICK;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let now = Instant::now();
            let late = now.saturating_duration_since(due);
            lateness.add(late);
            if late >= STALL {
                let (from, to) = (due.saturating_duration_since(self.epoch), now.saturating_duration_since(self.epoch));
                let evidence = readings.since();
                self.shared.stalls().note(Stall { ticker: self.number, from, to, evidence });
                looked = now;
            } else if now.saturating_duration_since(looked) >= LOOK {
                readings.renew();
                looked = now;
            } else {
                readings.renew_process_cpu();
            }
        }
        lateness.spent(crate::cpu_credit::thread_cpu_s(), started.elapsed());
        self.shared.stalls().add_lateness(&lateness);
    }
}
