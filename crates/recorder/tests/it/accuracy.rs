//! What a histogram says of a sample, against the sorted sample.

#![expect(clippy::unwrap_used, reason = "a test")]

use crate::random::Random;
use iotbench_recorder::{HIGHEST_NS, Latency, LatencyHistogram, Level, Quantile, Summary, Timing};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const LEVELS: [Level; 5] = [Level::P50, Level::P90, Level::P95, Level::P99, Level::P999];

fn histogram(values: impl IntoIterator<Item = u64>) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    values.into_iter().for_each(|value| histogram.record(value));
    histogram
}

/// The element of rank ⌈n·q⌉, with the level given in thousandths: all integer.
fn exact(sorted: &[u64], thousandths: usize) -> u64 {
    sorted[(sorted.len() * thousandths).div_ceil(1_000).max(1) - 1]
}

fn assert_within_a_thousandth(values: Vec<u64>) {
    let histogram = histogram(values.iter().copied());
    let mut sorted = values;
    sorted.sort_unstable();
    for (level, thousandths) in LEVELS.into_iter().zip([500, 900, 950, 990, 999]) {
        let (got, want) = (histogram.value_at(level).unwrap(), exact(&sorted, thousandths));
        assert!(got >= want && (got - want) * 1_000 <= want, "{level:?}: {got} instead of {want}");
    }
}

#[test]
fn a_million_values_from_a_microsecond_to_a_day_are_within_a_thousandth() {
    let mut random = Random::new(1);
    assert_within_a_thousandth((0..1_000_000).map(|_| random.log_uniform_ns(1e3, 86.4e12)).collect());
}

#[test]
fn fast_and_slow_in_one_run_are_within_a_thousandth() {
    // From 50 µs to 150 s, most of them fast.
    let mut random = Random::new(2);
    let fast = (0..100_000).map(|_| 50_000 + random.exponential_ns(20_000.0)).collect::<Vec<_>>();
    let slow = (0..2_000).map(|_| random.log_uniform_ns(1e9, 150e9));
    assert_within_a_thousandth(fast.iter().copied().chain(slow).collect());
}

#[test]
fn a_single_operation_is_all_of_its_figures() {
    let histogram = histogram([123_456_789]);
    for level in LEVELS {
        assert_eq!(histogram.value_at(level), Some(123_456_789));
        assert_eq!(histogram.quantile(level), Quantile::Unsupported { needed: level.samples_needed(), have: 1 });
    }
    let summary = Summary::from(&histogram);
    assert_eq!((summary.count, summary.min_ns, summary.max_ns), (1, Some(123_456_789), Some(123_456_789)));
    assert_eq!((summary.mean_ns, summary.std_dev_ns), (Some(123_456_789.0), None));
}

#[test]
fn nothing_recorded_is_no_figure() {
    let summary = Summary::from(&LatencyHistogram::new());
    assert_eq!((summary.count, summary.min_ns, summary.mean_ns, summary.max_ns), (0, None, None, None));
    assert_eq!(summary.p50, Quantile::Unsupported { needed: 20, have: 0 });
    assert_eq!(LatencyHistogram::new().value_at(Level::P50), None);
}

#[test]
fn overflow_is_counted_and_never_clamped() {
    let mut histogram = histogram([0, 999, HIGHEST_NS - 1, HIGHEST_NS]);
    assert_eq!(histogram.overflow(), 0);
    for duration_ns in [HIGHEST_NS + 1, HIGHEST_NS * 2, u64::MAX] {
        histogram.record(duration_ns);
    }
    assert_eq!((histogram.count(), histogram.overflow()), (7, 3));
    assert_eq!(histogram.max_ns(), Some(u64::MAX));
    // 999 + (H − 1) + H + (H + 1) + 2 H + MAX
    assert_eq!(histogram.sum_ns(), 999 + 5 * u128::from(HIGHEST_NS) + u128::from(u64::MAX));
    // Rank 4 of 7 still has its value; rank 7 is in the overflow, above all others.
    assert_eq!(histogram.value_at(Level::P50), Some(HIGHEST_NS));
    assert_eq!(histogram.value_at(Level::P90), Some(u64::MAX));
}

#[test]
fn quantiles_in_the_overflow_are_between_a_day_and_the_maximum() {
    let histogram = histogram((0..1_000).map(|number| if number < 900 { 1_000_000 } else { HIGHEST_NS + 1 + number }));
    let Quantile::Value { ns, ci_low_ns, ci_high_ns } = histogram.quantile(Level::P99) else { panic!("1,000 suffice") };
    assert_eq!((ci_low_ns, ns, ci_high_ns), (HIGHEST_NS + 1, HIGHEST_NS + 1_000, Some(HIGHEST_NS + 1_000)));
}

#[test]
fn a_quantile_is_absent_one_sample_below_its_support() {
    for level in LEVELS {
        let needed = level.samples_needed();
        let mut histogram = histogram(1..needed);
        assert_eq!(histogram.quantile(level), Quantile::Unsupported { needed, have: needed - 1 });
        histogram.record(needed);
        assert!(histogram.quantile(level).ns().is_some());
    }
}

#[test]
fn standard_deviation_survives_a_large_mean() {
    // Ten hours and a few nanoseconds: squares of doubles would lose the spread.
    let hours = 36_000_000_000_000;
    let histogram = histogram([hours + 2, hours + 4, hours + 4, hours + 4, hours + 5, hours + 5, hours + 7, hours + 9]);
    let std_dev_ns = histogram.std_dev_ns().unwrap();
    assert!((std_dev_ns - (32.0_f64 / 7.0).sqrt()).abs() < 1e-9, "{std_dev_ns}");
}

fn any_duration() -> impl Strategy<Value = u64> {
    prop_oneof![0..2_000_u64, 1_000..1_000_000_000_u64, 0..=HIGHEST_NS, HIGHEST_NS..=u64::MAX]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200, rng_seed: RngSeed::Fixed(3), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn quantiles_are_in_order_between_minimum_and_maximum(values in prop::collection::vec(any_duration(), 1..400)) {
        let histogram = histogram(values.iter().copied());
        let mut figures = vec![histogram.min_ns().unwrap()];
        figures.extend(LEVELS.iter().filter_map(|level| histogram.value_at(*level)));
        figures.push(histogram.max_ns().unwrap());
        prop_assert!(figures.is_sorted(), "{figures:?}");
        prop_assert_eq!(figures[0], *values.iter().min().unwrap());
        prop_assert_eq!(figures[6], *values.iter().max().unwrap());
        for level in LEVELS {
            if let Quantile::Value { ns, ci_low_ns, ci_high_ns } = histogram.quantile(level) {
                prop_assert!(figures[0] <= ci_low_ns && ci_low_ns <= ns && (ns..=figures[6]).contains(&ci_high_ns.unwrap()));
            }
        }
    }

    #[test]
    fn counts_and_sums_are_exact(values in prop::collection::vec(any_duration(), 0..400)) {
        let histogram = histogram(values.iter().copied());
        prop_assert_eq!(histogram.count(), values.len() as u64);
        prop_assert_eq!(histogram.overflow(), values.iter().filter(|value| **value > HIGHEST_NS).count() as u64);
        prop_assert_eq!(histogram.sum_ns(), values.iter().copied().map(u128::from).sum::<u128>());
    }

    #[test]
    fn response_is_lag_plus_service(
        instants in prop::collection::vec((0..HIGHEST_NS, 0..HIGHEST_NS / 2, 0..HIGHEST_NS / 2), 1..200)
    ) {
        let mut latency = Latency::default();
        for (intended_ns, lag_ns, service_ns) in instants {
            let sent_ns = intended_ns + lag_ns;
            let timing = Timing::new(intended_ns, sent_ns, sent_ns + service_ns).unwrap();
            prop_assert_eq!(timing.lag_ns() + timing.service_ns(), timing.response_ns());
            latency.record(&timing);
        }
        prop_assert_eq!(latency.lag().sum_ns() + latency.service().sum_ns(), latency.response().sum_ns());
        prop_assert_eq!(latency.lag().count(), latency.response().count());
    }

    #[test]
    fn instants_out_of_order_are_no_timing(a in any::<u64>(), b in any::<u64>(), c in any::<u64>()) {
        prop_assert_eq!(Timing::new(a, b, c).is_some(), a <= b && b <= c);
    }
}

#[test]
fn a_mean_that_is_no_whole_number_bends_no_standard_deviation() {
    let of = |durations: &[u64]| {
        let mut histogram = LatencyHistogram::new();
        durations.iter().for_each(|&ns| histogram.record(ns));
        (histogram.mean_ns(), histogram.std_dev_ns())
    };
    // Far from 0, where nothing may be lost to the large terms.
    let (mean, std_dev) = of(&[1_000_000_000_000, 1_000_000_000_001, 1_000_000_000_001]);
    assert_eq!(mean, Some(3_000_000_000_002.0 / 3.0));
    assert!((std_dev.unwrap() - (1.0_f64 / 3.0).sqrt()).abs() < 1e-9, "{std_dev:?}");
    assert_eq!((of(&[]), of(&[7])), ((None, None), (Some(7.0), None)));
}

#[test]
fn a_duration_recorded_many_times_is_that_many_durations() {
    for (duration_ns, count) in [(1_000_u64, 3_u64), (HIGHEST_NS, 300), (HIGHEST_NS + 5, 2), (70, 0)] {
        let (mut one_by_one, mut at_once) = (LatencyHistogram::new(), LatencyHistogram::new());
        one_by_one.record(500);
        at_once.record(500);
        (0..count).for_each(|_| one_by_one.record(duration_ns));
        at_once.record_many(duration_ns, count);
        assert_eq!(at_once, one_by_one, "{count} of {duration_ns}");
        assert_eq!((at_once.count(), at_once.std_dev_ns()), (1 + count, one_by_one.std_dev_ns()));
    }
}
