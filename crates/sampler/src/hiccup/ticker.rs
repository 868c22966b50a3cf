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

/// What is to be done after a tick, so that what counters grow by over the next stall is of that stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// It met a stall: what all have grown by is its evidence.
    Stall,
    /// At all of them.
    All,
    /// At the time in the run queue, and the CPU time of the process.
    RunDelay,
    /// At the CPU time of the process alone: it is cheap, and has to be fresh.
    ProcessCpu,
}

/// When counters were looked at last.
struct Looks {
    all: Instant,
    /// How late ticks were since the time in the run queue was looked at.
    late: Duration,
}

impl Looks {
    fn new(now: Instant) -> Self {
        Self { all: now, late: Duration::ZERO }
    }

    /// After a tick that was so late.
    fn after(&mut self, now: Instant, late: Duration) -> Look {
        self.late += late;
        let look = match () {
            () if late >= STALL => Look::Stall,
            () if now.saturating_duration_since(self.all) >= LOOK => Look::All,
            () if self.late >= MAX_WAITED => Look::RunDelay,
            () => Look::ProcessCpu,
        };
        if matches!(look, Look::Stall | Look::All) {
            self.all = now;
        }
        if look != Look::ProcessCpu {
            self.late = Duration::ZERO;
        }
        look
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
        let started = Instant::now();
        let (mut wakes, mut looks) = (Wakes(started), Looks::new(started));
        while !self.shared.stops.load(Ordering::Relaxed) {
            let due = wakes.due();
            self.shared.is_due(self.number, due);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let now = Instant::now();
            let late = wakes.note(now);
            lateness.add(late);
            match looks.after(now, late) {
                Look::Stall => {
                    let [from, to] = [due, now].map(|time| time.saturating_duration_since(self.epoch));
                    let evidence = readings.since();
                    self.shared.stalls().note(Stall { ticker: self.number, from, to, evidence });
                }
                Look::All => readings.renew(),
                Look::RunDelay => {
                    readings.renew_process_cpu();
                    readings.renew_run_delay();
                }
                Look::ProcessCpu => readings.renew_process_cpu(),
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
        let mut now = Instant::now();
        let mut looks = Looks::new(now);
        // How long a thread has waited for a processor, as the kernel counts it, and what of that was looked at.
        let (mut counted, mut seen, mut stalls) = (Duration::ZERO, Duration::ZERO, 0);
        for tick in 0..1_000 {
            let is_stopped = tick % 97 == 96;
            let waited = Duration::from_micros([90, 700, 2_500, 4_900][tick % 4]);
            counted += waited;
            let late = waited + if is_stopped { Duration::from_millis(100) } else { Duration::ZERO };
            now += TICK + late;
            match looks.after(now, late) {
                Look::Stall => {
                    stalls += 1;
                    assert!(is_stopped && counted - seen <= MAX_WAITED * 2, "{:?} of a stop of 100 ms", counted - seen);
                    seen = counted;
                }
                Look::All | Look::RunDelay => seen = counted,
                Look::ProcessCpu => {}
            }
        }
        assert_eq!(stalls, 10);
    }

    #[test]
    fn a_ticker_that_is_in_time_looks_at_all_counters_four_times_a_second() {
        let mut now = Instant::now();
        let mut looks = Looks::new(now);
        let mut after = || {
            now += TICK;
            looks.after(now, Duration::ZERO)
        };
        let seen: Vec<Look> = (0..1_000).map(|_| after()).collect();
        assert_eq!(seen.iter().filter(|look| **look == Look::All).count(), 4);
        assert_eq!(seen.iter().filter(|look| **look == Look::ProcessCpu).count(), 996);
    }
}
