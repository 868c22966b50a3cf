//! Time buckets of one length.

use crate::TimeRange;
use serde::{Deserialize, Serialize};
use std::{num::NonZeroU64, ops::Bound};

/// How long a time bucket is: each begins at a multiple of this many nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BucketWidth(NonZeroU64);

impl BucketWidth {
    /// A second.
    pub const SECOND: Self = Self(NonZeroU64::new(1_000_000_000).unwrap());

    /// So many nanoseconds; `None` for 0 and for more than a time can be.
    #[must_use]
    pub fn from_ns(ns: u64) -> Option<Self> {
        i64::try_from(ns).ok().and(NonZeroU64::new(ns)).map(Self)
    }

    /// In nanoseconds.
    #[must_use]
    pub fn as_ns(self) -> i64 {
        i64::try_from(self.0.get()).unwrap_or(i64::MAX)
    }

    /// The beginning of the bucket that a time lies in; the earliest time of all where it began before that.
    #[must_use]
    pub fn start_of(self, ns: i64) -> i64 {
        ns.checked_sub(ns.rem_euclid(self.as_ns())).unwrap_or(i64::MIN)
    }

    /// The end of a stretch of time that so many buckets fill; `None` where the stretch is no longer than they are, or has no end.
    #[must_use]
    pub fn last_of(self, range: TimeRange, buckets: u64) -> Option<TimeRange> {
        let last = match range.to {
            Bound::Included(last) => last,
            Bound::Excluded(end) => end.checked_sub(1)?,
            Bound::Unbounded => return None,
        };
        let before_last = i64::try_from(buckets.checked_sub(1)?).ok()?;
        let from = self.start_of(last).checked_sub(before_last.checked_mul(self.as_ns())?)?;
        let is_shorter = match range.from {
            Bound::Included(first) | Bound::Excluded(first) => first < from,
            Bound::Unbounded => true,
        };
        is_shorter.then_some(TimeRange { from: Bound::Included(from), ..range })
    }

    /// The beginnings of the first and the last bucket of a stretch of time; `None` where it has an end that is open, or holds nothing.
    #[must_use]
    pub fn ends(self, range: TimeRange) -> Option<(i64, i64)> {
        let first = match range.from {
            Bound::Included(ns) => ns,
            Bound::Excluded(ns) => ns.checked_add(1)?,
            Bound::Unbounded => return None,
        };
        let last = match range.to {
            Bound::Included(ns) => ns,
            Bound::Excluded(ns) => ns.checked_sub(1)?,
            Bound::Unbounded => return None,
        };
        (first <= last).then(|| (self.start_of(first), self.start_of(last)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_begins_at_a_multiple_of_its_width_also_before_the_epoch() {
        let width = BucketWidth::from_ns(10).unwrap();
        let starts = [-11, -10, -1, 0, 9, 10, i64::MAX].map(|ns| width.start_of(ns));
        assert_eq!(starts, [-20, -10, -10, 0, 0, 10, i64::MAX - 7]);
        assert_eq!(width.start_of(i64::MIN + 1), i64::MIN, "the bucket began before all time");
        assert_eq!((BucketWidth::from_ns(0), BucketWidth::from_ns(u64::MAX)), (None, None));
    }

    #[test]
    fn the_end_of_a_stretch_is_as_long_as_the_buckets_that_fill_it() {
        let width = BucketWidth::from_ns(10).unwrap();
        let before = |from, end| TimeRange { from, to: Bound::Excluded(end) };
        let first = |range, buckets| width.last_of(range, buckets).map(|end| end.from);
        assert_eq!(first(before(Bound::Unbounded, 21), 1), Some(Bound::Included(20)));
        assert_eq!(first(before(Bound::Unbounded, 20), 3), Some(Bound::Included(-10)));
        assert_eq!(first(before(Bound::Included(-11), 20), 3), Some(Bound::Included(-10)));
        assert_eq!(first(before(Bound::Included(-10), 20), 3), None, "it is no shorter");
        assert_eq!((first(TimeRange::ALL, 3), first(before(Bound::Unbounded, i64::MIN), 3)), (None, None));
        assert_eq!(
            (first(before(Bound::Unbounded, 20), 0), first(before(Bound::Unbounded, 20), u64::MAX)),
            (None, None)
        );
        assert_eq!(width.last_of(before(Bound::Unbounded, 20), 2).unwrap(), before(Bound::Included(0), 20));
    }

    #[test]
    fn the_buckets_of_a_stretch_are_those_that_hold_some_of_it() {
        let width = BucketWidth::from_ns(10).unwrap();
        assert_eq!(width.ends(TimeRange::half_open(5, 30)), Some((0, 20)));
        assert_eq!(width.ends(TimeRange { from: Bound::Excluded(9), to: Bound::Included(30) }), Some((10, 30)));
        assert_eq!(width.ends(TimeRange::half_open(5, 5)), None);
        assert_eq!(width.ends(TimeRange::ALL), None);
    }
}
