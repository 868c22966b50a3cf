//! For how long generated values are held and drift, so that they move as the recorded ones.

use super::reservoir::sorted;
use crate::{
    counter_hash::CounterHash,
    datasets::{CustomSignal, ShapeContext},
};
use iotbench_core::{Column, Run, Schema};
use serde_json::{Map, Value};

/// Values that are generated at a time to see how they move, and of all signals together.
const MAX_TRIED: usize = 4096;
const MAX_TRIED_OF_ALL: usize = 1 << 18;
/// They are of so many devices: a long drift has few values of its own.
const DEVICES: u32 = 8;
/// Over how many datapoints values may drift, in order.
const SMOOTH: [u64; 19] = [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 32, 50, 80, 128, 256, 512, 1024, 2048];
/// Smaller moves are none.
const LEAST_MOVE: f64 = 1e-6;
/// Longer than this nothing is held.
const MAX_HOLD: f64 = 1e6;

/// How values move from a datapoint of a device to its next.
#[derive(Clone, Copy, Debug)]
pub struct Moves {
    /// Part of the steps that change nothing.
    pub same: f64,
    /// The mean size of a step beside the mean distance of two values at random.
    pub moved: f64,
}

/// `hold` and `smooth` of a signal, one of so many, with these keys, of which generated values move most alike.
pub fn hold_and_smooth(recorded: Moves, keys: &Map<String, Value>, signals: usize) -> (u64, u64) {
    let tried = (MAX_TRIED_OF_ALL / signals.max(1)).clamp(256, MAX_TRIED);
    let generated = |hold, smooth| generated(keys, hold, smooth, tried);
    let by_itself = generated(1, 1);
    // A step that changes nothing is one within a hold, or two equal values by chance.
    let mean_hold = (1.0 - by_itself.same) / (1.0 - recorded.same).max(1.0 / MAX_HOLD);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 1e6")]
    let hold = mean_hold.round().clamp(1.0, MAX_HOLD) as u64;
    let mut best = (f64::INFINITY, (1, 1));
    for hold in if hold > 1 { vec![1, hold] } else { vec![1] } {
        for smooth in SMOOTH {
            let moves = if (hold, smooth) == (1, 1) { by_itself } else { generated(hold, smooth) };
            let size = (moves.moved.max(LEAST_MOVE) / recorded.moved.max(LEAST_MOVE)).ln();
            let unlike = size.abs() + 2.0 * (moves.same - recorded.same).abs();
            if unlike < best.0 {
                best = (unlike, (hold, smooth));
            }
            // The longer they drift the less they move.
            if size < -1.0 {
                break;
            }
        }
    }
    best.1
}

/// How generated values move.
fn generated(keys: &Map<String, Value>, hold: u64, smooth: u64, tried: usize) -> Moves {
    let mut keys = keys.clone();
    keys.insert("hold".into(), hold.into());
    keys.insert("smooth".into(), smooth.into());
    let context = ShapeContext { period_ns: 1_000_000_000, hash: CounterHash::new(7) };
    let nothing = Moves { same: 0.0, moved: 0.0 };
    let Ok(signal) = CustomSignal::new(0, keys, context.period_ns, context.hash) else { return nothing };
    let Ok(schema) = Schema::new(vec![signal.signal()]) else { return nothing };
    let Some(described) = schema.signals().first() else { return nothing };
    let mut column = Column::new(described.value_type);
    let stretch = u32::try_from(tried).unwrap_or(DEVICES) / DEVICES;
    (0..DEVICES).for_each(|device| signal.fill(Run { device, first: 0, count: stretch }, &mut column));
    let values: Vec<f64> = (0..column.len()).filter_map(|row| column.get(row)?.as_f64()).collect();
    let steps = || values.chunks(stretch as usize).flat_map(|of_device| of_device.windows(2).map(|w| w[1] - w[0]));
    let n = count(steps().count().max(1));
    let moved = steps().map(f64::abs).sum::<f64>() / n;
    Moves { same: count(steps().filter(|step| *step == 0.0).count()) / n, moved: moved / apart(&sorted(&values)) }
}

/// The mean distance of two values at random, of values in order (Gini's mean difference).
pub fn apart(sorted: &[f64]) -> f64 {
    let n = count(sorted.len());
    let weighted = |(place, value): (usize, &f64)| (2.0 * count(place) - n + 1.0) * value;
    let sum: f64 = sorted.iter().enumerate().map(weighted).sum();
    (2.0 * sum / (n * (n - 1.0).max(1.0))).max(f64::MIN_POSITIVE)
}

#[expect(clippy::cast_precision_loss, reason = "counts of datapoints")]
fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn two_values_at_random_are_as_far_apart_as_they_are() {
        assert_eq!(apart(&[1.0, 2.0, 4.0]), 2.0);
        assert!(apart(&[3.0, 3.0]) > 0.0, "a divisor");
    }

    #[test]
    fn what_was_held_and_drifted_is_found_again() {
        let keys = Map::from_iter([
            ("name".to_owned(), json!("x")),
            ("shape".to_owned(), json!("quantiles")),
            ("quantiles".to_owned(), json!([0, 1, 5, 40])),
        ]);
        for made in [(1, 1), (5, 1), (1, 10), (1, 80), (4, 6)] {
            let found = hold_and_smooth(generated(&keys, made.0, made.1, MAX_TRIED), &keys, 1);
            assert_eq!(found, made);
        }
    }
}
