//! Whether a short series moved while it was measured.

use crate::sample::mean;

/// Neither side of a shift has fewer values.
const MIN_SIDE: usize = 3;
/// Orders of the same values that are tried for how far they seem to shift by chance.
const ORDERS: usize = 999;

/// The most likely place at which a series moved from one level to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The first value of the new level.
    pub at: usize,
    /// The mean before it.
    pub before: f64,
    /// The mean from it on.
    pub after: f64,
    /// How often the same values in another order shift at least as far: it holds although the place was searched for, and a
    /// trend shows as well.
    pub p_value: f64,
}

/// The split with the greatest difference of means in standard errors, and a permutation test of it (Good, Permutation,
/// Parametric and Bootstrap Tests of Hypotheses, 2005). For longer series there is [`change_point`](crate::change_point).
///
/// `None`: fewer than eight values, or all are equal.
#[must_use]
pub fn shift(values: &[f64], seed: u64) -> Option<Shift> {
    if values.len() < 2 * MIN_SIDE + 2 {
        return None;
    }
    let (at, distance) = widest_split(values);
    if distance <= 0.0 {
        return None;
    }
    let mut random = fastrand::Rng::with_seed(seed);
    let mut order = values.to_vec();
    let as_far = (0..ORDERS).filter(|_| {
        random.shuffle(&mut order);
        widest_split(&order).1 >= distance
    });
    let p_value = (as_far.count() + 1) as f64 / (ORDERS + 1) as f64;
    let (before, after) = values.split_at(at);
    Some(Shift { at, before: mean(before), after: mean(after), p_value })
}

/// Where the two sides lie farthest apart, and how far: n m / (n + m) times the squared difference of their means. The whole
/// series varies alike in any order, so that nothing has to be divided by it.
fn widest_split(values: &[f64]) -> (usize, f64) {
    let all: f64 = values.iter().sum();
    let (count, level) = (values.len() as f64, all / values.len() as f64);
    let (mut sum, mut widest) = (0.0, (MIN_SIDE, 0.0));
    for (place, value) in (1..).zip(values) {
        sum += value - level;
        let (left, right) = (place as f64, count - place as f64);
        if place < MIN_SIDE || values.len() - place < MIN_SIDE {
            continue;
        }
        // Rounding makes no two levels of one.
        let distance = sum * sum * (1.0 / left + 1.0 / right);
        if distance > widest.1 + 1e-18 {
            widest = (place, distance);
        }
    }
    widest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_is_found_at_its_place_and_a_trend_is_seen() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut noise = || random.f64() - 0.5;
        let shifted: Vec<f64> = (0..16).map(|place| if place < 6 { 1.0 } else { 2.0 } + 0.3 * noise()).collect();
        let found = shift(&shifted, 1).unwrap();
        assert_eq!(found.at, 6, "{found:?}");
        assert!(found.p_value < 0.005 && found.before < 1.2 && found.after > 1.8, "{found:?}");
        let trend: Vec<f64> = (0..16).map(|place| f64::from(place) * 0.1 + 0.3 * noise()).collect();
        assert!(shift(&trend, 1).unwrap().p_value < 0.01);
    }

    #[test]
    fn of_series_without_a_shift_one_in_twenty_seems_to_have_one_at_one_in_twenty() {
        let mut random = fastrand::Rng::with_seed(6);
        let mut found = 0;
        for seed in 0..400 {
            let values: Vec<f64> = (0..12).map(|_| random.f64()).collect();
            found += usize::from(shift(&values, seed).unwrap().p_value <= 0.05);
        }
        assert!((8..=34).contains(&found), "{found} of 400");
    }

    #[test]
    fn too_few_or_equal_values_have_none() {
        assert_eq!(shift(&[1.0; 7], 1), None);
        assert_eq!(shift(&[0.1; 12], 1), None);
    }
}
