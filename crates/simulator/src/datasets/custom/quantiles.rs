//! Numbers that are distributed as a table of quantiles says.

use crate::{ParameterError, counter_hash::CounterHash};
use iotbench_core::Setting;
use serde::Deserialize;

/// Most quantiles of a table.
const MAX_QUANTILES: usize = 4096;
/// Most datapoints for which a value is held or drifts.
const MAX_DATAPOINTS: u64 = 1_000_000_000;

/// A distribution by its quantiles, from the smallest value to the largest at equal steps of probability, linear between them
/// (the inverse transform; Devroye, "Non-Uniform Random Variate Generation", 1986, II.2).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuantileTable {
    quantiles: Vec<f64>,
    hold: u64,
    smooth: u64,
}

impl Default for QuantileTable {
    fn default() -> Self {
        Self { quantiles: vec![0.0, 1.0], hold: 1, smooth: 1 }
    }
}

/// Its keys.
pub const QUANTILES: &[Setting] = &[
    Setting {
        key: "quantiles",
        default: "[0, 1]",
        help: "the smallest value, the quantiles at equal steps of probability, the largest; linear between them",
    },
    Setting { key: "hold", default: "1", help: "datapoints for which a value is held" },
    Setting {
        key: "smooth",
        default: "1",
        help: "held values over which it drifts from one random value to the next; 1: each is drawn by itself",
    },
];

impl QuantileTable {
    /// Whether the keys hold together.
    ///
    /// # Errors
    /// Too few or too many quantiles, some that fall, or times that are none.
    pub fn check(&self) -> Result<(), ParameterError> {
        if !(2..=MAX_QUANTILES).contains(&self.quantiles.len()) {
            return Err(ParameterError::key("quantiles", format!("there must be from 2 to {MAX_QUANTILES}")));
        }
        if !self.quantiles.is_sorted() {
            return Err(ParameterError::key("quantiles", "must not fall"));
        }
        for (key, datapoints) in [("hold", self.hold), ("smooth", self.smooth)] {
            if !(1..=MAX_DATAPOINTS).contains(&datapoints) {
                return Err(ParameterError::key(key, format!("must be from 1 to {MAX_DATAPOINTS}")));
            }
        }
        Ok(())
    }

    /// The smallest and the largest value.
    pub fn ends(&self) -> [f64; 2] {
        [self.quantiles.first(), self.quantiles.last()].map(|end| end.copied().unwrap_or(0.0))
    }

    /// The value of a device, given its random numbers, at an index.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place among at most 4096"
    )]
    pub fn value(&self, hash: CounterHash, index: u64) -> f64 {
        let probability = drifting(hash, index / self.hold, self.smooth);
        let place = probability * (self.quantiles.len() - 1) as f64;
        let below = (place as usize).min(self.quantiles.len() - 2);
        let (low, high) = (self.quantiles[below], self.quantiles[below + 1]);
        low + (high - low) * (place - below as f64)
    }
}

/// A number that is evenly distributed over `[0, 1]` at each place, and moves from one random number to the next in `steps` places:
/// the sum of two of them by their nearness, through its distribution function, which is piecewise quadratic.
#[expect(clippy::cast_precision_loss, reason = "below 1e9")]
fn drifting(hash: CounterHash, place: u64, steps: u64) -> f64 {
    let (knot, within) = (place / steps, place % steps);
    if within == 0 {
        return hash.unit(knot);
    }
    let far = within as f64 / steps as f64;
    let near = 1.0 - far;
    let sum = near * hash.unit(knot) + far * hash.unit(knot + 1);
    let (small, large) = if far < near { (far, near) } else { (near, far) };
    if sum < small {
        sum * sum / (2.0 * small * large)
    } else if sum <= large {
        (sum - small / 2.0) / large
    } else {
        1.0 - (1.0 - sum) * (1.0 - sum) / (2.0 * small * large)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drifting_numbers_are_evenly_distributed_at_every_place() {
        for steps in [1, 2, 7, 100] {
            for within in [0, 1, steps / 2, steps - 1] {
                let at = |n: u64| drifting(CounterHash::new(3), n * steps * 2 + within, steps);
                let mut numbers: Vec<f64> = (0..4000).map(at).collect();
                numbers.sort_by(f64::total_cmp);
                let far = numbers.iter().zip(0..).map(|(u, n)| (u - f64::from(n) / 4000.0).abs()).fold(0.0, f64::max);
                // Of 4000 even numbers the distance is above 0.0257 once in a hundred (Kolmogorov).
                assert!(far < 0.0257, "{steps} {within}: {far}");
            }
        }
    }

    #[test]
    fn drifting_numbers_move_less_the_longer_they_drift() {
        let moved = |steps: u64| {
            let at = |n| drifting(CounterHash::new(3), n, steps);
            (0..10_000).map(|n| (at(n + 1) - at(n)).abs()).sum::<f64>() / 10_000.0
        };
        assert!((moved(1) - 1.0 / 3.0).abs() < 0.01, "{}", moved(1));
        assert!(moved(4) < moved(2) && moved(2) < moved(1) && moved(100) < 0.005);
    }
}
