//! A random walk whose position at any index is known without walking there.

use crate::counter_hash::{CounterHash, scale};
use std::ops::Range;

/// A walk of random steps with mean 0 and standard deviation [`RandomWalk::UNIT`].
///
/// The steps are the leaves of binary trees over the blocks `[0, 1)`, `[1, 2)`, `[2, 4)`, `[4, 8)`, …: the total of a
/// block is random, and so is how a total divides between the two halves (a Brownian bridge, the midpoint construction
/// of Lévy). The position at index n is the sum of the blocks before it and of the halves on the way down to it:
/// O(log n), in integers, hence exact.
#[derive(Clone, Copy, Debug)]
pub struct RandomWalk {
    totals: CounterHash,
    splits: CounterHash,
}

impl RandomWalk {
    /// The standard deviation of a step.
    pub const UNIT: i64 = 1 << 16;
    /// No step is longer than this: √3 (1 + 1/√2 + 1/2 + …)/√2 units, as random parts are uniform at every level, and a
    /// little for rounding.
    pub const LONGEST_STEP: i64 = 274_100;

    /// A walk of its own for each stream.
    #[must_use]
    pub fn new(hash: CounterHash) -> Self {
        Self { totals: hash.derive(0), splits: hash.derive(1) }
    }

    /// The sum of the first `index` steps.
    #[must_use]
    pub fn position(self, index: u64) -> i64 {
        let Some(level) = index.checked_ilog2() else { return 0 };
        let before: i64 = (0..=level).map(|block| self.total(block)).sum();
        before + self.part(level, index - (1 << level))
    }

    /// The positions at these indices, in their order: those that lie together share the way down to them, so that each
    /// costs O(1) after the first.
    pub fn positions(self, indices: Range<u64>, mut each: impl FnMut(i64)) {
        let mut from = indices.start;
        if from == 0 && !indices.is_empty() {
            each(0);
            from = 1;
        }
        while from < indices.end {
            let level = from.ilog2();
            let start = 1_u64 << level;
            let counts = from - start..(indices.end - start).min(start);
            let before = (0..=level).map(|block| self.total(block)).sum();
            let root = Node { number: 1, level, first: 0, total: self.total(level + 1), before };
            root.positions(self.splits.derive(level.into()), &counts, &mut each);
            from = start + counts.end;
        }
    }

    /// The total of the block `[2^(n-1), 2^n)`; block 0 is `[0, 1)`.
    fn total(self, block: u32) -> i64 {
        symmetric(self.totals.at(block.into()), 2 * half_deviation(block.saturating_sub(1)))
    }

    /// The sum of the first `count` steps of the block `[2^level, 2^(level + 1))`.
    fn part(self, level: u32, mut count: u64) -> i64 {
        let mut total = self.total(level + 1);
        let mut node = 1_u64;
        let mut sum = 0;
        let splits = self.splits.derive(level.into());
        for below in (0..level).rev() {
            if count == 0 {
                break;
            }
            let left = (total >> 1) + symmetric(splits.at(node), half_deviation(below + 1));
            let goes_right = count >> below & 1 == 1;
            if goes_right {
                sum += left;
                total -= left;
                count -= 1 << below;
            } else {
                total = left;
            }
            node = 2 * node + u64::from(goes_right);
        }
        sum
    }
}

/// A part of a block that divides into two halves: `2^level` steps from the block's step `first` on.
struct Node {
    number: u64,
    level: u32,
    first: u64,
    total: i64,
    /// The position before its first step.
    before: i64,
}

impl Node {
    fn positions(&self, splits: CounterHash, counts: &Range<u64>, each: &mut impl FnMut(i64)) {
        let Some(below) = self.level.checked_sub(1) else { return each(self.before) };
        let middle = self.first + (1 << below);
        let left = (self.total >> 1) + symmetric(splits.at(self.number), half_deviation(self.level));
        if counts.start < middle {
            Self { number: 2 * self.number, level: below, total: left, ..*self }.positions(splits, counts, each);
        }
        if counts.end > middle {
            let (total, before) = (self.total - left, self.before + left);
            let right = Self { number: 2 * self.number + 1, level: below, first: middle, total, before };
            right.positions(splits, counts, each);
        }
    }
}

/// A counter that never falls: its increments vary from 0 to twice the mean (standard deviation 24 % of it), and its
/// value at any index is known in O(log n).
#[derive(Clone, Copy, Debug)]
pub struct Counter(RandomWalk);

impl Counter {
    /// The mean increment.
    pub const MEAN: i64 = RandomWalk::LONGEST_STEP;

    /// A counter of its own for each stream.
    #[must_use]
    pub fn new(hash: CounterHash) -> Self {
        Self(RandomWalk::new(hash))
    }

    /// The sum of the first `index` increments, in units of which [`Counter::MEAN`] are the mean increment.
    #[must_use]
    pub fn value(self, index: u64) -> i128 {
        Self::counted(index, self.0.position(index))
    }

    /// The values at these indices, in their order.
    pub fn values(self, indices: Range<u64>, mut each: impl FnMut(i128)) {
        let mut index = indices.start;
        self.0.positions(indices, |position| {
            each(Self::counted(index, position));
            index += 1;
        });
    }

    fn counted(index: u64, position: i64) -> i128 {
        i128::from(index) * i128::from(Self::MEAN) + i128::from(position)
    }
}

/// Half the range of a uniform number with half the standard deviation of `2^level` steps: √3/2 × 2^(level/2) units.
fn half_deviation(level: u32) -> i64 {
    const EVEN: i64 = 56_756; // √3/2 × 65,536
    const ODD: i64 = 80_265; // √3/2 × √2 × 65,536
    (if level.is_multiple_of(2) { EVEN } else { ODD }) << (level / 2)
}

/// Maps random bits to `-most..=most`.
fn symmetric(bits: u64, most: i64) -> i64 {
    scale(bits, 2 * most.unsigned_abs() + 1).cast_signed() - most
}

#[cfg(test)]
mod tests {
    use super::*;

    const WALK: fn(u64) -> RandomWalk = |seed| RandomWalk::new(CounterHash::new(seed));

    /// The steps of a block by dividing its total down to the leaves, without the shortcut of `part`.
    fn steps(walk: RandomWalk, level: u32) -> Vec<i64> {
        fn divide(walk: RandomWalk, block: u32, level: u32, node: u64, total: i64, steps: &mut Vec<i64>) {
            if level == 0 {
                return steps.push(total);
            }
            let left = (total >> 1) + symmetric(walk.splits.derive(block.into()).at(node), half_deviation(level));
            divide(walk, block, level - 1, 2 * node, left, steps);
            divide(walk, block, level - 1, 2 * node + 1, total - left, steps);
        }
        let mut steps = Vec::new();
        divide(walk, level, level, 1, walk.total(level + 1), &mut steps);
        steps
    }

    #[test]
    fn the_position_is_the_sum_of_the_steps() {
        for seed in 0..5 {
            let walk = WALK(seed);
            let all: Vec<i64> = std::iter::once(walk.total(0)).chain((0..11).flat_map(|k| steps(walk, k))).collect();
            assert_eq!(all.len(), 2048);
            let mut sum = 0;
            for (index, step) in (0..).zip(&all) {
                assert_eq!(walk.position(index), sum, "seed {seed}, index {index}");
                sum += step;
            }
        }
    }

    #[test]
    fn positions_that_are_asked_for_together_are_the_same() {
        for seed in 0..3 {
            for (first, count) in [(0, 0), (0, 1), (0, 300), (1, 70), (250, 300), (1 << 20, 1), ((1 << 40) - 40, 100)] {
                let (indices, mut together) = (first..first + count, Vec::new());
                WALK(seed).positions(indices.clone(), |position| together.push(position));
                assert_eq!(
                    together,
                    indices.clone().map(|i| WALK(seed).position(i)).collect::<Vec<_>>(),
                    "{first}+{count}"
                );
                let (counter, mut counted) = (Counter(WALK(seed)), Vec::new());
                counter.values(indices.clone(), |value| counted.push(value));
                assert_eq!(counted, indices.map(|i| counter.value(i)).collect::<Vec<_>>(), "{first}+{count}");
            }
        }
    }

    #[test]
    fn steps_are_bounded_and_as_long_as_they_should_be() {
        let walk = WALK(3);
        for start in [0, (1 << 20) - 50_000, 1 << 40] {
            let steps: Vec<i64> = (start..start + 100_000).map(|i| walk.position(i + 1) - walk.position(i)).collect();
            assert!(steps.iter().all(|s| s.abs() <= RandomWalk::LONGEST_STEP));
            let unit = 65_536.0;
            let deviation = (steps.iter().map(|&s| (s as f64 / unit).powi(2)).sum::<f64>() / steps.len() as f64).sqrt();
            assert!((deviation - 1.0).abs() < 0.05, "{deviation} after {start}");
        }
    }

    #[test]
    fn it_gets_as_far_as_a_random_walk() {
        let square = |seed| (WALK(seed).position(1 << 20) as f64 / 65_536.0 / 1024.0).powi(2);
        let mean_square = (0..1000).map(square).sum::<f64>() / 1000.0;
        assert!((0.85..1.15).contains(&mean_square), "{mean_square}");
    }

    #[test]
    fn a_counter_never_falls() {
        let counter = Counter::new(CounterHash::new(9));
        for start in [0, (1 << 16) - 1000, (1 << 40) - 1000] {
            assert!((start..start + 20_000).all(|i| counter.value(i + 1) >= counter.value(i)));
        }
    }
}
