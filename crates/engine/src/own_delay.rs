//! What the client's own delay leaves of the response times' figures. Pure.

use iotbench_recorder::{Bounded, Level, OwnDelayRange};

const LEVELS: [(&str, Level); 5] =
    [("p50", Level::P50), ("p90", Level::P90), ("p95", Level::P95), ("p99", Level::P99), ("p99.9", Level::P999)];

/// A range that ends below this, in nanoseconds, is a bound to judge by: wake-ups of a general-purpose scheduler take as long.
const WELL_BOUNDED_NS: f64 = 1e6;

/// And so is one no wider than by this factor.
const WIDE: f64 = 2.0;

/// Figures of response times that are ranges, because the client sent operations late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delayed {
    /// Which.
    pub ranges: Vec<&'static str>,
    /// Whether nothing is left to judge by: each quantile, or where the sample supports none the mean, is a wide range.
    pub is_nothing_left: bool,
}

impl Delayed {
    /// Of response times, and the same without the client's own delay; `None`: no figure is a range.
    #[must_use]
    pub fn of(response: &Bounded, undelayed: &Bounded) -> Option<Self> {
        let of = |level| response.quantile_range(undelayed, level);
        let told: Vec<_> = LEVELS.into_iter().filter(|&(_, level)| response.quantile(level).ns().is_some()).collect();
        let mut ranges: Vec<_> = told.iter().filter(|(_, level)| of(*level).is_some()).map(|&(name, _)| name).collect();
        let mean = response.mean_range(undelayed);
        let is_mean_range = mean.is_some();
        let is_nothing_left = match told.is_empty() {
            true => mean.is_some_and(is_wide),
            false => told.iter().all(|&(_, level)| of(level).is_some_and(is_wide)),
        };
        ranges.extend(is_mean_range.then_some("mean"));
        (!ranges.is_empty()).then_some(Self { ranges, is_nothing_left })
    }
}

fn is_wide(range: OwnDelayRange) -> bool {
    range.with_ns >= WELL_BOUNDED_NS && range.with_ns > WIDE * range.without_ns
}

impl std::fmt::Display for Delayed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "told as ranges, of the response times: {}. The client sent operations late while a connection was free, by more \
             than 5 % and more than 100 µs of these figures",
            self.ranges.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_recorder::LatencyHistogram;

    /// So many of `count` responses of `response_ns` were sent late by so much.
    fn delayed_of(response_ns: u64, count: u64, late: u64, by_ns: u64) -> Option<Delayed> {
        let (mut response, mut undelayed) = (LatencyHistogram::new(), LatencyHistogram::new());
        undelayed.record_many(response_ns, count);
        response.record_many(response_ns, count - late);
        response.record_many(response_ns + by_ns, late);
        Delayed::of(&Bounded::from(&response), &Bounded::from(&undelayed))
    }

    /// So many of 2,000 responses of 10 ms.
    fn delayed(late: u64, by_ns: u64) -> Option<Delayed> {
        delayed_of(10_000_000, 2_000, late, by_ns)
    }

    #[test]
    fn a_delay_of_some_leaves_the_figures_of_the_others() {
        let found = delayed(60, 50_000_000).unwrap();
        assert_eq!((found.ranges, found.is_nothing_left), (vec!["p99", "mean"], false));
        assert_eq!(delayed(10, 5_000_000), None, "beyond all that is told");
        assert_eq!(delayed(2_000, 400_000), None, "within 5 %");
    }

    #[test]
    fn a_delay_of_all_leaves_nothing_where_it_is_wide() {
        let all = vec!["p50", "p90", "p95", "p99", "mean"];
        let found = |response_ns, by_ns| delayed_of(response_ns, 2_000, 2_000, by_ns).unwrap();
        let wide = found(10_000_000, 10_100_000);
        assert_eq!((wide.ranges, wide.is_nothing_left), (all.clone(), true));
        let narrow = found(10_000_000, 9_900_000);
        assert_eq!((narrow.ranges, narrow.is_nothing_left), (all, false), "within a factor of 2");
        assert!(!found(10_000, 980_000).is_nothing_left, "all within 1 ms is a bound to judge by");
        assert!(found(10_000, 1_000_000).is_nothing_left);
    }

    #[test]
    fn where_no_quantile_is_told_the_mean_decides() {
        let found = |by_ns| delayed_of(10_000, 5, 5, by_ns).unwrap();
        assert_eq!((found(2_000_000).ranges, found(2_000_000).is_nothing_left), (vec!["mean"], true));
        assert!(!found(500_000).is_nothing_left);
    }

    #[test]
    fn a_bound_is_good_below_1_ms_and_within_a_factor_of_2() {
        let is_nothing_left =
            |response_ns, by_ns| delayed_of(response_ns, 2_000, 2_000, by_ns).unwrap().is_nothing_left;
        assert!(is_nothing_left(10_000, 990_000) && !is_nothing_left(10_000, 989_999), "1 ms is too much");
        assert!(!is_nothing_left(10_000_000, 10_000_000) && is_nothing_left(10_000_000, 10_000_001));
    }

    #[test]
    fn the_figures_that_are_ranges_are_named() {
        let told = delayed(60, 50_000_000).unwrap().to_string();
        assert!(told.starts_with("told as ranges, of the response times: p99, mean. "), "{told}");
    }
}
