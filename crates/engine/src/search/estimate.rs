//! What the trials near the limit say of it: the limit with its interval, how much a trial varies, and whether the limit
//! itself moved meanwhile. Pure.

use super::{Made, told::Told};
use iotbench_statistics::{Slope, shift};
use serde::{Deserialize, Serialize};

/// A move is believed when chance makes one as great this seldom.
const BELIEVED: f64 = 0.01;
/// A trial stands apart when it is so many standard deviations of the ones before it away from them.
const APART: f64 = 3.0;
/// And never when it is as near as this, as a part of the limit.
const MIN_APART: f64 = 0.005;

/// How the limit was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// From how far each trial was from its limit: the line through them, inverted.
    Crossing,
    /// From which trials passed and which failed: the psychometric function's threshold.
    Threshold,
}

/// The limit from one level to another while it was searched for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Move {
    /// The trial, from 1, with which the new level begins.
    pub at_trial: u32,
    /// The limit before it; `None`: too few trials tell it.
    pub before: Option<f64>,
    /// The limit from it on.
    pub after: Option<f64>,
}

/// The load that half of the trials sustain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The load.
    pub load: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How it was told.
    pub method: Method,
    /// The standard deviation of the limit from trial to trial, as a part of it.
    pub spread: f64,
    /// Trials near the limit.
    pub trials: u32,
    /// Whether the last block's trials came to what the ones before them had.
    pub settled: bool,
    /// That the limit moved meanwhile: then no interval around one limit says where it is.
    pub moved: Option<Move>,
}

impl Estimate {
    /// Of the trials of a search, in their order. `bracket`: the loads between which they were begun.
    ///
    /// `None`: too few of them were near the limit.
    pub(super) fn of(trials: &[Made], bracket: (f64, f64), slope: Slope, seed: u64) -> Option<Self> {
        let told = Told::of(trials, bracket, slope)?;
        let is_watched = |made: &Made| made.is_near() || made.is_sentinel();
        let watched: Vec<(usize, &Made)> = trials.iter().enumerate().filter(|(_, made)| is_watched(made)).collect();
        let residuals = residuals(&told, &watched);
        let moved = shift(&residuals, seed).filter(|found| found.p_value <= BELIEVED).and_then(|found| {
            let (at, _) = *watched.get(found.at)?;
            let (early, late) = trials.split_at(at);
            let limit = |part| Told::of(part, bracket, slope).map(|told| told.interval.mean.exp());
            Some(Move { at_trial: u32::try_from(at + 1).unwrap_or(u32::MAX), before: limit(early), after: limit(late) })
        });
        let [low, high] = [told.interval.low.exp(), told.interval.high.exp()];
        // Of a limit that was two, both are held.
        let both = moved.into_iter().flat_map(|moved| [moved.before, moved.after]).flatten();
        let (low, high) = both.fold((low, high), |(low, high), limit| (low.min(limit), high.max(limit)));
        Some(Self {
            load: told.interval.mean.exp(),
            low,
            high,
            method: told.method,
            spread: told.spread,
            trials: u32::try_from(trials.iter().filter(|made| made.is_near()).count()).unwrap_or(u32::MAX),
            settled: is_settled(&residuals),
            moved,
        })
    }

    /// By what part of its upper end the interval is wide.
    pub(super) fn width(&self) -> f64 {
        (self.high - self.low) / self.high
    }
}

/// How much greater the limit was in each trial than in all of them. A sentinel lies too far from the limit to tell where it
/// is, and tells whether it moved: only what sets it apart from the other sentinels counts.
fn residuals(told: &Told, trials: &[(usize, &Made)]) -> Vec<f64> {
    let sentinels: Vec<f64> =
        trials.iter().filter(|(_, made)| made.is_sentinel()).map(|(_, made)| told.residual(made)).collect();
    let level = sentinels.iter().sum::<f64>() / sentinels.len().max(1) as f64;
    let of = |made: &Made| told.residual(made) - if made.is_sentinel() { level } else { 0.0 };
    trials.iter().map(|(_, made)| of(made)).collect()
}

/// Whether the last block lies within what the ones before it vary by.
fn is_settled(residuals: &[f64]) -> bool {
    let (before, last) = residuals.split_at(residuals.len().saturating_sub(super::OF_A_BLOCK as usize));
    let mean = before.iter().sum::<f64>() / before.len().max(1) as f64;
    let squares: f64 = before.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / before.len().saturating_sub(1).max(1) as f64).sqrt();
    last.iter().all(|value| (value - mean).abs() <= APART * deviation + MIN_APART)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ramp::{Purpose, Step},
        search::{TrialReport, TrialVerdict},
    };

    #[test]
    fn an_interval_is_as_wide_as_a_part_of_its_upper_end() {
        let (method, moved) = (Method::Crossing, None);
        let estimate =
            Estimate { load: 95.0, low: 90.0, high: 100.0, method, spread: 0.01, trials: 12, settled: true, moved };
        assert_eq!(estimate.width(), 0.1);
    }

    /// The ones before vary by 0.01 around 1: the last block may be 0.035 away.
    #[test]
    fn a_last_block_within_three_deviations_of_those_before_it_is_settled() {
        let settled = |last: [f64; 3]| is_settled(&[&[1.01, 0.99, 1.0][..], &last].concat());
        assert!(settled([1.034, 0.966, 1.0]));
        assert!(!settled([1.0, 1.036, 1.0]) && !settled([1.0, 1.0, 0.964]));
    }

    fn made(load: u32, purpose: Purpose, margin: f64) -> Made {
        let verdict = if margin > 0.0 { TrialVerdict::TooMuch } else { TrialVerdict::Sustained };
        Made { step: Step { load, purpose }, report: TrialReport { verdict, margin: Some(margin) } }
    }

    /// A trial of a server with such a limit, which it misses by so much.
    fn near(load: u32, limit: f64, by: f64) -> Made {
        let purpose = if f64::from(load) < limit { Purpose::Below } else { Purpose::Above };
        made(load, purpose, (f64::from(load) / limit).ln() + by)
    }

    /// Sentinels lie 0.4 above what the line says, one of them 0.1 more than the other: that tenth alone is told of them.
    #[test]
    fn of_a_sentinel_only_what_sets_it_apart_from_the_others_counts() {
        let trials: Vec<Made> = (0..4).flat_map(|_| [near(95, 100.0, 0.0), near(105, 100.0, 0.0)]).collect();
        let told = Told::of(&trials, (90.0, 110.0), Slope::AtLeast(1.0)).unwrap();
        let at = (75_f64 / 100.0).ln();
        let watched = [
            near(95, 100.0, 0.01),
            made(75, Purpose::Sentinel, at - 0.35),
            near(105, 100.0, -0.02),
            made(75, Purpose::Sentinel, at - 0.45),
        ];
        let watched: Vec<(usize, &Made)> = watched.iter().enumerate().collect();
        let found = residuals(&told, &watched);
        for (found, expected) in found.iter().zip([-0.01, -0.05, 0.02, 0.05]) {
            assert!((found - expected).abs() < 1e-9, "{found}");
        }
    }

    /// Three trials of the growth, six at a limit of 1,000 and eight at one of 700, with a sentinel each second.
    #[test]
    fn a_move_is_told_with_the_trial_at_which_the_new_level_begins() {
        let wobble = |place: usize| if place.is_multiple_of(2) { 0.004 } else { -0.004 };
        let of = |place: usize| {
            let limit = if place < 6 { 1_000.0 } else { 700.0 };
            let load = if (place / 2).is_multiple_of(2) { 850 } else { 820 };
            near(load, limit, wobble(place))
        };
        let grown = [100, 200, 400].map(|load| made(load, Purpose::Grow, -1.0));
        let trials: Vec<Made> = grown.into_iter().chain((0..14).map(of)).collect();
        let estimate = Estimate::of(&trials, (400.0, 1_200.0), Slope::AtLeast(1.0), 1).unwrap();
        let moved = estimate.moved.unwrap();
        assert_eq!((moved.at_trial, estimate.trials), (10, 14));
        let (before, after) = (moved.before.unwrap(), moved.after.unwrap());
        assert!((before / 1_000.0 - 1.0).abs() < 0.01 && (after / 700.0 - 1.0).abs() < 0.01, "{moved:?}");
        assert!(estimate.low <= after && before <= estimate.high, "both are held: {estimate:?}");
    }

    /// Sentinels tell a move although they are no trials near the limit.
    #[test]
    fn sentinels_tell_whether_the_limit_moved() {
        let at = |place: usize| if place < 8 { 1_000.0 } else { 800.0 };
        let wobble = |place: usize| f64::from(u32::try_from(place * 7 % 5).unwrap()) * 0.001;
        let sentinel = |place: usize| made(700, Purpose::Sentinel, (700_f64 / at(place)).ln() + wobble(place));
        let close: Vec<Made> =
            (0..8).map(|place| near(if place % 2 == 0 { 990 } else { 1_010 }, 1_000.0, wobble(place))).collect();
        let trials: Vec<Made> = (0..16).map(sentinel).chain(close.iter().copied()).collect();
        let estimate = Estimate::of(&trials, (900.0, 1_100.0), Slope::AtLeast(1.0), 1).unwrap();
        assert_eq!((estimate.moved.map(|moved| moved.at_trial), estimate.trials), (Some(9), 8));
        let alone = Estimate::of(&close, (900.0, 1_100.0), Slope::AtLeast(1.0), 1).unwrap();
        assert_eq!(alone.moved, None);
    }
}
