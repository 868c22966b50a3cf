//! The confidence interval of a quantile by order statistics.

use crate::quantile::Level;

const CONFIDENCE: f64 = 0.95;

/// The standard normal quantile of 0.975.
const NORMAL_975: f64 = 1.959_963_984_540_054;

/// Above this sample size the normal approximation stands in: its error in rank is far below the width.
const EXACT_UP_TO: u64 = 100_000_000;

/// Ranks, 1 being the smallest sample, of the two order statistics that enclose a quantile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RankInterval {
    pub(crate) low: u64,
    pub(crate) high: u64,
}

/// The closest ranks l < u with P(l ≤ B ≤ u − 1) ≥ 95 % for B ~ Binomial(`count`, `level`): the quantile lies between
/// the order statistics l and u with that probability, whatever the distribution of the independent samples
/// (Le Boudec, Performance Evaluation of Computer and Communication Systems). `count` must not be 0.
pub(crate) fn rank_interval(count: u64, level: Level) -> RankInterval {
    let (first, last) = if count <= EXACT_UP_TO {
        shortest_likely_range(count, level.fraction())
    } else {
        normal_range(count, level.fraction())
    };
    RankInterval { low: first.clamp(1, count), high: last.saturating_add(1).clamp(1, count) }
}

/// The shortest range of outcomes that a binomial variable takes with the probability `CONFIDENCE`. The distribution has
/// one peak, so the range grows from there, each time to the likelier side. Probabilities are relative to the peak's, and
/// their total comes from the same recurrence: no factorials, no loss of digits for large samples.
fn shortest_likely_range(count: u64, share: f64) -> (u64, u64) {
    let peak = floor_u64((count as f64 + 1.0) * share).min(count);
    let wanted = CONFIDENCE * total_weight(count, share, peak);
    let (mut first, mut last, mut weight) = (peak, peak, 1.0);
    let mut below = weight_below(1.0, count, share, first);
    let mut above = weight_above(1.0, count, share, last);
    while weight < wanted && (below > 0.0 || above > 0.0) {
        if below > above {
            weight += below;
            first -= 1;
            below = weight_below(below, count, share, first);
        } else {
            weight += above;
            last += 1;
            above = weight_above(above, count, share, last);
        }
    }
    (first, last)
}

fn total_weight(count: u64, share: f64, peak: u64) -> f64 {
    const NEGLIGIBLE: f64 = 1e-18;
    let mut total = 1.0;
    let (mut outcome, mut weight) = (peak, weight_below(1.0, count, share, peak));
    while weight > NEGLIGIBLE {
        total += weight;
        outcome -= 1;
        weight = weight_below(weight, count, share, outcome);
    }
    (outcome, weight) = (peak, weight_above(1.0, count, share, peak));
    while weight > NEGLIGIBLE {
        total += weight;
        outcome += 1;
        weight = weight_above(weight, count, share, outcome);
    }
    total
}

/// The weight of `outcome` − 1, from `weight`, that of `outcome`; 0 below the smallest outcome.
fn weight_below(weight: f64, count: u64, share: f64, outcome: u64) -> f64 {
    weight * outcome as f64 / (count - outcome + 1) as f64 * (1.0 - share) / share
}

/// The weight of `outcome` + 1, from `weight`, that of `outcome`; 0 above the largest outcome.
fn weight_above(weight: f64, count: u64, share: f64, outcome: u64) -> f64 {
    weight * (count - outcome) as f64 / (outcome + 1) as f64 * share / (1.0 - share)
}

fn normal_range(count: u64, share: f64) -> (u64, u64) {
    let mean = count as f64 * share;
    let half_width = NORMAL_975 * (mean * (1.0 - share)).sqrt();
    (floor_u64(mean - half_width), floor_u64((mean + half_width).ceil()))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating is right: 0 below, MAX above")]
fn floor_u64(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::{RankInterval, normal_range, rank_interval, shortest_likely_range};
    use crate::quantile::Level;

    /// P(first ≤ B ≤ last) by the plain sum of the binomial terms of a fair coin, n ≤ 60: exact in f64.
    fn fair_coin_probability(count: u64, first: u64, last: u64) -> f64 {
        let mut term = 0.5_f64.powi(i32::try_from(count).unwrap());
        let mut sum = 0.0;
        for outcome in 0..=last {
            if outcome >= first {
                sum += term;
            }
            term *= (count - outcome) as f64 / (outcome + 1) as f64;
        }
        sum
    }

    #[test]
    fn medians_interval_is_the_shortest_that_covers() {
        for count in 20..=60 {
            let RankInterval { low, high } = rank_interval(count, Level::P50);
            assert!(fair_coin_probability(count, low, high - 1) >= 0.95, "n = {count}");
            let width = high - low;
            for other in 0..=count - width + 1 {
                let shorter = fair_coin_probability(count, other, other + width - 2);
                assert!(shorter < 0.95, "n = {count}: {other}..{} suffices", other + width - 2);
            }
        }
    }

    #[test]
    fn normal_approximation_continues_the_exact_ranks() {
        for level in [Level::P50, Level::P99, Level::P999] {
            let exact = shortest_likely_range(50_000_000, level.fraction());
            let normal = normal_range(50_000_000, level.fraction());
            assert!(exact.0.abs_diff(normal.0) <= 3 && exact.1.abs_diff(normal.1) <= 3, "{exact:?} {normal:?}");
        }
    }

    /// Of 20 samples all lie below p99 with 81.8 %, and all or all but one with 98.3 %; of the first percentile the same above.
    #[test]
    fn at_the_ends_the_range_grows_to_the_one_side_that_there_is() {
        assert_eq!(rank_interval(20, Level::P99), RankInterval { low: 19, high: 20 });
        let first = Level::from_parts_per_million(10_000).unwrap();
        assert_eq!(rank_interval(20, first), RankInterval { low: 1, high: 2 });
    }
}
