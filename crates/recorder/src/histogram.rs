//! A histogram of durations with exact extremes.

use hdrhistogram::Histogram;

use crate::buckets::{Buckets, HIGHEST_NS, lower_edge};
use crate::quantile::{Level, Quantile};
use crate::rank_interval::rank_interval;

/// More values than this are no measurement, and would be beyond the exact ranks.
pub(crate) const MAX_VALUES: u64 = 1 << 52;

/// A histogram of durations in nanoseconds: an HDR histogram from 1 ns to [`HIGHEST_NS`] with 3 significant digits, and
/// beside it the exact count, minimum, maximum, sum and sum of squares. Empty it takes no memory, for 256 durations 2 KiB,
/// and from the next on 304 KiB more.
///
/// Durations above [`HIGHEST_NS`] are never clamped: they are counted in [`overflow`](Self::overflow), take part in the
/// exact figures, and stand above all others in the quantiles.
///
/// Histograms merge by adding, so the merge of any split equals the pooled sample, exactly.
#[derive(Debug, Clone)]
pub struct LatencyHistogram {
    buckets: Buckets,
    overflow: u64,
    min_ns: u64,
    max_ns: u64,
    sum_ns: u128,
    sum_squares: u128,
}

/// What a histogram knows beside its buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exact {
    pub overflow: u64,
    pub min_ns: u64,
    pub max_ns: u64,
    pub sum_ns: u128,
    pub sum_squares: u128,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl LatencyHistogram {
    /// An empty histogram. Its first duration allocates, its 257th does, and no other.
    #[must_use]
    pub fn new() -> Self {
        Self { buckets: Buckets::default(), overflow: 0, min_ns: u64::MAX, max_ns: 0, sum_ns: 0, sum_squares: 0 }
    }

    /// Records one duration.
    #[inline]
    pub fn record(&mut self, duration_ns: u64) {
        self.overflow += u64::from(!self.buckets.record(duration_ns));
        self.min_ns = self.min_ns.min(duration_ns);
        self.max_ns = self.max_ns.max(duration_ns);
        let wide = u128::from(duration_ns);
        self.sum_ns += wide;
        self.sum_squares = self.sum_squares.saturating_add(wide * wide);
    }

    /// Records one duration `count` times.
    pub fn record_many(&mut self, duration_ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        if !self.buckets.record_many(duration_ns, count) {
            self.overflow += count;
        }
        self.min_ns = self.min_ns.min(duration_ns);
        self.max_ns = self.max_ns.max(duration_ns);
        let (wide, count) = (u128::from(duration_ns), u128::from(count));
        self.sum_ns = self.sum_ns.saturating_add(wide.saturating_mul(count));
        self.sum_squares = self.sum_squares.saturating_add((wide * wide).saturating_mul(count));
    }

    /// Adds all that `other` holds.
    pub fn merge(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        self.buckets.add(&other.buckets);
        self.overflow += other.overflow;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_ns += other.sum_ns;
        self.sum_squares = self.sum_squares.saturating_add(other.sum_squares);
    }

    /// Forgets all values and keeps the memory.
    pub fn clear(&mut self) {
        if self.is_empty() {
            return;
        }
        self.buckets.clear();
        self.overflow = 0;
        self.min_ns = u64::MAX;
        self.max_ns = 0;
        self.sum_ns = 0;
        self.sum_squares = 0;
    }

    /// Durations recorded, overflow included.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.len() + self.overflow
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Durations above [`HIGHEST_NS`].
    #[must_use]
    pub fn overflow(&self) -> u64 {
        self.overflow
    }

    /// The exact smallest duration, `None` when empty.
    #[must_use]
    pub fn min_ns(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.min_ns)
    }

    /// The exact largest duration, `None` when empty.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.max_ns)
    }

    /// The exact sum of all durations.
    #[must_use]
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The mean, from the exact sum; `None` when empty.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum_ns as f64 / self.count() as f64)
    }

    /// The standard deviation of the sample (divisor n − 1), from exact integer sums; `None` below two durations.
    #[must_use]
    pub fn std_dev_ns(&self) -> Option<f64> {
        let count = u128::from(self.count());
        if count < 2 {
            return None;
        }
        // Squares about the whole part m of the mean, Σ(x−m)² = Σx² − m(Σx + r) with r = Σx − nm: the large terms cancel
        // as integers, before anything is rounded.
        let whole_mean = self.sum_ns / count;
        let rest = self.sum_ns % count;
        let about_whole_mean = self.sum_squares.saturating_sub(whole_mean.saturating_mul(self.sum_ns + rest));
        let rest = rest as f64;
        let about_mean = about_whole_mean as f64 - rest * rest / count as f64;
        Some((about_mean.max(0.0) / (count - 1) as f64).sqrt())
    }

    /// The duration at `level`, whether or not the sample is large enough to support it; `None` when empty.
    ///
    /// This is the upper edge of the bucket, as in every HDR histogram, within [min, max]. Print
    /// [`quantile`](Self::quantile) instead.
    #[must_use]
    pub fn value_at(&self, level: Level) -> Option<u64> {
        (!self.is_empty()).then(|| self.value_at_rank(level.rank(self.count())))
    }

    /// The duration at `level` with its 95 % confidence interval, or how many samples are missing.
    #[must_use]
    pub fn quantile(&self, level: Level) -> Quantile {
        let have = self.count();
        let needed = level.samples_needed();
        if have < needed {
            return Quantile::Unsupported { needed, have };
        }
        let ranks = rank_interval(have, level);
        Quantile::Value {
            ns: self.value_at_rank(level.rank(have)),
            ci_low_ns: self.lowest_at_rank(ranks.low),
            ci_high_ns: Some(self.value_at_rank(ranks.high)),
        }
    }

    /// The duration of rank `rank` (1 is the smallest), rounded up to its bucket's upper edge, within [min, max]. A rank
    /// in the overflow, where no values are kept, gives the exact maximum.
    pub(crate) fn value_at_rank(&self, rank: u64) -> u64 {
        let kept = self.buckets.len();
        if rank > kept {
            return self.max_ns;
        }
        self.buckets.at_rank(rank).clamp(self.min_ns, self.max_ns)
    }

    /// As `value_at_rank`, rounded down.
    pub(crate) fn lowest_at_rank(&self, rank: u64) -> u64 {
        let lowest = if rank > self.buckets.len() { HIGHEST_NS + 1 } else { lower_edge(self.value_at_rank(rank)) };
        lowest.clamp(self.min_ns, self.max_ns)
    }

    /// The middle of each bucket that holds something, in nanoseconds, and how many durations it holds, ascending; the
    /// overflow has none.
    pub fn recorded(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        self.buckets.recorded().into_iter()
    }

    /// The buckets, without overflow and exact figures.
    pub(crate) fn buckets(&self) -> &Buckets {
        &self.buckets
    }

    pub(crate) fn exact(&self) -> Exact {
        let Self { overflow, min_ns, max_ns, sum_ns, sum_squares, .. } = *self;
        Exact { overflow, min_ns, max_ns, sum_ns, sum_squares }
    }

    /// The same buckets with other exact figures; `None` where they cannot belong to these buckets.
    pub(crate) fn with_exact(self, exact: Exact) -> Option<Self> {
        let Exact { overflow, min_ns, max_ns, sum_ns, sum_squares } = exact;
        let count = u128::from(self.buckets.len()) + u128::from(overflow);
        // The outer edges of the buckets; what lies beyond has overflowed.
        let edges = self.min_ns..=self.max_ns;
        let is_own = (1..=u128::from(MAX_VALUES)).contains(&count)
            && (overflow > 0 || (edges.contains(&min_ns) && edges.contains(&max_ns)))
            && min_ns <= max_ns
            && (overflow == 0 || max_ns > HIGHEST_NS)
            && (count * u128::from(min_ns)..=count * u128::from(max_ns)).contains(&sum_ns);
        is_own.then_some(Self { buckets: self.buckets, overflow, min_ns, max_ns, sum_ns, sum_squares })
    }

    /// A histogram of `buckets` alone, which are laid out as our own. What a bucket does not tell is estimated: minimum and
    /// maximum are the outer edges of the outermost buckets, the sums use the buckets' middles.
    pub(crate) fn from_buckets(buckets: Histogram<u64>) -> Self {
        let mut histogram = Self::new();
        for step in buckets.iter_recorded() {
            let middle = u128::from(buckets.median_equivalent(step.value_iterated_to()));
            let count = u128::from(step.count_at_value());
            histogram.sum_ns = histogram.sum_ns.saturating_add(middle.saturating_mul(count));
            histogram.sum_squares = histogram.sum_squares.saturating_add((middle * middle).saturating_mul(count));
        }
        if !buckets.is_empty() {
            histogram.min_ns = buckets.min();
            histogram.max_ns = buckets.max();
        }
        Self { buckets: Buckets::of(buckets), ..histogram }
    }
}

impl PartialEq for LatencyHistogram {
    fn eq(&self, other: &Self) -> bool {
        self.exact() == other.exact() && self.buckets.recorded() == other.buckets.recorded()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(durations: &[u64]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        durations.iter().for_each(|&duration_ns| histogram.record(duration_ns));
        histogram
    }

    #[test]
    fn two_durations_have_a_standard_deviation() {
        assert_eq!((of(&[1, 3]).std_dev_ns(), of(&[1]).std_dev_ns()), (Some(2.0_f64.sqrt()), None));
        // The mean is 2 / 4: what is left of the sum beyond whole means counts by its square.
        assert_eq!(of(&[0, 0, 0, 2]).std_dev_ns(), Some(1.0));
    }

    /// {1, 5, 6} and {2, 3, 7} have the same sum and the same sum of squares.
    #[test]
    fn histograms_are_equal_by_their_exact_figures_and_by_their_buckets() {
        assert_eq!(of(&[0, 1, 5, 6, 10]).exact(), of(&[0, 2, 3, 7, 10]).exact());
        assert_ne!(of(&[0, 1, 5, 6, 10]), of(&[0, 2, 3, 7, 10]));
        let (near, nearer) = (of(&[1_000_000_000]), of(&[1_000_000_001]));
        assert_eq!(near.buckets().recorded(), nearer.buckets().recorded());
        assert_ne!(near, nearer);
        assert_eq!(of(&[7, 5]), of(&[5, 7]));
    }

    /// Two durations of 1,000 ns, which is a bucket of its own.
    #[test]
    fn exact_figures_that_cannot_belong_to_the_buckets_are_refused() {
        let with = |overflow, min_ns, max_ns, sum_ns| {
            of(&[1_000, 1_000]).with_exact(Exact { overflow, min_ns, max_ns, sum_ns, sum_squares: 0 }).is_some()
        };
        assert!(with(0, 1_000, 1_000, 2_000));
        assert!(!with(0, 999, 1_000, 1_999) && !with(0, 1_000, 1_001, 2_001), "beyond the bucket");
        assert!(!with(0, 1_000, 1_000, 1_999) && !with(0, 1_000, 1_000, 2_001), "no sum of two such");
        let beyond = HIGHEST_NS + 1;
        assert!(with(1, 1_000, beyond, 2_000 + u128::from(beyond)));
        assert!(!with(1, 1_000, HIGHEST_NS, 2_000 + u128::from(HIGHEST_NS)), "the longest that does not overflow");
    }

    #[test]
    fn the_last_rank_is_rounded_down_to_its_bucket_too() {
        let histogram = of(&[100, 200, 1_000_000_123]);
        assert_eq!((histogram.value_at_rank(3), histogram.lowest_at_rank(3)), (1_000_000_123, 999_817_216));
        assert_eq!(histogram.lowest_at_rank(2), 200);
    }
}
