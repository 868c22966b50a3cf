//! At what level a figure reaches its limit.

use crate::{
    autocorrelation::correlation_time,
    interval::MeanInterval,
    sample::{mean, variance},
    student,
};

/// Fewer points tell no crossing with its interval.
pub const MIN_POINTS: usize = 6;
/// A slope has to be so many of its standard errors away from another one to be taken for another.
const STANDARD_ERRORS: f64 = 2.5;

/// What is known of the slope beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slope {
    /// At least so much: a smaller one means that the line is none. Points that do not tell a greater one are taken to have it.
    AtLeast(f64),
    /// Nothing but that it is positive: points that do not tell it well have no crossing.
    Unknown,
}

/// Where the line through points (x, y) in the order in which they were measured reaches y = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The x with its 95 % interval.
    pub interval: MeanInterval,
    /// The standard deviation of one point's own crossing.
    pub spread: f64,
    /// The line's slope.
    pub slope: f64,
}

/// The line by least squares, inverted at 0, with the interval of inverse regression (calibration: Draper and Smith, Applied
/// Regression Analysis, chapter 3), what the line leaves being taken as independent only so far as it is (n / τ).
///
/// `None`: fewer than [`MIN_POINTS`], or a slope that contradicts what is known of it.
#[must_use]
pub fn crossing(points: &[(f64, f64)], slope: Slope) -> Option<Crossing> {
    if points.len() < MIN_POINTS {
        return None;
    }
    let count = points.len() as f64;
    let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let (mean_x, mean_y, spread_x) = (mean(&xs), mean(&ys), variance(&xs) * (count - 1.0));
    let products: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let fitted = if spread_x > 0.0 { products / spread_x } else { 0.0 };
    let left = |slope: f64| -> Vec<f64> { points.iter().map(|(x, y)| y - mean_y - slope * (x - mean_x)).collect() };
    let squares = |slope: f64| left(slope).iter().map(|rest| rest * rest).sum::<f64>();
    let error = if spread_x > 0.0 { (squares(fitted) / (count - 2.0) / spread_x).sqrt() } else { f64::INFINITY };
    let (used, parameters) = match slope {
        Slope::AtLeast(least) if fitted - least > STANDARD_ERRORS * error => (fitted, 2.0),
        Slope::AtLeast(least) if least - fitted > STANDARD_ERRORS * error && fitted < least / 2.0 => return None,
        Slope::AtLeast(least) => (least, 1.0),
        Slope::Unknown if fitted > 2.0 * STANDARD_ERRORS * error => (fitted, 2.0),
        Slope::Unknown => return None,
    };
    let rest = left(used);
    let time = correlation_time(&rest);
    let deviation = (squares(used) / (count - parameters)).sqrt() / used;
    let at = mean_x - mean_y / used;
    let from_middle = if parameters > 1.0 { (at - mean_x).powi(2) / spread_x } else { 0.0 };
    let half_width = match deviation > 0.0 {
        true => student::half_width(count / time - parameters) * deviation * (time / count + from_middle).sqrt(),
        false => 0.0,
    };
    Some(Crossing { interval: MeanInterval::around(at, half_width), spread: deviation, slope: used })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(slope: f64, at: f64, noise: &[f64]) -> Vec<(f64, f64)> {
        let x = |place: usize| if place.is_multiple_of(2) { -0.05 } else { 0.05 };
        noise.iter().enumerate().map(|(place, noise)| (x(place), slope * (x(place) - at) + noise)).collect()
    }

    const NOISE: [f64; 8] = [0.01, -0.02, 0.0, 0.02, -0.01, 0.01, 0.02, -0.03];

    #[test]
    fn with_a_known_slope_the_crossing_is_a_mean_with_students_interval() {
        let points = line(1.0, 0.02, &NOISE);
        let found = crossing(&points, Slope::AtLeast(1.0)).unwrap();
        let own: Vec<f64> = points.iter().map(|(x, y)| x - y).collect();
        let expected = crate::t_interval(&own).unwrap();
        assert!((found.interval.mean - expected.mean).abs() < 1e-12, "{found:?}");
        assert!((found.interval.low - expected.low).abs() < 1e-9, "{found:?} {expected:?}");
        assert!((found.spread - variance(&own).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_steeper_line_is_inverted_and_a_flat_one_has_no_crossing() {
        let found = crossing(&line(5.0, 0.02, &NOISE), Slope::AtLeast(1.0)).unwrap();
        assert!((found.interval.mean - 0.02).abs() < 0.005, "{found:?}");
        assert!(found.interval.high - found.interval.low < 0.02, "{found:?}");
        let flat: Vec<f64> = NOISE.iter().map(|noise| noise / 100.0).collect();
        assert_eq!(crossing(&line(0.1, 0.02, &flat), Slope::AtLeast(1.0)), None);
        assert_eq!(crossing(&line(0.1, 0.02, &NOISE), Slope::Unknown), None);
        let steep = crossing(&line(8.0, -0.01, &NOISE), Slope::Unknown).unwrap();
        assert!(steep.interval.contains(-0.01) && !steep.interval.contains(0.01), "{steep:?}");
        assert_eq!(crossing(&line(1.0, 0.0, &NOISE[..5]), Slope::AtLeast(1.0)), None, "too few");
    }

    #[test]
    fn points_without_noise_have_an_interval_of_no_width() {
        let found = crossing(&line(1.0, 0.02, &[0.0; 8]), Slope::AtLeast(1.0)).unwrap();
        assert!((found.interval.high - found.interval.low).abs() < 1e-9 && (found.interval.mean - 0.02).abs() < 1e-9);
    }
}
