//! How well this machine tells the time, and wakes who sleeps.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_getres};

/// A run of readings is one of so many, and the fastest run counts: others had no part of it.
const RUNS: u32 = 20;
const READINGS: u32 = 100;
/// Sleeps are so long.
const SLEEP: Duration = Duration::from_micros(200);
const SLEEPS: u32 = 200;

/// The finest step of the monotonic clock that the kernel promises, in nanoseconds.
#[must_use]
pub fn clock_resolution_ns() -> u64 {
    let step = clock_getres(ClockId::Monotonic);
    let [seconds, ns] = [step.tv_sec, step.tv_nsec].map(|part| u64::try_from(part).unwrap_or(0));
    seconds * 1_000_000_000 + ns
}

/// What reading the monotonic clock takes, in nanoseconds.
#[must_use]
pub fn clock_reading_ns() -> f64 {
    let run = |_| {
        let began = Instant::now();
        let last = (1..READINGS).fold(began, |_, _| std::hint::black_box(Instant::now()));
        last.duration_since(began).as_secs_f64() * 1e9 / f64::from(READINGS)
    };
    (0..RUNS).map(run).fold(f64::INFINITY, f64::min)
}

/// By how much this thread, which has no timer slack from now on, wakes late from short sleeps, in nanoseconds: half the times by no
/// more than the first, and 99 of 100 by no more than the second. Takes a twentieth of a second.
#[must_use]
pub fn wakes_late_ns() -> [u64; 2] {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let late = |_| {
        let began = Instant::now();
        std::thread::sleep(SLEEP);
        u64::try_from(began.elapsed().saturating_sub(SLEEP).as_nanos()).unwrap_or(u64::MAX)
    };
    let mut late: Vec<u64> = (0..SLEEPS).map(late).collect();
    late.sort_unstable();
    [50, 99].map(|percent| late.get(late.len() * percent / 100).copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_has_a_step_and_a_price_and_nobody_wakes_before_his_time() {
        assert!((1..1_000_000_000).contains(&clock_resolution_ns()));
        let reading_ns = clock_reading_ns();
        assert!(reading_ns > 0.0 && reading_ns < 1e6, "{reading_ns}");
        let [median, most] = wakes_late_ns();
        assert!(median > 0 && median <= most, "{median} {most}");
    }
}
