//! Stretches of whole milliseconds.

use iotbench_core::TimeRange;
use std::ops::Bound;

/// Nanoseconds in a millisecond.
pub const NS_PER_MS: i64 = 1_000_000;

/// All times from `first` to `last`, in milliseconds, both within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first millisecond.
    pub first: i64,
    /// The last one.
    pub last: i64,
}

impl Span {
    /// The whole milliseconds of a range that lie in this span; `None` when there is none.
    pub fn within(self, range: TimeRange) -> Option<Self> {
        let first_ns = match range.from {
            Bound::Included(time) => time,
            Bound::Excluded(time) => time.checked_add(1)?,
            Bound::Unbounded => i64::MIN,
        };
        let last_ns = match range.to {
            Bound::Included(time) => time,
            Bound::Excluded(time) => time.checked_sub(1)?,
            Bound::Unbounded => i64::MAX,
        };
        // Rounded up: the first whole millisecond within.
        let first = first_ns.div_euclid(NS_PER_MS) + i64::from(first_ns.rem_euclid(NS_PER_MS) > 0);
        let span = Self { first: first.max(self.first), last: last_ns.div_euclid(NS_PER_MS).min(self.last) };
        (span.first <= span.last).then_some(span)
    }

    /// What lies in this span from a time on.
    pub fn from(self, first_ns: i64) -> Option<Self> {
        self.within(TimeRange { from: Bound::Included(first_ns), to: Bound::Unbounded })
    }

    /// Whether a time is one of these milliseconds.
    pub fn holds(self, time_ns: i64) -> bool {
        time_ns % NS_PER_MS == 0 && self.contains(time_ns / NS_PER_MS)
    }

    /// Whether a millisecond lies within.
    pub fn contains(self, ms: i64) -> bool {
        (self.first..=self.last).contains(&ms)
    }
}

/// A time in nanoseconds.
pub fn ns(ms: i64) -> i64 {
    ms.saturating_mul(NS_PER_MS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: Span = Span { first: 0, last: 7_258_118_399_999 };

    proptest! {
        #[test]
        fn a_span_holds_the_whole_milliseconds_of_a_range(from in any::<i64>(), length in 0_i64..5_000_000, ms in 0..ALL.last) {
            let range = TimeRange::half_open(from, from.saturating_add(length));
            let near = from.div_euclid(NS_PER_MS).clamp(ALL.first, ALL.last);
            for ms in [ms, near, near + 1, near + 4] {
                let within = ALL.within(range).is_some_and(|span| span.contains(ms));
                let meant = ms <= ALL.last && ms.checked_mul(NS_PER_MS).is_some_and(|time| range.contains(time));
                prop_assert_eq!(within, meant, "{}", ms);
            }
        }
    }

    #[test]
    fn a_time_between_milliseconds_is_not_held() {
        assert!(ALL.holds(0) && ALL.holds(ns(ALL.last)));
        assert!(!ALL.holds(1) && !ALL.holds(-NS_PER_MS) && !ALL.holds(ns(ALL.last + 1)));
    }
}
