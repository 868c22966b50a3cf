//! How exact a mean over several runs is. Their figures are independent: each run had a fresh server.

use crate::{
    interval::{MeanInterval, TAIL},
    sample::{mean, variance},
    student,
};

/// A published figure needs so many repetitions (Kalibera and Jones, ISMM 2013).
pub const PUBLISHABLE_REPETITIONS: usize = 5;

/// Resamples of a bootstrap.
const RESAMPLES: usize = 2_000;

/// The mean with Student's t interval: x̄ ± t₀.₉₇₅ s / √n.
///
/// `None`: fewer than two figures.
#[must_use]
pub fn t_interval(figures: &[f64]) -> Option<MeanInterval> {
    if figures.len() < 2 {
        return None;
    }
    let count = figures.len() as f64;
    let half_width = student::half_width(count - 1.0) * (variance(figures) / count).sqrt();
    Some(MeanInterval::around(mean(figures), half_width))
}

/// The mean with a bootstrap-t interval, for figures that are not distributed evenly around their mean: t* of each of 2,000
/// resamples, and the interval from the quantiles of these (Efron and Tibshirani, An Introduction to the Bootstrap, chapter
/// 12). A percentile bootstrap is not offered: with five repetitions its 95 % are 82 %.
///
/// `None`: fewer than [`PUBLISHABLE_REPETITIONS`] figures, or all of them equal.
#[must_use]
pub fn bootstrap_t_interval(figures: &[f64], seed: u64) -> Option<MeanInterval> {
    let centre = mean(figures);
    let count = figures.len() as f64;
    let error = (variance(figures) / count).sqrt();
    if figures.len() < PUBLISHABLE_REPETITIONS || error <= 0.0 {
        return None;
    }
    let mut random = fastrand::Rng::with_seed(seed);
    let mut resample = figures.to_vec();
    let mut pivots = Vec::with_capacity(RESAMPLES);
    while pivots.len() < RESAMPLES {
        resample.fill_with(|| figures[random.usize(..figures.len())]);
        let spread = variance(&resample);
        // One figure alone, drawn n times, has no t.
        if spread > 0.0 {
            pivots.push((mean(&resample) - centre) / (spread / count).sqrt());
        }
    }
    pivots.sort_by(f64::total_cmp);
    let [low, high] = [1.0 - TAIL, TAIL].map(|level| centre - quantile(&pivots, level) * error);
    Some(MeanInterval { mean: centre, low, high })
}

/// The quantile of sorted values by linear interpolation.
pub(crate) fn quantile(sorted: &[f64], level: f64) -> f64 {
    let place = level * (sorted.len() as f64 - 1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in the slice")]
    let below = place as usize;
    let value = |place: usize| sorted.get(place.min(sorted.len().saturating_sub(1))).copied().unwrap_or(f64::NAN);
    value(below) + (value(below + 1) - value(below)) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's own data: the additional sleep by two soporifics (Biometrika 6, 1908), differences of ten patients; R's
    /// documentation of `sleep` has the interval 0.70 to 2.46 around 1.58.
    #[test]
    fn the_interval_is_that_of_students_own_example() {
        let differences = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let MeanInterval { mean, low, high } = t_interval(&differences).unwrap();
        for (found, expected) in [(mean, 1.58), (low, 0.700_114_2), (high, 2.459_885_8)] {
            assert!((found - expected).abs() < 1e-6, "{found}");
        }
    }

    /// Three quarters of the way from the first of four values to the second.
    #[test]
    fn a_quantile_lies_between_its_neighbours() {
        let values = [10.0, 20.0, 30.0, 40.0];
        let found = [0.0, 0.25, 0.5, 0.95, 1.0].map(|level| quantile(&values, level));
        assert!(found.iter().zip([10.0, 17.5, 25.0, 38.5, 40.0]).all(|(f, e)| (f - e).abs() < 1e-12), "{found:?}");
    }

    #[test]
    fn too_few_or_equal_figures_have_no_interval() {
        assert_eq!(t_interval(&[1.0]), None);
        assert_eq!(bootstrap_t_interval(&[1.0, 2.0, 3.0, 4.0], 1), None);
        assert_eq!(bootstrap_t_interval(&[1.0; 8], 1), None);
        assert_eq!(t_interval(&[1.0; 8]), Some(MeanInterval { mean: 1.0, low: 1.0, high: 1.0 }));
    }

    /// The truth is positive, so the part of an interval below 0 never holds it: without that part it is held as often.
    #[test]
    fn leaving_out_what_is_below_zero_takes_nothing_from_the_confidence() {
        let mut random = fastrand::Rng::with_seed(7);
        // Exponential, with a mean of 1: two figures of such a spread reach far below 0.
        let intervals: Vec<_> = std::iter::repeat_with(|| [(); 2].map(|()| -(1.0 - random.f64()).ln()))
            .take(2_000)
            .filter_map(|figures| t_interval(&figures))
            .collect();
        assert!(intervals.iter().filter(|interval| interval.low < 0.0).count() > 500);
        for interval in intervals {
            let bounded = interval.not_below_zero();
            assert_eq!(bounded.contains(1.0), interval.contains(1.0), "{interval:?}");
            assert!(bounded.low >= 0.0 && bounded.contains(bounded.mean), "{bounded:?}");
        }
    }

    #[test]
    fn a_seed_decides_the_bootstrap() {
        let figures = [3.0, 1.0, 4.0, 1.5, 9.0];
        assert_eq!(bootstrap_t_interval(&figures, 1), bootstrap_t_interval(&figures, 1));
        assert_ne!(bootstrap_t_interval(&figures, 1), bootstrap_t_interval(&figures, 2));
    }
}
