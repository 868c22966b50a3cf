//! A 95 % confidence interval holds the true quantile in 95 % of the samples.

use crate::random::Random;
use iotbench_recorder::{LatencyHistogram, Level, Quantile};

const SETS: u64 = 2_000;
const MEAN_NS: f64 = 1e7;

/// The share of intervals that hold the true quantile, in 2,000 samples of `count` exponential durations.
fn coverage(level: Level, count: u64, seed: u64) -> f64 {
    let truth_ns = -(1.0 - level.fraction()).ln() * MEAN_NS;
    let mut random = Random::new(seed);
    let mut histogram = LatencyHistogram::new();
    let mut held = 0;
    for _ in 0..SETS {
        histogram.clear();
        for _ in 0..count {
            histogram.record(random.exponential_ns(MEAN_NS));
        }
        let Quantile::Value { ci_low_ns, ci_high_ns, .. } = histogram.quantile(level) else {
            panic!("{count} samples suffice");
        };
        held += u64::from(ci_low_ns as f64 <= truth_ns && ci_high_ns.is_some_and(|high_ns| truth_ns <= high_ns as f64));
    }
    held as f64 / SETS as f64
}

#[test]
fn intervals_hold_the_median_as_often_as_promised() {
    for count in [100, 500, 2_000] {
        let share = coverage(Level::P50, count, count);
        assert!((0.93..=0.97).contains(&share), "n = {count}: {share}");
    }
}

#[test]
fn intervals_hold_the_tail_as_often_as_promised() {
    for (level, count) in [(Level::P95, 500), (Level::P99, 1_000), (Level::P99, 5_000)] {
        let share = coverage(level, count, count);
        assert!((0.93..=0.97).contains(&share), "{level:?}, n = {count}: {share}");
    }
}
