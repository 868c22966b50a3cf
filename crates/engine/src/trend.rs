//! The straight line through a course of figures, with what its slope may be wrong by. Pure.

/// A slope below so many of its standard errors is no trend.
pub const STANDARD_ERRORS: f64 = 2.0;
/// Fewer points tell no slope with its error.
pub const MIN_POINTS: usize = 4;

/// A line by least squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Its slope.
    pub slope: f64,
    /// The slope's standard error, the residuals taken for independent.
    pub error: f64,
    /// The correlation of each residual with the next one, from −1 to 1.
    pub correlation: f64,
    mean_x: f64,
    mean_y: f64,
}

impl Line {
    /// The line through points (x, y) in ascending order of x. `None`: too few of them, or all at one x.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        if points.len() < MIN_POINTS {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "some points")]
        let n = points.len() as f64;
        let sum = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
        let (mean_x, mean_y) = (sum(&|p| p.0) / n, sum(&|p| p.1) / n);
        let spread = sum(&|p| (p.0 - mean_x).powi(2));
        let slope = sum(&|p| (p.0 - mean_x) * (p.1 - mean_y)) / spread;
        let residual = |p: &(f64, f64)| p.1 - mean_y - slope * (p.0 - mean_x);
        let squares = sum(&|p| residual(p).powi(2));
        let products: f64 = points.iter().zip(points.iter().skip(1)).map(|(a, b)| residual(a) * residual(b)).sum();
        let correlation = if squares > 0.0 { products / squares } else { 0.0 };
        let error = (squares / (n - 2.0) / spread).sqrt();
        (spread > 0.0).then_some(Self { slope, error, correlation, mean_x, mean_y })
    }

    /// Its value at x.
    pub fn at(&self, x: f64) -> f64 {
        self.mean_y + self.slope * (x - self.mean_x)
    }

    /// The slope's standard error where a residual resembles the one before it, as those of a queue do: there is as much in
    /// n of them as in n (1 − r) / (1 + r) independent ones.
    pub fn error_of_a_course(&self) -> f64 {
        let correlation = self.correlation.clamp(0.0, 0.9);
        self.error * ((1.0 + correlation) / (1.0 - correlation)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(y: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        (0..20).map(f64::from).map(|x| (x, y(x))).collect()
    }

    #[test]
    fn a_line_is_found_without_error() {
        let line = Line::through(&points(|x| 3.0 + 2.0 * x)).unwrap();
        assert_eq!((line.slope, line.error, line.at(100.0), line.correlation), (2.0, 0.0, 203.0, 0.0));
    }

    #[test]
    fn what_lies_beside_the_line_is_its_error() {
        let line = Line::through(&points(|x| if x % 2.0 == 0.0 { 1.0 } else { -1.0 })).unwrap();
        assert!(line.slope.abs() < STANDARD_ERRORS * line.error && line.correlation < -0.8, "{line:?}");
        assert!((line.error_of_a_course() - line.error).abs() < 1e-12, "alternation is no lack of information");
        let wave = Line::through(&points(|x| if (7.0..=13.0).contains(&x) { -1.0 } else { 1.0 })).unwrap();
        assert!(wave.correlation > 0.5 && wave.error_of_a_course() > 1.7 * wave.error, "{wave:?}");
    }

    #[test]
    fn too_few_points_and_those_at_one_place_have_no_line() {
        assert_eq!(Line::through(&points(|x| x)[..3]), None);
        assert_eq!(Line::through(&[(1.0, 2.0); 9]), None);
    }

    /// By hand: x̄ = 2.5, ȳ = 3; Σ(x − x̄)² = 5, Σ(x − x̄)(y − ȳ) = 7; residuals 0.1, 0.7, −1.7, 0.9, squared 4.2.
    #[test]
    fn the_least_points_tell_slope_error_and_correlation() {
        let line = Line::through(&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 6.0)]).unwrap();
        let is = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{line:?}");
        is(line.slope, 1.4);
        is(line.at(0.0), -0.5);
        is(line.error, (4.2_f64 / 2.0 / 5.0).sqrt());
        is(line.correlation, (0.1 * 0.7 - 0.7 * 1.7 - 1.7 * 0.9) / 4.2);
        is(line.error_of_a_course(), line.error);
        let alike = Line { correlation: 0.5, ..line };
        is(alike.error_of_a_course(), line.error * 3.0_f64.sqrt());
        let very = Line { correlation: 0.95, ..line };
        is(very.error_of_a_course(), line.error * 19.0_f64.sqrt());
    }
}
