//! Durations of which some were not seen to their end: bounds, never figures of the survivors alone.

use crate::histogram::LatencyHistogram;
use crate::quantile::{Level, Quantile};
use crate::rank_interval::rank_interval;

/// A distribution of which some durations are only known to have lasted at least so long, and others never began and so never
/// end. (Tene, "How not to measure latency"; censored data in Lawless, Statistical Models and Methods for Lifetime Data.)
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bounded {
    known: LatencyHistogram,
    /// All at their least; `None`: all are known.
    at_least: Option<LatencyHistogram>,
}

/// Bounds of a quantile of durations of which some were not seen to their end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuantileBounds {
    /// The quantile had each of these ended when it was last seen.
    pub at_least_ns: u64,
    /// The quantile had none of them ever ended: `None` when that is without bound.
    pub at_most_ns: Option<u64>,
}

impl QuantileBounds {
    /// Whether both bounds are the same, but for what a histogram rounds.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.at_most_ns.is_some_and(|at_most_ns| at_most_ns - at_most_ns / 256 <= self.at_least_ns)
    }
}

impl From<&LatencyHistogram> for Bounded {
    /// Durations that were all seen to their end.
    fn from(known: &LatencyHistogram) -> Self {
        Self { known: known.clone(), at_least: None }
    }
}

impl Bounded {
    /// Of durations that are `known`, of those that lasted longer than they are in `unended`, and of those of what has waited as
    /// long as in `unbegun` without having begun. The last are infinite: they stand above all others, at the greatest that was
    /// seen of any.
    #[must_use]
    pub fn new(
        known: &LatencyHistogram,
        unended: Option<&LatencyHistogram>,
        unbegun: Option<&LatencyHistogram>,
    ) -> Self {
        let count = |of: Option<&LatencyHistogram>| of.map_or(0, LatencyHistogram::count);
        let at_least = || {
            let mut all = known.clone();
            unended.into_iter().for_each(|unended| all.merge(unended));
            let greatest_ns = all.max_ns().max(unbegun.and_then(LatencyHistogram::max_ns)).unwrap_or_default();
            all.record_many(greatest_ns, count(unbegun));
            all
        };
        let at_least = (count(unended) + count(unbegun) > 0).then(at_least);
        Self { known: known.clone(), at_least }
    }

    /// From the known durations and all of them at their least; `None` where the latter are fewer.
    #[must_use]
    pub fn from_parts(known: LatencyHistogram, at_least: Option<LatencyHistogram>) -> Option<Self> {
        let is_fewer = |all: &LatencyHistogram| all.count() < known.count();
        (!at_least.as_ref().is_some_and(is_fewer)).then_some(Self { known, at_least })
    }

    /// Adds all that `other` holds.
    pub fn merge(&mut self, other: &Self) {
        if other.at_least.is_some() || self.at_least.is_some() {
            self.at_least.get_or_insert_with(|| self.known.clone()).merge(other.at_least());
        }
        self.known.merge(&other.known);
    }

    /// The durations that were seen to their end.
    #[must_use]
    pub fn known(&self) -> &LatencyHistogram {
        &self.known
    }

    /// All durations at their least. Each figure of them is a lower bound.
    #[must_use]
    pub fn at_least(&self) -> &LatencyHistogram {
        self.at_least.as_ref().unwrap_or(&self.known)
    }

    /// All durations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.at_least().count()
    }

    /// Whether all were seen to their end.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.at_least.is_none()
    }

    /// The mean, where all are known.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        self.known.mean_ns().filter(|_| self.is_known())
    }

    /// The greatest, where all are known.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        self.known.max_ns().filter(|_| self.is_known())
    }

    /// The least, where nothing that was not seen to its end can be less.
    #[must_use]
    pub fn min_ns(&self) -> Option<u64> {
        self.known.min_ns().filter(|known_ns| self.at_least().min_ns() == Some(*known_ns))
    }

    /// What can be said of the duration at `level`, whether or not the sample supports it; `None` when there are none.
    #[must_use]
    pub fn bounds(&self, level: Level) -> Option<QuantileBounds> {
        let count = self.count();
        (count > 0).then(|| self.bounds_at_rank(level.rank(count)))
    }

    fn bounds_at_rank(&self, rank: u64) -> QuantileBounds {
        let at_most_ns = (rank <= self.known.count()).then(|| self.known.value_at_rank(rank));
        QuantileBounds { at_least_ns: self.at_least().lowest_at_rank(rank), at_most_ns }
    }

    /// The duration at `level` if the sample supports it and those that were not seen to their end do not matter.
    #[must_use]
    pub fn quantile(&self, level: Level) -> Quantile {
        let found = self.at_least().quantile(level);
        let (Quantile::Value { ci_low_ns, .. }, Some(bounds)) = (found, self.bounds(level)) else { return found };
        let at_most_ns = bounds.at_most_ns.filter(|_| bounds.is_known());
        let Some(ns) = at_most_ns else { return Quantile::AtLeast { ns: bounds.at_least_ns } };
        let high = self.bounds_at_rank(rank_interval(self.count(), level).high);
        Quantile::Value { ns, ci_low_ns, ci_high_ns: high.at_most_ns.filter(|_| high.is_known()) }
    }
}
