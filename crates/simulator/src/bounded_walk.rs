//! A random walk that is held between two ends.

use crate::{counter_hash::CounterHash, random_walk::RandomWalk};
use std::{f64::consts::FRAC_1_SQRT_2, ops::Range};

#[expect(clippy::cast_precision_loss, reason = "65,536 is exact")]
const UNITS: f64 = RandomWalk::UNIT as f64;

/// A random walk from a start between two ends, whose value at any index is known.
///
/// A walk that is cut off at its ends at every step (`min(max(value + step, low), high)`) can only be known by walking
/// there. This one is reflected instead, a little beyond each end, and what is beyond an end counts as the end. With the
/// mirror 1/√2 standard deviations of a step beyond (the mean by which a walk first passes a line: Spitzer 1960), it is at its
/// ends as often as a walk that is cut off.
#[derive(Clone, Copy, Debug)]
pub struct BoundedWalk {
    walk: RandomWalk,
    low: f64,
    high: f64,
    /// The standard deviation of a step.
    deviation: f64,
    /// How far the start is from the lower mirror, and the upper mirror from it, in units of the walk.
    start: i64,
    span: i64,
}

impl BoundedWalk {
    /// A walk of its own for each stream, whose steps have this standard deviation.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "far below 2^63")]
    pub fn new(hash: CounterHash, low: f64, high: f64, deviation: f64, start: f64) -> Self {
        let units = |distance: f64| ((distance / deviation + FRAC_1_SQRT_2) * UNITS) as i64;
        let span = units(high - low) + (FRAC_1_SQRT_2 * UNITS) as i64;
        Self { walk: RandomWalk::new(hash), low, high, deviation, start: units(start - low), span }
    }

    /// Its values at these indices, in their order.
    pub fn values(self, indices: Range<u64>, mut each: impl FnMut(f64)) {
        self.walk.positions(indices, |position| each(self.value(position)));
    }

    fn value(self, position: i64) -> f64 {
        let turn = (self.start + position).rem_euclid(2 * self.span);
        let folded = turn.min(2 * self.span - turn);
        #[expect(clippy::cast_precision_loss, reason = "the nearest will do")]
        let deviations = folded as f64 / UNITS - FRAC_1_SQRT_2;
        (self.low + deviations * self.deviation).clamp(self.low, self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise;

    fn walked(seed: u64, high: f64, indices: Range<u64>) -> Vec<f64> {
        let mut values = Vec::new();
        BoundedWalk::new(CounterHash::new(seed), 0.0, high, 1.0, high / 2.0).values(indices, |v| values.push(v));
        values
    }

    /// What the walk stands for: one that is cut off at its ends at every step.
    fn cut_off(seed: u64, high: f64, count: u64) -> Vec<f64> {
        let hash = CounterHash::new(seed);
        let mut value = high / 2.0;
        let step = |index| {
            value = (value + noise::normal_at(hash, index)).clamp(0.0, high);
            value
        };
        (0..count).map(step).collect()
    }

    #[test]
    fn it_begins_at_its_start_and_stays_between_its_ends() {
        for start in [-90.0, -12.25, 0.0, 90.0] {
            let walk = BoundedWalk::new(CounterHash::new(1), -90.0, 90.0, 0.5, start);
            let mut values = Vec::new();
            for indices in [0..2000, (1 << 40)..(1 << 40) + 2000] {
                walk.values(indices, |v| values.push(v));
            }
            assert!((values[0] - start).abs() < 1e-4, "{} is not {start}", values[0]);
            assert!(values.iter().all(|v| (-90.0..=90.0).contains(v)));
        }
    }

    #[test]
    fn its_steps_are_as_long_as_they_should_be() {
        let values = walked(2, 100.0, 0..200_000);
        let inside = |w: &&[f64]| w.iter().all(|v| (5.0..95.0).contains(v));
        let steps: Vec<f64> = values.windows(2).filter(inside).map(|w| w[1] - w[0]).collect();
        let n = steps.len() as f64;
        let (mean, square) = (steps.iter().sum::<f64>() / n, steps.iter().map(|s| s * s).sum::<f64>() / n);
        assert!(mean.abs() < 0.02 && (square.sqrt() - 1.0).abs() < 0.05, "mean {mean}, square {square}");
        assert!(values.windows(2).all(|w| (w[1] - w[0]).abs() < 4.2));
    }

    #[test]
    fn it_is_everywhere_as_often_as_a_walk_that_is_cut_off() {
        for high in [5.0, 20.0] {
            let (count, seeds) = (200_000, 0..20);
            let shares = |of: &dyn Fn(u64) -> Vec<f64>| {
                let mut counts = [0_u32; 12];
                for value in seeds.clone().flat_map(of) {
                    let tenth = (1..10).filter(|n| value >= high * f64::from(*n) / 10.0).count();
                    counts[if value <= 0.0 {
                        10
                    } else if value >= high {
                        11
                    } else {
                        tenth
                    }] += 1;
                }
                counts.map(|n| f64::from(n) / (count as f64 * 20.0))
            };
            let (ours, theirs) = (shares(&|s| walked(s, high, 0..count)), shares(&|s| cut_off(s, high, count)));
            let near = ours.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 0.015);
            assert!(near && ours[10] > 0.02 && ours[11] > 0.02, "up to {high}: {ours:.3?} against {theirs:.3?}");
        }
    }
}
