//! Counts of durations by bucket: a few of them as a list, more as an HDR histogram.

use std::{borrow::Cow, sync::LazyLock};

use hdrhistogram::Histogram;

/// The largest duration that is kept by value: 24 hours, in nanoseconds. Longer ones are counted as overflow.
pub const HIGHEST_NS: u64 = 86_400_000_000_000;

/// The unit of the buckets, in nanoseconds. A coarser unit would save a quarter of the memory, but a unit of 1 µs is an
/// error of 1 % at 50 µs: with 1 ns the error is at most 0.1 % from 1 µs upwards, and at most 1 ns below.
const UNIT_NS: u64 = 1;

/// Decimal digits kept: a relative error of at most 0.1 %.
const DIGITS: u8 = 3;

/// Durations kept as a list of 2 KiB. A second of a group that starts seldom has no more, and to add or to empty 304 KiB for
/// each of many such groups every second is most of what recording them costs.
pub(crate) const MAX_FEW: usize = 256;

/// The layout that all share.
static LAYOUT: LazyLock<Histogram<u64>> = LazyLock::new(lay_out);

/// Durations up to [`HIGHEST_NS`] by bucket. Takes memory with the first of them, and with the 257th the 304 KiB of a
/// histogram, which it keeps.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buckets {
    /// All of them, in the order of their recording, unless they are in `many`.
    few: Vec<u64>,
    /// All of them, unless it is empty.
    many: Option<Histogram<u64>>,
}

impl Buckets {
    /// Those of a histogram that is laid out as ours.
    pub(crate) fn of(histogram: Histogram<u64>) -> Self {
        Self { few: Vec::new(), many: Some(histogram) }
    }

    /// Counts a duration; false where it is too long.
    #[inline]
    pub(crate) fn record(&mut self, duration_ns: u64) -> bool {
        if duration_ns > HIGHEST_NS {
            return false;
        }
        match &mut self.many {
            Some(many) if !many.is_empty() => many.record(duration_ns).is_ok(),
            _ => {
                self.record_among_few(duration_ns);
                true
            }
        }
    }

    /// Counts a duration `count` times; false where it is too long.
    pub(crate) fn record_many(&mut self, duration_ns: u64, count: u64) -> bool {
        duration_ns <= HIGHEST_NS && self.many_mut().record_n(duration_ns, count).is_ok()
    }

    fn record_among_few(&mut self, duration_ns: u64) {
        if self.few.len() == MAX_FEW {
            count(self.many_mut(), &[duration_ns]);
            return;
        }
        if self.few.capacity() == 0 {
            self.few.reserve_exact(MAX_FEW);
        }
        self.few.push(duration_ns);
    }

    /// The histogram, with all that was recorded.
    fn many_mut(&mut self) -> &mut Histogram<u64> {
        let many = self.many.get_or_insert_with(empty);
        count(many, &self.few);
        self.few.clear();
        many
    }

    /// Adds all that `other` holds.
    pub(crate) fn add(&mut self, other: &Self) {
        other.few.iter().for_each(|&duration_ns| {
            self.record(duration_ns);
        });
        if let Some(others) = other.many.as_ref().filter(|others| !others.is_empty()) {
            add(self.many_mut(), others);
        }
    }

    /// Forgets all and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.few.clear();
        if let Some(many) = self.many.as_mut().filter(|many| !many.is_empty()) {
            many.reset();
        }
    }

    /// How many they are.
    pub(crate) fn len(&self) -> u64 {
        self.few.len() as u64 + self.many.as_ref().map_or(0, Histogram::len)
    }

    /// All of them as they were recorded, where they are few.
    pub(crate) fn few(&self) -> Option<&[u64]> {
        self.many.as_ref().is_none_or(Histogram::is_empty).then_some(&self.few)
    }

    /// The upper edge of the bucket of the duration of rank `rank`, 1 the smallest and at most [`len`](Self::len).
    pub(crate) fn at_rank(&self, rank: u64) -> u64 {
        let Some(few) = self.few() else {
            let histogram = self.histogram();
            // Half a rank lower, so that no rounding of the quotient can reach the next rank.
            let quantile = (rank as f64 - 0.5) / histogram.len() as f64;
            return histogram.value_at_quantile(quantile).min(HIGHEST_NS);
        };
        let mut sorted = few.to_vec();
        sorted.sort_unstable();
        let place = usize::try_from(rank.saturating_sub(1)).unwrap_or(usize::MAX);
        sorted.get(place).map_or(0, |&duration_ns| LAYOUT.highest_equivalent(duration_ns).min(HIGHEST_NS))
    }

    /// The middle of each bucket that holds something and how many it holds, ascending.
    pub(crate) fn recorded(&self) -> Vec<(u64, u64)> {
        let Some(few) = self.few() else {
            let histogram = self.histogram();
            let middle = |edge| histogram.median_equivalent(edge);
            return histogram.iter_recorded().map(|b| (middle(b.value_iterated_to()), b.count_at_value())).collect();
        };
        let mut middles: Vec<u64> = few.iter().map(|&duration_ns| LAYOUT.median_equivalent(duration_ns)).collect();
        middles.sort_unstable();
        let bucket = |same: &[u64]| same.first().map(|&middle| (middle, same.len() as u64));
        middles.chunk_by(|one, next| one == next).filter_map(bucket).collect()
    }

    /// All of them as a histogram.
    pub(crate) fn histogram(&self) -> Cow<'_, Histogram<u64>> {
        match (&self.many, self.few.as_slice()) {
            (Some(many), []) => Cow::Borrowed(many),
            (None, []) => Cow::Borrowed(&LAYOUT),
            (_, few) => {
                let mut histogram = empty();
                count(&mut histogram, few);
                Cow::Owned(histogram)
            }
        }
    }
}

/// The lower edge of a duration's bucket.
pub(crate) fn lower_edge(duration_ns: u64) -> u64 {
    LAYOUT.lowest_equivalent(duration_ns)
}

/// The histogram of nothing, laid out as all of ours are.
pub(crate) fn layout() -> &'static Histogram<u64> {
    &LAYOUT
}

/// Copied, which is sooner done than laid out.
fn empty() -> Histogram<u64> {
    LAYOUT.clone()
}

#[expect(clippy::expect_used, reason = "constant bounds; any test that makes a histogram proves them")]
fn lay_out() -> Histogram<u64> {
    Histogram::new_with_bounds(UNIT_NS, HIGHEST_NS, DIGITS).expect("the constant bounds are valid")
}

#[expect(clippy::expect_used, reason = "recording fails only for values beyond the bounds, which `record` leaves out")]
fn count(into: &mut Histogram<u64>, durations: &[u64]) {
    durations.iter().for_each(|&duration_ns| into.record(duration_ns).expect("within the bounds"));
}

#[expect(clippy::expect_used, reason = "adding fails only for values beyond the bounds, and all share one layout")]
fn add(into: &mut Histogram<u64>, from: &Histogram<u64>) {
    into.add(from).expect("all histograms share one layout of buckets");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// A list, a histogram, and any sum of both say the same of the same durations.
        #[test]
        fn few_and_many_say_the_same(
            durations in prop::collection::vec(prop_oneof![0..5_000_u64, 0..=HIGHEST_NS], 1..2 * MAX_FEW + 9),
            split in 0..2 * MAX_FEW + 9,
        ) {
            let mut pooled = empty();
            count(&mut pooled, &durations);
            let pooled = Buckets::of(pooled);
            let (head, tail) = durations.split_at(split.min(durations.len()));
            let of = |durations: &[u64]| {
                let mut buckets = Buckets::default();
                durations.iter().for_each(|&duration_ns| assert!(buckets.record(duration_ns)));
                buckets
            };
            let mut sum = of(head);
            sum.add(&of(tail));
            for buckets in [of(&durations), sum] {
                prop_assert_eq!(buckets.len(), durations.len() as u64);
                prop_assert_eq!(buckets.few().is_some(), durations.len() <= MAX_FEW);
                prop_assert_eq!(buckets.recorded(), pooled.recorded());
                prop_assert_eq!(&*buckets.histogram(), &*pooled.histogram());
                for rank in 1..=buckets.len() {
                    prop_assert_eq!(buckets.at_rank(rank), pooled.at_rank(rank), "rank {}", rank);
                }
            }
        }
    }

    #[test]
    fn what_is_cleared_begins_again() {
        let mut buckets = Buckets::default();
        for durations in [2 * MAX_FEW, 3, 0, MAX_FEW + 1] {
            (0..durations as u64).for_each(|duration_ns| assert!(buckets.record(duration_ns)));
            assert_eq!((buckets.recorded().len(), buckets.few().is_some()), (durations, durations <= MAX_FEW));
            buckets.clear();
            assert_eq!((buckets.len(), buckets.recorded().len()), (0, 0));
        }
        assert!(!buckets.record(HIGHEST_NS + 1) && buckets.len() == 0);
    }
}
