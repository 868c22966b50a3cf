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
/// Nor may what was waited for a processor before the stall look like a part of it: on a busy machine each tick is late.
const MAX_WAITED: Duration = Duration::from_millis(5);

/// When a ticker woke last. All that keeps it from waking in time counts, also what comes while it does not sleep.
struct Wakes(Instant);

impl Wakes {
    /// When it is to wake next.
    fn due(&self) -> Instant {
        self.0 + TICK
    }

    /// It has woken; how late.
    fn note(&mut self, now: Instant) -> Duration {
        let late = now.saturating_duration_since(self.due());
        self.0 = now;
        late
    }
}

/// How much was waited since the run queue's counter was looked at.
#[derive(Default)]
struct Waited(Duration);

impl Waited {
    /// A tick was late by this; whether the counter is to be looked at anew.
    fn note(&mut self, late: Duration) -> bool {
        self.0 += late;
        let is_much = self.0 >= MAX_WAITED;
        if is_much {
            self.0 = Duration::ZERO;
        }
        is_much
    }
}

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
        let (mut wakes, mut waited) = (Wakes(started), Waited::default());
        while !self.shared.stops.load(Ordering::Relaxed) {
            let due = wakes.due();
            self.shared.is_due(self.number, due);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let now = Instant::now();
            let late = wakes.note(now);
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
                if waited.note(late) {
                    readings.renew_run_delay();
                }
            }
        }
        lateness.spent(crate::cpu_credit::thread_cpu_s(), started.elapsed());
        self.shared.stalls().add_lateness(&lateness);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_it_from_its_sleep_makes_it_late_too() {
        let began = Instant::now();
        let mut wakes = Wakes(began);
        let at = |ms| began + Duration::from_millis(ms);
        assert_eq!(wakes.note(at(1)), Duration::ZERO);
        // It looked at counters, and others had the processor for 300 ms before it could sleep again.
        assert_eq!(wakes.note(at(302)), Duration::from_millis(300));
        assert_eq!((wakes.due(), wakes.note(at(303))), (at(303), Duration::ZERO), "what it cost is not caught up");
    }

    #[test]
    fn what_was_waited_before_a_stall_is_hardly_a_part_of_it() {
        let mut waited = Waited::default();
        let mut since_look = Duration::ZERO;
        for late_us in (0..1_000).map(|tick| [90, 700, 2_500, 4_900][tick % 4]) {
            since_look += Duration::from_micros(late_us);
            if waited.note(Duration::from_micros(late_us)) {
                since_look = Duration::ZERO;
            }
            assert!(since_look < STALL / 10, "{since_look:?}");
        }
    }
}
