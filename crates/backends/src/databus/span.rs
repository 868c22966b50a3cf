//! A stretch of whole milliseconds with both ends within.

use iotbench_backend_kit::span;
use iotbench_core::TimeRange;

/// One millisecond.
pub(crate) const NS_PER_MS: i64 = 1_000_000;
/// The latest time that we write, the end of 2199; the earliest is the beginning of 1970: a question about the first values
/// of a stream takes no time before it.
pub(crate) const LATEST_MS: i64 = 7_258_118_399_999;

/// All times from `first` to `last`, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl Span {
    pub(crate) const ALL: Self = Self { first: 0, last: LATEST_MS };

    /// From a time to a later one; `None` when there is none between them.
    pub(crate) fn new(first: i64, last: i64) -> Option<Self> {
        (first <= last).then_some(Self { first, last })
    }

    /// The times of a range that can hold a datapoint of ours.
    pub(crate) fn of(range: TimeRange) -> Option<Self> {
        let ns = span::Span::of(range)?;
        // Rounded up: the first whole millisecond within.
        let first = ns.first.div_euclid(NS_PER_MS) + i64::from(ns.first.rem_euclid(NS_PER_MS) > 0);
        Self::new(first.max(0), ns.last.div_euclid(NS_PER_MS).min(LATEST_MS))
    }

    pub(crate) fn contains(self, ms: i64) -> bool {
        (self.first..=self.last).contains(&ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_span_holds_the_whole_milliseconds_of_a_range(from in any::<i64>(), length in 0_i64..5_000_000, ms in 0..LATEST_MS) {
            let range = TimeRange::half_open(from, from.saturating_add(length));
            let near = from.div_euclid(NS_PER_MS).clamp(0, LATEST_MS);
            for ms in [ms, near, near + 1, near + 4] {
                let within = Span::of(range).is_some_and(|span| span.contains(ms));
                let meant = ms <= LATEST_MS && ms.checked_mul(NS_PER_MS).is_some_and(|time| range.contains(time));
                prop_assert_eq!(within, meant, "{}", ms);
            }
        }
    }
}
