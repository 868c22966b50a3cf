//! A stretch of whole milliseconds with both ends within, for databases that store no finer times.

use crate::span::Span;

/// Nanoseconds in a millisecond.
pub const NS_PER_MS: i64 = 1_000_000;

/// All times from `first` to `last`, in milliseconds, both within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Millis {
    /// The first millisecond.
    pub first: i64,
    /// The last one.
    pub last: i64,
}

impl Millis {
    /// From a time to a later one; `None` when there is none between them.
    pub fn new(first: i64, last: i64) -> Option<Self> {
        (first <= last).then_some(Self { first, last })
    }

    /// The whole milliseconds of a span that lie in this stretch; `None` when there is none.
    pub fn within(self, span: Span) -> Option<Self> {
        // Rounded up: the first whole millisecond within.
        let first = span.first.div_euclid(NS_PER_MS) + i64::from(span.first.rem_euclid(NS_PER_MS) > 0);
        self.and(Self { first, last: span.last.div_euclid(NS_PER_MS) })
    }

    /// What both hold; `None` when that is nothing.
    pub fn and(self, other: Self) -> Option<Self> {
        Self::new(self.first.max(other.first), self.last.min(other.last))
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

    const ALL: Millis = Millis { first: 0, last: 7_258_118_399_999 };

    proptest! {
        #[test]
        fn the_whole_milliseconds_of_a_span_are_held(first in any::<i64>(), length in 0_i64..5_000_000, ms in 0..ALL.last) {
            let span = Span { first, last: first.saturating_add(length) };
            let near = first.div_euclid(NS_PER_MS).clamp(ALL.first, ALL.last);
            for ms in [ms, near, near + 1, near + 4] {
                let within = ALL.within(span).is_some_and(|millis| millis.contains(ms));
                let meant = ms <= ALL.last && ms.checked_mul(NS_PER_MS).is_some_and(|time| span.contains(time));
                prop_assert_eq!(within, meant, "{}", ms);
            }
        }
    }

    #[test]
    fn a_time_between_milliseconds_is_not_held() {
        assert!(ALL.holds(0) && ALL.holds(ns(ALL.last)));
        assert!(!ALL.holds(1) && !ALL.holds(-NS_PER_MS) && !ALL.holds(ns(ALL.last + 1)));
    }

    #[test]
    fn all_times_are_all_milliseconds_of_a_stretch() {
        assert_eq!(ALL.within(Span::ALL), Some(ALL));
        assert_eq!(ALL.within(Span { first: 1, last: 999_999 }), None, "no whole millisecond");
        assert_eq!(ALL.within(Span { first: -5 * NS_PER_MS, last: -1 }), None);
    }
}
