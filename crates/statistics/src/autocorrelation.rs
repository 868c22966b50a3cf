//! How far neighbours of a series resemble each other.

use crate::sample::mean;

/// Beyond so many neighbours nobody looks: a series that still resembles itself there is one value to us.
const MAX_LAGS: usize = 2_000;

/// The correlation time τ = 1 + 2 Σ ρ_k, in values: so many neighbours tell as much as one independent value. At least 1.
///
/// The sum ends where the sums of two neighbouring correlations are no longer positive, and they never grow on the way
/// (Geyer, Practical Markov chain Monte Carlo, 1992: initial monotone sequence); without an end the sum would be noise.
/// A constant series has the correlation time 1.
#[must_use]
pub fn correlation_time(values: &[f64]) -> f64 {
    let count = values.len();
    let mean = mean(values);
    let deviations: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let covariance = |lag: usize| {
        let pairs = deviations.iter().zip(deviations.iter().skip(lag));
        pairs.map(|(early, late)| early * late).sum::<f64>() / count as f64
    };
    let variance = if count < 4 { 0.0 } else { covariance(0) };
    // What rounding leaves of a constant is no variance.
    if variance <= (mean * 1e-12).powi(2) {
        return 1.0;
    }
    let (mut sum, mut least) = (0.0, f64::INFINITY);
    for pair in 0..count / 2 {
        if 2 * pair > MAX_LAGS {
            return count as f64;
        }
        let both = (covariance(2 * pair) + covariance(2 * pair + 1)) / variance;
        if both <= 0.0 {
            break;
        }
        least = both.min(least);
        sum += least;
    }
    (2.0 * sum - 1.0).clamp(1.0, count as f64)
}

/// As many independent values would tell as much of the mean: n / τ.
#[must_use]
pub fn effective_sample_size(values: &[f64]) -> f64 {
    values.len() as f64 / correlation_time(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_and_alternating_values_count_in_full() {
        let alternating: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        assert!((correlation_time(&alternating) - 1.0).abs() < f64::EPSILON);
        assert!((correlation_time(&[0.1; 50]) - 1.0).abs() < f64::EPSILON);
        assert!((effective_sample_size(&[3.0, 4.0]) - 2.0).abs() < f64::EPSILON);
        assert!((effective_sample_size(&[]) - 0.0).abs() < f64::EPSILON);
    }

    /// Ten equal neighbours are one value.
    #[test]
    fn repeated_values_count_once() {
        let mut random = fastrand::Rng::with_seed(7);
        let values: Vec<f64> = (0..500).flat_map(|_| [random.f64(); 10]).collect();
        let time = correlation_time(&values);
        assert!((8.0..13.0).contains(&time), "{time}");
    }
}
