//! How exact a figure over several sittings is: the session, with a fresh server and a time of its own, is the replicate
//! (Kalibera and Jones, ISMM 2013).

use crate::{
    interval::MeanInterval,
    sample::{mean, variance},
    student,
};

/// The level of the interval over sittings.
pub const SITTINGS_CONFIDENCE: f64 = 0.9;

/// The geometric mean of a figure of each sitting, with Student's interval of the logarithms: exp(ȳ ± t₀.₉₅ s / √n) with
/// y = ln x, a 90 % one. What makes one sitting better than another (a faster disk, a quieter neighbour) multiplies, so that
/// the logarithms lie evenly around their mean and the figures do not; and no end is below 0.
///
/// `None`: fewer than two figures, or one that is not positive.
#[must_use]
pub fn sittings_interval(figures: &[f64]) -> Option<MeanInterval> {
    if figures.len() < 2 || !figures.iter().all(|figure| figure.is_finite() && *figure > 0.0) {
        return None;
    }
    let logarithms: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
    let count = figures.len() as f64;
    let half_width = student::half_width_at(SITTINGS_CONFIDENCE, count - 1.0) * (variance(&logarithms) / count).sqrt();
    let MeanInterval { mean, low, high } = MeanInterval::around(mean(&logarithms), half_width);
    Some(MeanInterval { mean: mean.exp(), low: low.exp(), high: high.exp() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out by hand: the logarithms of 1, e and e² have the mean 1 and the standard deviation 1, and Student's t of two
    /// degrees of freedom at 0.95 is 2.920.
    #[test]
    fn the_interval_is_students_of_the_logarithms() {
        let figures = [1.0, 1.0_f64.exp(), 2.0_f64.exp()];
        let MeanInterval { mean, low, high } = sittings_interval(&figures).unwrap();
        for (found, expected) in [(mean.ln(), 1.0), (low.ln(), -0.6859), (high.ln(), 2.6859)] {
            assert!((found - expected).abs() < 1e-4, "{found}");
        }
    }

    #[test]
    fn one_sitting_and_what_has_no_logarithm_have_no_interval() {
        for figures in [&[5.0][..], &[5.0, 0.0], &[5.0, -1.0], &[5.0, f64::NAN], &[5.0, f64::INFINITY]] {
            assert_eq!(sittings_interval(figures), None, "{figures:?}");
        }
    }

    /// What a sitting finds: the capacity that it has, by a factor with this standard deviation away from the truth, and 3 % of
    /// what its own trials miss it by.
    fn sitting(random: &mut fastrand::Rng, truth: f64, deviation: f64) -> f64 {
        let mut normal = || {
            let (radius, angle) = ((-2.0 * (1.0 - random.f64()).ln()).sqrt(), std::f64::consts::TAU * random.f64());
            radius * angle.cos()
        };
        let log_deviation = |deviation: f64| (1.0 + deviation * deviation).ln().sqrt();
        truth * (log_deviation(deviation) * normal() + log_deviation(0.03) * normal()).exp()
    }

    #[test]
    fn nine_of_ten_intervals_hold_the_truth_however_far_sittings_lie_apart() {
        const TRUTH: f64 = 3_000.0;
        const JOBS: u32 = 20_000;
        let mut random = fastrand::Rng::with_seed(24);
        for deviation in [0.05, 0.15, 0.45] {
            for sittings in [3, 5, 10] {
                let (mut held, mut widths) = (0, Vec::new());
                for _ in 0..JOBS {
                    let figures: Vec<f64> = (0..sittings).map(|_| sitting(&mut random, TRUTH, deviation)).collect();
                    let interval = sittings_interval(&figures).unwrap();
                    held += u32::from(interval.contains(TRUTH));
                    widths.push(interval.high / interval.low);
                }
                widths.sort_by(f64::total_cmp);
                let (held, width) = (100.0 * f64::from(held) / f64::from(JOBS), widths[widths.len() / 2]);
                println!(
                    "{:.0} % between sittings, {sittings} of them: {held:.1} %, {width:.2} times wide",
                    100.0 * deviation
                );
                // 90 %, and four standard errors of 20,000.
                assert!((held - 90.0).abs() < 0.85, "{deviation}, {sittings}: {held}");
            }
        }
    }
}
