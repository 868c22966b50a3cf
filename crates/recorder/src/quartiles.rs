//! Quartiles of rates.

/// Minimum, quartiles, maximum and mean of a sample, such as the rates of a run's windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quartiles {
    /// Values in the sample.
    pub count: usize,
    /// Smallest value.
    pub min: f64,
    /// First quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// Largest value.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
}

impl Quartiles {
    /// The quartiles of `values` by linear interpolation (type 7 of Hyndman and Fan 1996: R's and NumPy's default).
    ///
    /// `None` when `values` is empty or holds a value that is not finite.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            count: sorted.len(),
            min: sorted[0],
            q1: at_quarter(&sorted, 1),
            median: at_quarter(&sorted, 2),
            q3: at_quarter(&sorted, 3),
            max: sorted[sorted.len() - 1],
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
        })
    }
}

fn at_quarter(sorted: &[f64], quarter: usize) -> f64 {
    let quarters = (sorted.len() - 1) * quarter;
    let (index, rest) = (quarters / 4, quarters % 4);
    let low = sorted[index];
    let high = sorted[(index + 1).min(sorted.len() - 1)];
    low + (high - low) * (rest as f64 / 4.0)
}

#[cfg(test)]
mod tests {
    use super::Quartiles;

    #[test]
    fn interpolates_as_python_does() {
        // statistics.quantiles([7, 1, 3, 10, 4, 8], n=4, method="inclusive") is [3.25, 5.5, 7.75].
        let quartiles = Quartiles::of(&[7.0, 1.0, 3.0, 10.0, 4.0, 8.0]).unwrap();
        assert_eq!(quartiles, Quartiles { count: 6, min: 1.0, q1: 3.25, median: 5.5, q3: 7.75, max: 10.0, mean: 5.5 });
    }

    #[test]
    fn one_value_is_all_of_them() {
        let quartiles = Quartiles::of(&[2.0]).unwrap();
        assert_eq!([quartiles.min, quartiles.q1, quartiles.median, quartiles.q3, quartiles.max], [2.0; 5]);
    }

    #[test]
    fn nothing_comes_of_nothing_or_of_what_is_no_number() {
        assert_eq!(Quartiles::of(&[]), None);
        assert_eq!(Quartiles::of(&[1.0, f64::NAN]), None);
        assert_eq!(Quartiles::of(&[1.0, f64::INFINITY]), None);
    }

    #[test]
    fn the_parts_between_two_values_are_quarters() {
        // statistics.quantiles([1, 2, 3, 10], n=4, method="inclusive") is [1.75, 2.5, 4.75].
        let quartiles = Quartiles::of(&[1.0, 2.0, 3.0, 10.0]).unwrap();
        assert_eq!([quartiles.q1, quartiles.median, quartiles.q3, quartiles.mean], [1.75, 2.5, 4.75, 4.0]);
    }
}
