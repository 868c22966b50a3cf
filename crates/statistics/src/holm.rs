//! Several tests at once.

/// The p values adjusted by Holm's step-down method (Scandinavian Journal of Statistics, 1979), in the order given: to
/// believe those below 0.05 is wrong even once in at most 5 % of all families, however the tests depend on each other.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut greatest: f64 = 0.0;
    for (rank, place) in order.into_iter().enumerate() {
        greatest = greatest.max((p_values.len() - rank) as f64 * p_values[place]).min(1.0);
        adjusted[place] = greatest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What R's `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")` gives.
    #[test]
    fn adjusted_values_are_those_of_r() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[]), Vec::<f64>::new());
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
    }
}
