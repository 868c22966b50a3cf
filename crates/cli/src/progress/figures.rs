//! The figures of one second.

use iotbench_engine::Second;
use iotbench_recorder::{KindRecording, Level};

/// What one second showed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ProgressFigures {
    pub(crate) users: u32,
    pub(crate) operations_per_s: u64,
    pub(crate) values_per_s: u64,
    /// Response times of what succeeded.
    pub(crate) p50_ns: Option<u64>,
    pub(crate) p99_ns: Option<u64>,
    /// Operations that failed, timed out or were dropped, and lost datapoints.
    pub(crate) failures: u64,
    /// Datapoints that nobody sent in time.
    pub(crate) points_lost: u64,
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
            failures: counts.fail + counts.unknown + counts.dropped,
            points_lost: counts.points.dropped,
        }
    }

    pub(super) fn parts(&self) -> Vec<String> {
        let mut parts =
            vec![format!("{} ops/s, {} values/s", grouped(self.operations_per_s), grouped(self.values_per_s))];
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

/// A count with its thousands set apart.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A duration with three digits and its unit.
pub(crate) fn duration(ns: u64) -> String {
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
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(duration(1_234_567), "1.23 ms");
        assert_eq!(duration(123_456), "123 µs");
        assert_eq!(duration(98_765_432_100), "98.8 s");
    }

    #[test]
    fn a_second_without_answers_has_no_quantile() {
        assert_eq!(ProgressFigures::default().parts(), ["0 ops/s, 0 values/s"]);
    }
}
