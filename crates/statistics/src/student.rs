//! Student's t distribution.

use crate::interval::CONFIDENCE;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// What half of a 95 % interval is in standard errors; infinite without a degree of freedom.
pub(crate) fn half_width(degrees: f64) -> f64 {
    half_width_at(CONFIDENCE, degrees)
}

/// The same of an interval of another level.
pub(crate) fn half_width_at(confidence: f64, degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |t| t.inverse_cdf((1.0 + confidence) / 2.0))
}

/// How likely a t at least as far from 0 is by chance; 1 without a degree of freedom.
pub(crate) fn two_sided_p(t: f64, degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).map_or(1.0, |distribution| 2.0 * distribution.cdf(-t.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's table as every textbook prints it.
    #[test]
    fn quantiles_are_those_of_the_table() {
        for (degrees, expected) in [(1.0, 12.706), (2.0, 4.303), (4.0, 2.776), (9.0, 2.262), (30.0, 2.042)] {
            let found = half_width(degrees);
            assert!((found - expected).abs() < 5e-4, "{degrees}: {found}");
            assert!((two_sided_p(found, degrees) - 0.05).abs() < 1e-6);
        }
        assert!(half_width(0.0).is_infinite());
        assert!((two_sided_p(100.0, 0.0) - 1.0).abs() < f64::EPSILON);
    }
}
