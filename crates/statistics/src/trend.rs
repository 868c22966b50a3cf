//! Whether a series goes up or down.

use crate::{autocorrelation::correlation_time, sample::mean, student};

/// A straight line through a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// By what part of the mean the line rises from the first value to the last; negative: it falls.
    pub change: f64,
    /// How likely as steep a line is where there is none.
    pub p_value: f64,
    /// The sum of squares that the line leaves.
    pub(crate) squares_left: f64,
}

/// The least-squares line with its two-sided t test. What the line leaves resembles its neighbours, so that its standard
/// error is that of n / τ independent values, with as many degrees of freedom less two.
///
/// `None`: fewer than four values, or a mean of 0.
#[must_use]
pub fn trend(values: &[f64]) -> Option<Trend> {
    let count = values.len() as f64;
    let level = mean(values);
    if values.len() < 4 || level == 0.0 {
        return None;
    }
    let middle = (count - 1.0) / 2.0;
    let places = || (0..values.len()).map(|place| place as f64 - middle);
    let spread: f64 = places().map(|place| place * place).sum();
    let slope = places().zip(values).map(|(place, value)| place * (value - level)).sum::<f64>() / spread;
    let left: Vec<f64> = places().zip(values).map(|(place, value)| value - level - slope * place).collect();
    let squares_left: f64 = left.iter().map(|rest| rest * rest).sum();
    let time = correlation_time(&left);
    let degrees = count / time - 2.0;
    let error = (squares_left / (count - 2.0) / spread * time).sqrt();
    let p_value = match (slope == 0.0, error > 0.0) {
        (true, _) => 1.0,
        (false, true) => student::two_sided_p(slope / error, degrees),
        (false, false) => 0.0,
    };
    Some(Trend { change: slope * (count - 1.0) / level.abs(), p_value, squares_left })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out by hand: the line through 1, 2, 4, 5, 8 has the slope 1.7 and leaves 1.1.
    #[test]
    fn the_line_and_its_test_are_those_of_the_textbook() {
        let Trend { change, p_value, squares_left } = trend(&[1.0, 2.0, 4.0, 5.0, 8.0]).unwrap();
        assert!((change - 1.7 * 4.0 / 4.0).abs() < 1e-12, "{change}");
        assert!((squares_left - 1.1).abs() < 1e-12, "{squares_left}");
        // t = 1.7 / √(1.1 / 3 / 10) = 8.878 with three degrees of freedom.
        assert!((p_value - 0.003).abs() < 2e-4, "{p_value}");
    }

    #[test]
    fn exact_lines_and_constants() {
        let line: Vec<f64> = (1..=10).map(f64::from).collect();
        assert!(trend(&line).unwrap().p_value < 1e-12);
        let flat = trend(&[2.0; 10]).unwrap();
        assert!(flat.change.abs() < 1e-12 && (flat.p_value - 1.0).abs() < 1e-12);
        assert_eq!(trend(&[0.0; 10]), None);
        assert_eq!(trend(&[1.0, 2.0, 3.0]), None);
        // 7 / 5 a place, over three places, of a mean of 3.
        assert!((trend(&[1.0, 2.0, 4.0, 5.0]).unwrap().change - 1.4).abs() < 1e-12);
    }
}
