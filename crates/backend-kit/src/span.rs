//! A stretch of time with both ends within.

use iotbench_core::TimeRange;
use std::ops::Bound;

/// All times from `first` to `last`, both within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first time, in nanoseconds.
    pub first: i64,
    /// The last one.
    pub last: i64,
}

impl Span {
    /// All times.
    pub const ALL: Self = Self { first: i64::MIN, last: i64::MAX };

    /// All times from the first on.
    pub fn from(first: i64) -> Self {
        Self { first, ..Self::ALL }
    }

    /// The times of a range; `None` when there is none.
    pub fn of(range: TimeRange) -> Option<Self> {
        let first = match range.from {
            Bound::Included(time) => time,
            Bound::Excluded(time) => time.checked_add(1)?,
            Bound::Unbounded => i64::MIN,
        };
        let last = match range.to {
            Bound::Included(time) => time,
            Bound::Excluded(time) => time.checked_sub(1)?,
            Bound::Unbounded => i64::MAX,
        };
        (first <= last).then_some(Self { first, last })
    }

    /// The times that both hold; `None` when there is none.
    pub fn and(self, other: Self) -> Option<Self> {
        let both = Self { first: self.first.max(other.first), last: self.last.min(other.last) };
        (both.first <= both.last).then_some(both)
    }

    /// Whether a time lies within.
    pub fn contains(self, time: i64) -> bool {
        (self.first..=self.last).contains(&time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bound() -> impl Strategy<Value = Bound<i64>> {
        let time = prop_oneof![Just(i64::MIN), Just(i64::MAX), -3..3_i64];
        (time, 0..3).prop_map(|(time, kind)| match kind {
            0 => Bound::Included(time),
            1 => Bound::Excluded(time),
            _ => Bound::Unbounded,
        })
    }

    proptest! {
        #[test]
        fn a_span_holds_the_times_of_its_range(from in bound(), to in bound(), time in -4..4_i64) {
            let range = TimeRange { from, to };
            for time in [time, i64::MIN, i64::MAX] {
                prop_assert_eq!(Span::of(range).is_some_and(|span| span.contains(time)), range.contains(time));
            }
        }

        #[test]
        fn what_two_spans_both_hold(first in [-3..3_i64, -3..3_i64], length in [0..3_i64, 0..3_i64], time in -4..7_i64) {
            let [a, b] = [0, 1].map(|n| Span { first: first[n], last: first[n] + length[n] });
            prop_assert_eq!(a.and(b).is_some_and(|both| both.contains(time)), a.contains(time) && b.contains(time));
            prop_assert!(a.and(b).is_none_or(|both| both.first <= both.last));
        }
    }
}
