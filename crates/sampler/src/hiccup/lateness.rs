//! How late the tickers were, all together.

use std::time::Duration;

/// How late ticks came, and what the tickers cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Lateness {
    /// Ticks.
    pub ticks: u64,
    /// How many of them were late by at least each of [`Lateness::AT_LEAST_MS`].
    pub late: [u64; Lateness::AT_LEAST_MS.len()],
    /// The latest.
    pub max: Duration,
    /// CPU time of the tickers, in percent of one core.
    pub cpu_pct: f64,
}

impl Lateness {
    /// What `late` counts, in milliseconds.
    pub const AT_LEAST_MS: [u64; 9] = [1, 2, 5, 10, 20, 50, 100, 200, 500];

    pub(super) fn add(&mut self, late: Duration) {
        self.ticks += 1;
        self.max = self.max.max(late);
        for (count, at_least_ms) in self.late.iter_mut().zip(Self::AT_LEAST_MS) {
            *count += u64::from(late >= Duration::from_millis(at_least_ms));
        }
    }

    pub(super) fn spent(&mut self, cpu_s: f64, over: Duration) {
        self.cpu_pct += cpu_s / over.as_secs_f64().max(1e-9) * 100.0;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.ticks += other.ticks;
        self.max = self.max.max(other.max);
        self.late.iter_mut().zip(other.late).for_each(|(count, more)| *count += more);
        self.cpu_pct += other.cpu_pct;
    }
}
