//! The figures of one second, and of all so far.

use iotbench_engine::Second;
use iotbench_recorder::{KindRecording, Level, Window, WindowCounts};
use iotbench_report::figure::count;
use std::collections::BTreeMap;

/// The sums of a load, which never fall.
#[derive(Clone, Debug, Default)]
pub struct LoadSoFar {
    /// Events of all seconds.
    pub counts: WindowCounts,
    /// Errors by cause.
    pub errors: BTreeMap<String, u64>,
}

impl LoadSoFar {
    /// Adds what happened in a second.
    pub fn add(&mut self, window: &Window) {
        self.counts.merge(window.counts());
        for (cause, errors) in window.recording().errors().iter() {
            *self.errors.entry(cause.into()).or_default() += errors.count;
        }
    }

    /// Operations that failed, timed out or were dropped.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.counts.fail + self.counts.unknown + self.counts.dropped
    }
}

/// What one second showed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgressFigures {
    /// Virtual users at its end; 0 where there are none.
    pub users: u32,
    /// Operations that were answered.
    pub operations_per_s: u64,
    /// Values that were acknowledged.
    pub values_per_s: u64,
    /// The median response time of what succeeded.
    pub p50_ns: Option<u64>,
    /// The 99th percentile of the same.
    pub p99_ns: Option<u64>,
}

impl ProgressFigures {
    pub(crate) fn of(second: &Second<'_>) -> Self {
        let (counts, recording) = (second.window.counts(), second.window.recording());
        let length_s = second.window.seconds().max(1);
        let (p50_ns, p99_ns) = match recording.kinds().len() {
            1 => quantiles(recording.kind(0)),
            _ => quantiles(&recording.pooled()),
        };
        Self {
            users: second.users,
            operations_per_s: counts.ok / length_s,
            values_per_s: counts.values_acked / length_s,
            p50_ns,
            p99_ns,
        }
    }

    /// Rates and response times in words.
    #[must_use]
    pub fn parts(&self) -> Vec<String> {
        let mut parts = vec![format!("{} ops/s, {} values/s", count(self.operations_per_s), count(self.values_per_s))];
        if let (Some(p50), Some(p99)) = (self.p50_ns, self.p99_ns) {
            parts.push(format!("response p50 {}, p99 {}", duration(p50), duration(p99)));
        }
        parts
    }
}

/// Of the few operations of a second these are what was seen, not an estimate: the result prints only what it can support.
fn quantiles(kind: &KindRecording) -> (Option<u64>, Option<u64>) {
    let response = kind.by_operation().ok().response();
    (response.value_at(Level::P50), response.value_at(Level::P99))
}

/// A duration with three digits and its unit.
#[must_use]
pub fn duration(ns: u64) -> String {
    let (unit, size) = match ns {
        1_000_000_000.. => ("s", 1e9),
        1_000_000.. => ("ms", 1e6),
        1_000.. => ("µs", 1e3),
        _ => ("ns", 1.0),
    };
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let value = ns as f64 / size;
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_easy_to_read() {
        assert_eq!(duration(1_234_567), "1.23 ms");
        assert_eq!(duration(123_456), "123 µs");
        assert_eq!(duration(98_765_432_100), "98.8 s");
    }

    #[test]
    fn a_second_without_answers_has_no_quantile() {
        assert_eq!(ProgressFigures::default().parts(), ["0 ops/s, 0 values/s"]);
    }
}
