//! Which of a number of values comes up.

use crate::{
    ParameterError,
    alias::AliasTable,
    counter_hash::{CounterHash, scale},
};

/// Most values that can have weights of their own.
const MAX_WEIGHTED: u32 = 1 << 20;
const MAX_SKEW: u32 = 4;

/// A choice among values.
#[derive(Debug)]
pub enum Choice {
    /// All of so many equally often.
    Even(u32),
    /// Each as often as it weighs.
    Weighted(AliasTable),
}

impl Choice {
    /// Among `count` values, of which the n-th comes up in proportion to 1 / n^skew (Zipf's law).
    ///
    /// # Errors
    /// No value, a skew above 4, or more than 2^20 values of unequal weight.
    pub fn skewed(count: u32, skew: u32) -> Result<Self, ParameterError> {
        if count == 0 {
            return Err(ParameterError::key("cardinality", "must be at least 1"));
        }
        if skew == 0 {
            return Ok(Self::Even(count));
        }
        if skew > MAX_SKEW || count > MAX_WEIGHTED {
            let message = format!("must be from 0 to {MAX_SKEW}, and 0 for a cardinality above {MAX_WEIGHTED}");
            return Err(ParameterError::key("skew", message));
        }
        let weight = |n| (0..skew).fold(1.0, |weight, _| weight / f64::from(n));
        Self::weighted(&(1..=count).map(weight).collect::<Vec<f64>>())
    }

    /// Among as many values as there are weights.
    ///
    /// # Errors
    /// Weights that are negative, not finite, or all 0.
    pub fn weighted(weights: &[f64]) -> Result<Self, ParameterError> {
        let table = AliasTable::new(weights);
        table.map(Self::Weighted).ok_or_else(|| ParameterError::key("weights", "must not be negative nor all 0"))
    }

    /// The value at this place of a stream.
    #[must_use]
    pub fn at(&self, hash: CounterHash, place: u64) -> u32 {
        let bits = hash.at(place);
        match self {
            #[expect(clippy::cast_possible_truncation, reason = "below a 32-bit bound")]
            Self::Even(count) => scale(bits, u64::from(*count)) as u32,
            Self::Weighted(table) => table.draw(bits),
        }
    }
}
