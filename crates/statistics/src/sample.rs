//! Moments of a sample.

/// The mean; 0 of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The unbiased variance, with n − 1; 0 of fewer than two values.
pub(crate) fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

/// Means of so many neighbours each; what is left over at the end is in none.
pub(crate) fn batches(values: &[f64], size: usize) -> Vec<f64> {
    values.chunks_exact(size.max(1)).map(mean).collect()
}
