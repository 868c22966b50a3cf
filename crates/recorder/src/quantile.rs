//! Levels of quantiles, and quantiles that know whether the sample supports them.

const MILLION: u32 = 1_000_000;

/// How many samples must lie beyond a quantile for it to be reported.
const SAMPLES_BEYOND: u64 = 10;

/// The level of a quantile, strictly between 0 and 1, as parts per million: ranks and sample sizes stay exact integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level {
    parts_per_million: u32,
}

impl Level {
    /// The median.
    pub const P50: Self = Self { parts_per_million: 500_000 };
    /// The 90th percentile.
    pub const P90: Self = Self { parts_per_million: 900_000 };
    /// The 95th percentile.
    pub const P95: Self = Self { parts_per_million: 950_000 };
    /// The 99th percentile.
    pub const P99: Self = Self { parts_per_million: 990_000 };
    /// The 99.9th percentile.
    pub const P999: Self = Self { parts_per_million: 999_000 };

    /// The level of `parts_per_million`, `None` unless it is strictly between 0 and 1,000,000.
    #[must_use]
    pub const fn from_parts_per_million(parts_per_million: u32) -> Option<Self> {
        if parts_per_million == 0 || parts_per_million >= MILLION { None } else { Some(Self { parts_per_million }) }
    }

    /// The level as a fraction of 1.
    #[must_use]
    pub fn fraction(self) -> f64 {
        f64::from(self.parts_per_million) / f64::from(MILLION)
    }

    /// The smallest sample that supports this level: 10 / (1 − q), so that ten samples are expected beyond it (below the
    /// median 10 / q, by symmetry).
    #[must_use]
    pub fn samples_needed(self) -> u64 {
        let tail = self.parts_per_million.min(MILLION - self.parts_per_million);
        (SAMPLES_BEYOND * u64::from(MILLION)).div_ceil(u64::from(tail))
    }

    /// The rank ⌈n·q⌉ of this level among `count` sorted samples, 1 being the smallest.
    #[must_use]
    pub(crate) fn rank(self, count: u64) -> u64 {
        let scaled = u128::from(count) * u128::from(self.parts_per_million);
        // A share of `count` fits where `count` does.
        u64::try_from(scaled.div_ceil(u128::from(MILLION))).unwrap_or(count).max(1)
    }
}

/// A quantile of a sample, or the reason why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantile {
    /// The sample supports the quantile.
    Value {
        /// The quantile in nanoseconds.
        ns: u64,
        /// Lower end of its 95 % confidence interval.
        ci_low_ns: u64,
        /// Upper end of its 95 % confidence interval; `None`: it lies among durations that were not seen to their end.
        ci_high_ns: Option<u64>,
    },
    /// It lies among durations that were not seen to their end.
    AtLeast {
        /// A lower bound in nanoseconds.
        ns: u64,
    },
    /// The sample is too small.
    Unsupported {
        /// Samples that the level needs.
        needed: u64,
        /// Samples that there are.
        have: u64,
    },
}

impl Quantile {
    /// The quantile in nanoseconds where the sample supports it and it is known.
    #[must_use]
    pub fn ns(self) -> Option<u64> {
        match self {
            Self::Value { ns, .. } => Some(ns),
            Self::AtLeast { .. } | Self::Unsupported { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Level;

    #[test]
    fn a_level_needs_ten_samples_beyond_it() {
        let needed = [Level::P50, Level::P90, Level::P95, Level::P99, Level::P999].map(Level::samples_needed);
        assert_eq!(needed, [20, 100, 200, 1_000, 10_000]);
    }

    #[test]
    fn ranks_are_exact_where_floats_are_not() {
        assert_eq!(Level::P99.rank(1_000), 990);
        assert_eq!(Level::P90.rank(10), 9);
        assert_eq!(Level::P999.rank(1), 1);
        assert_eq!(Level::P999.rank(u64::MAX), 18_428_297_329_635_842_064);
    }

    #[test]
    fn levels_lie_strictly_between_0_and_1() {
        assert_eq!(Level::from_parts_per_million(0), None);
        assert_eq!(Level::from_parts_per_million(1_000_000), None);
        assert_eq!(Level::from_parts_per_million(990_000), Some(Level::P99));
    }
}
