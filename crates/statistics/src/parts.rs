//! How exact a figure is that is made of the means of several independent samples.

use crate::{interval::MeanInterval, sample::variance, student};

/// The figure with the 95 % interval of a sum of means, one of each sample, with Welch and Satterthwaite's degrees of freedom
/// (Biometrics Bulletin 2, 1946). The samples are what each repetition adds to the figure.
///
/// `None`: a sample has fewer than two values.
#[must_use]
pub fn interval_of_parts(figure: f64, samples: &[Vec<f64>]) -> Option<MeanInterval> {
    let (error, degrees) = error(samples)?;
    let half_width = if error > 0.0 { student::half_width(degrees) * error } else { 0.0 };
    Some(MeanInterval::around(figure, half_width))
}

/// How likely a figure at least as far from 0 is by chance, if its truth were 0.
///
/// `None`: a sample has fewer than two values.
#[must_use]
pub fn p_of_parts(figure: f64, samples: &[Vec<f64>]) -> Option<f64> {
    let (error, degrees) = error(samples)?;
    Some(match (error > 0.0, figure == 0.0) {
        (true, _) => student::two_sided_p(figure / error, degrees),
        (false, true) => 1.0,
        (false, false) => 0.0,
    })
}

/// Standard error and degrees of freedom.
fn error(samples: &[Vec<f64>]) -> Option<(f64, f64)> {
    if samples.iter().any(|sample| sample.len() < 2) {
        return None;
    }
    let of = |sample: &Vec<f64>| (variance(sample) / sample.len() as f64, sample.len() as f64 - 1.0);
    let parts: Vec<(f64, f64)> = samples.iter().map(of).collect();
    let sum: f64 = parts.iter().map(|(part, _)| part).sum();
    let degrees = sum.powi(2) / parts.iter().map(|(part, degrees)| part.powi(2) / degrees).sum::<f64>();
    Some((sum.sqrt(), degrees))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two samples it is Welch's test: R's `t.test(extra ~ group, data = sleep)`.
    #[test]
    fn the_difference_of_two_means_is_that_of_welch() {
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4].map(|hours| -hours);
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let samples = [first.to_vec(), second.to_vec()];
        let interval = interval_of_parts(-1.58, &samples).unwrap();
        assert!((interval.low + 3.365_483).abs() < 1e-5 && (interval.high - 0.205_483).abs() < 1e-5, "{interval:?}");
        assert!((p_of_parts(-1.58, &samples).unwrap() - 0.079_39).abs() < 1e-5);
    }

    #[test]
    fn a_single_repetition_tells_nothing_and_no_sample_adds_nothing() {
        assert_eq!(interval_of_parts(1.0, &[vec![1.0, 2.0], vec![3.0]]), None);
        assert_eq!(interval_of_parts(1.0, &[]), Some(MeanInterval { mean: 1.0, low: 1.0, high: 1.0 }));
        assert_eq!((p_of_parts(0.0, &[]), p_of_parts(1.0, &[vec![2.0; 3]])), (Some(1.0), Some(0.0)));
    }
}
