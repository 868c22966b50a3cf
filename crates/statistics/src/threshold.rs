//! From pass and fail alone: at what level half of the trials fail.

use crate::interval::{MeanInterval, TAIL};

/// The thresholds that are held possible, evenly apart.
const LEVELS: usize = 300;
/// The spreads of the threshold from trial to trial that are held possible, evenly apart in their logarithm.
const SPREADS: usize = 12;
const MIN_SPREAD: f64 = 0.003;
const MAX_SPREAD: f64 = 0.4;
/// A trial ends the wrong way by something else with this chance.
const LAPSES: f64 = 0.01;
/// A logistic distribution of the scale 1 has this standard deviation.
const LOGISTIC_DEVIATION: f64 = std::f64::consts::PI / 1.732_050_807_568_877_2;

/// One trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempt {
    /// How much was asked for, as a natural logarithm.
    pub level: f64,
    /// Whether it was too much.
    pub failed: bool,
}

/// The level at which half of the trials fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Its median with its interval of equal tails.
    pub interval: MeanInterval,
    /// The standard deviation of the threshold from trial to trial, as the trials tell it.
    pub spread: f64,
}

/// Where half of the trials fail: the posterior of a logistic curve's threshold and spread, with evenly likely thresholds from
/// `least` to `most` and evenly likely logarithms of the spread (the psychometric function: Wichmann and Hill, Perception &
/// Psychophysics 2001; on a grid: Kontsevich and Tyler, Vision Research 1999).
///
/// `None`: no trial, or nothing between `least` and `most`.
#[must_use]
pub fn threshold(attempts: &[Attempt], least: f64, most: f64) -> Option<Threshold> {
    if attempts.is_empty() || least >= most {
        return None;
    }
    let step = (most - least) / (LEVELS - 1) as f64;
    let growth = (MAX_SPREAD / MIN_SPREAD).powf(1.0 / (SPREADS - 1) as f64);
    let (mut of_levels, mut spread_sum) = (vec![0.0; LEVELS], 0.0);
    let mut spread = MIN_SPREAD;
    for _ in 0..SPREADS {
        for (place, of_level) in of_levels.iter_mut().enumerate() {
            let likely = likelihood(attempts, least + step * place as f64, spread);
            *of_level += likely;
            spread_sum += likely * spread;
        }
        spread *= growth;
    }
    let all: f64 = of_levels.iter().sum();
    let quantile = |share: f64| {
        let mut sum = 0.0;
        let reached = |likely: &f64| {
            sum += likely;
            sum >= share * all
        };
        least + step * of_levels.iter().position(reached).unwrap_or(LEVELS - 1) as f64
    };
    let interval = MeanInterval { mean: quantile(0.5), low: quantile(TAIL), high: quantile(1.0 - TAIL) };
    (all > 0.0).then_some(Threshold { interval, spread: spread_sum / all })
}

/// How likely the trials end as they did.
fn likelihood(attempts: &[Attempt], threshold: f64, spread: f64) -> f64 {
    let of = |attempt: &Attempt| {
        let z = LOGISTIC_DEVIATION * (attempt.level - threshold) / spread;
        let fails = LAPSES + (1.0 - 2.0 * LAPSES) / (1.0 + (-z).exp());
        if attempt.failed { fails } else { 1.0 - fails }
    };
    attempts.iter().map(of).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempts(levels: &[(f64, bool)]) -> Vec<Attempt> {
        levels.iter().map(|&(level, failed)| Attempt { level, failed }).collect()
    }

    #[test]
    fn a_sharp_threshold_lies_between_what_passed_and_what_failed() {
        let trials = [(0.0, false), (0.1, false), (0.1, false), (0.12, true), (0.12, true), (0.3, true)];
        let found = threshold(&attempts(&trials.repeat(4)), -0.5, 0.8).unwrap();
        assert!((0.09..0.13).contains(&found.interval.mean), "{found:?}");
        assert!(found.interval.low > 0.08 && found.interval.high < 0.14, "{found:?}");
        let few = threshold(&attempts(&trials), -0.5, 0.8).unwrap().interval;
        assert!(few.high - few.low > 2.0 * (found.interval.high - found.interval.low), "{few:?}");
        assert!(found.spread < 0.05, "{found:?}");
    }

    #[test]
    fn what_passes_and_fails_at_one_level_is_spread_around_it() {
        let noisy = [(0.0, false), (0.0, true), (-0.1, true), (-0.1, false), (0.1, true), (0.1, false)];
        let found = threshold(&attempts(&noisy), -0.5, 0.5).unwrap();
        assert!(found.interval.mean.abs() < 0.05 && found.spread > 0.1, "{found:?}");
        assert!(found.interval.high - found.interval.low > 0.3, "{found:?}");
    }

    #[test]
    fn nothing_is_told_of_nothing() {
        assert_eq!(threshold(&[], 0.0, 1.0), None);
        assert_eq!(threshold(&attempts(&[(0.0, true)]), 1.0, 1.0), None);
    }
}
