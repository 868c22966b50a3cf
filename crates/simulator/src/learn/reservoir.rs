//! A sample of a stream, in bounded memory.

use crate::counter_hash::CounterHash;

/// A uniform sample of all that it was given (algorithm R; Vitter, "Random Sampling with a Reservoir", 1985).
#[derive(Clone, Debug)]
pub struct Reservoir<T> {
    kept: Vec<T>,
    most: usize,
    seen: u64,
    hash: CounterHash,
}

impl<T> Reservoir<T> {
    /// Keeps at most so many.
    pub fn new(most: usize, hash: CounterHash) -> Self {
        Self { kept: Vec::new(), most, seen: 0, hash }
    }

    /// Takes one more.
    #[inline]
    pub fn take(&mut self, item: T) {
        self.seen += 1;
        if self.kept.len() < self.most {
            self.kept.push(item);
            return;
        }
        let place = usize::try_from(self.hash.below(self.seen, self.seen)).unwrap_or(usize::MAX);
        if let Some(kept) = self.kept.get_mut(place) {
            *kept = item;
        }
    }

    /// The sample.
    pub fn kept(&self) -> &[T] {
        &self.kept
    }
}

/// The numbers of a sample in order.
pub fn sorted(numbers: &[f64]) -> Vec<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The quantile of numbers in order, linear between two of them (type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996).
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a sample"
)]
pub fn quantile(sorted: &[f64], probability: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = probability.clamp(0.0, 1.0) * last as f64;
    let below = (place as usize).min(last);
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// The greatest distance between the distribution functions of two samples in order (Kolmogorov and Smirnov).
#[expect(clippy::cast_precision_loss, reason = "places in samples")]
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    let (mut i, mut j, mut far) = (0, 0, 0.0_f64);
    while let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) {
        let least = if x < y { x } else { y };
        while a.get(i).is_some_and(|&v| v <= least) {
            i += 1;
        }
        while b.get(j).is_some_and(|&v| v <= least) {
            j += 1;
        }
        far = far.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    if a.is_empty() != b.is_empty() { 1.0 } else { far }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_uniform_over_all_that_was_given() {
        let mut sample = Reservoir::new(1000, CounterHash::new(1));
        (0..100_000).for_each(|n| sample.take(f64::from(n) / 100_000.0));
        let even: Vec<f64> = (0..1000).map(|n| f64::from(n) / 1000.0).collect();
        // Of 1000 numbers the distance is above 0.0515 once in a hundred (Kolmogorov).
        let far = distance(&sorted(sample.kept()), &even);
        assert!(far < 0.0515, "{far}");
    }

    #[test]
    fn the_distance_is_that_of_the_distribution_functions() {
        assert_eq!(distance(&[1.0, 2.0], &[1.0, 2.0]), 0.0);
        assert_eq!(distance(&[1.0, 1.0, 2.0, 2.0], &[2.0]), 0.5);
        assert_eq!(distance(&[1.0], &[2.0]), 1.0);
        assert_eq!(distance(&[], &[2.0]), 1.0);
        assert_eq!((quantile(&[1.0, 2.0, 4.0], 0.75), quantile(&[3.0], 0.5)), (3.0, 3.0));
    }
}
