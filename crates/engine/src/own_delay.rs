//! What the client's own delay leaves of the response times' figures. Pure.

use iotbench_recorder::{Bounded, Level};

const LEVELS: [(&str, Level); 5] =
    [("p50", Level::P50), ("p90", Level::P90), ("p95", Level::P95), ("p99", Level::P99), ("p99.9", Level::P999)];

/// Figures of response times that are ranges, because the client sent operations late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delayed {
    /// Which.
    pub ranges: Vec<&'static str>,
    /// Whether a quantile, or where the sample supports none the mean, is still a figure.
    pub is_any_left: bool,
}

impl Delayed {
    /// Of response times, and the same without the client's own delay; `None`: no figure is a range.
    #[must_use]
    pub fn of(response: &Bounded, undelayed: &Bounded) -> Option<Self> {
        let is_range = |&(_, level): &(&str, Level)| response.quantile_range(undelayed, level).is_some();
        let told: Vec<_> = LEVELS.into_iter().filter(|&(_, level)| response.quantile(level).ns().is_some()).collect();
        let mut ranges: Vec<_> = told.iter().filter(|told| is_range(told)).map(|&(name, _)| name).collect();
        let is_mean_range = response.mean_range(undelayed).is_some();
        let is_any_left = if told.is_empty() { !is_mean_range } else { ranges.len() < told.len() };
        ranges.extend(is_mean_range.then_some("mean"));
        (!ranges.is_empty()).then_some(Self { ranges, is_any_left })
    }
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

    /// So many of 2,000 responses of 10 ms were sent late by so much.
    fn delayed(late: u64, by_ns: u64) -> Option<Delayed> {
        let (mut response, mut undelayed) = (LatencyHistogram::new(), LatencyHistogram::new());
        undelayed.record_many(10_000_000, 2_000);
        response.record_many(10_000_000, 2_000 - late);
        response.record_many(10_000_000 + by_ns, late);
        Delayed::of(&Bounded::from(&response), &Bounded::from(&undelayed))
    }

    #[test]
    fn a_delay_of_some_leaves_the_figures_of_the_others() {
        let found = delayed(60, 5_000_000).unwrap();
        assert_eq!((found.ranges, found.is_any_left), (vec!["p99"], true));
        assert_eq!(delayed(10, 5_000_000), None, "beyond all that is told");
        assert_eq!(delayed(2_000, 400_000), None, "within 5 %");
    }

    #[test]
    fn a_delay_of_all_leaves_none() {
        let found = delayed(2_000, 5_000_000).unwrap();
        assert_eq!((found.ranges, found.is_any_left), (vec!["p50", "p90", "p95", "p99", "mean"], false));
    }
}
