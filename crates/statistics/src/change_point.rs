//! Where a series jumps from one level to another.

use crate::{
    autocorrelation::correlation_time,
    sample::{batches, mean},
    student,
};

/// A longer series is looked at in so many blocks: the search takes the square of their number.
const MAX_BLOCKS: usize = 300;

/// Neither side of a jump is shorter than this part of the series.
const MIN_PART: usize = 10;

/// A jump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The first value of the new level.
    pub at: usize,
    /// The mean before it.
    pub before: f64,
    /// The mean from it on.
    pub after: f64,
    /// How likely such a difference is at a place chosen beforehand; the place was searched for, so it
    /// has to be far smaller than for a test of its own.
    pub p_value: f64,
    /// The sum of squares that the two levels leave.
    pub(crate) squares_left: f64,
}

/// The place that divides a series best, by the energy distance of its two sides (E-divisive: Matteson and James 2014), and
/// the t test of their means instead of permutations (Hunter: Fleming et al., ICPE 2023), with the values' likeness to their
/// neighbours taken out.
///
/// `None`: fewer than 20 values.
#[must_use]
pub fn change_point(values: &[f64]) -> Option<ChangePoint> {
    let size = values.len().div_ceil(MAX_BLOCKS).max(1);
    let blocks = batches(values, size);
    let least = blocks.len() / MIN_PART;
    if least < 2 {
        return None;
    }
    let split = best_split(&blocks, least);
    let at = split * size;
    let (left, right) = values.split_at(at);
    let (before, after) = (mean(left), mean(right));
    let rest: Vec<f64> = left.iter().map(|v| v - before).chain(right.iter().map(|v| v - after)).collect();
    let squares_left: f64 = rest.iter().map(|rest| rest * rest).sum();
    let time = correlation_time(&rest);
    let count = values.len() as f64;
    let variance = squares_left / (count - 2.0) * time;
    let error = (variance / left.len() as f64 + variance / right.len() as f64).sqrt();
    let p_value = match (before == after, error > 0.0) {
        (true, _) => 1.0,
        (false, true) => student::two_sided_p((after - before) / error, count / time - 2.0),
        (false, false) => 0.0,
    };
    Some(ChangePoint { at, before, after, p_value, squares_left })
}

/// The number of blocks before the split with the greatest energy distance. One block after the other changes sides, and
/// the three sums of distances with it.
pub(crate) fn best_split(blocks: &[f64], least: usize) -> usize {
    let distances = |block: f64, side: &[f64]| side.iter().map(|other| (other - block).abs()).sum::<f64>();
    let (mut within_left, mut across) = (0.0, 0.0);
    let mut within_right: f64 = (0..blocks.len()).map(|i| distances(blocks[i], &blocks[i + 1..])).sum();
    let (mut best, mut greatest) = (least, f64::NEG_INFINITY);
    for (place, &block) in blocks.iter().enumerate() {
        let to_left = distances(block, &blocks[..place]);
        let to_right = distances(block, &blocks[place + 1..]);
        within_left += to_left;
        within_right -= to_right;
        across += to_right - to_left;
        let (left, right) = (place + 1, blocks.len() - place - 1);
        if left < least || right < least {
            continue;
        }
        let (n, m) = (left as f64, right as f64);
        let pairs = |count: f64| count * (count - 1.0) / 2.0;
        let energy = 2.0 / (n * m) * across - within_left / pairs(n) - within_right / pairs(m);
        let weighted = n * m / (n + m) * energy;
        if weighted > greatest {
            (best, greatest) = (left, weighted);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_found_where_it_is() {
        let mut random = fastrand::Rng::with_seed(5);
        for at in [30, 100, 170] {
            let values: Vec<f64> = (0..200).map(|i| if i < at { 10.0 } else { 12.0 } + random.f64()).collect();
            let found = change_point(&values).unwrap();
            assert_eq!(found.at, at);
            assert!(found.p_value < 1e-12 && (found.after - found.before - 2.0).abs() < 0.3, "{found:?}");
        }
    }

    #[test]
    fn a_constant_has_none_and_a_long_series_is_found_to_a_block() {
        assert!((change_point(&[1.0; 100]).unwrap().p_value - 1.0).abs() < f64::EPSILON);
        assert_eq!(change_point(&[1.0; 19]), None);
        let values: Vec<f64> = (0..10_000).map(|i| if i < 4_000 { 1.0 } else { 2.0 } + f64::from(i % 3)).collect();
        let found = change_point(&values).unwrap();
        assert!(found.at.abs_diff(4_000) <= 34, "{found:?}");
    }
}
