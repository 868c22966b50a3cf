//! What the trials near the limit say of it: the limit with its interval, how much a trial varies, and whether the limit
//! itself moved meanwhile. Pure.

use super::{Made, TrialVerdict};
use crate::ramp::Purpose;
use iotbench_statistics::{Attempt, MeanInterval, Slope, crossing, shift, threshold};
use serde::{Deserialize, Serialize};

/// A move is believed when chance makes one as great this seldom.
const BELIEVED: f64 = 0.01;
/// Thresholds are looked for as far beyond the bracket, as a logarithm.
const BEYOND: f64 = 0.5;

/// How the limit was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// From how far each trial was from its limit: the line through their logarithms, inverted.
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
    /// That the limit moved meanwhile: then the interval is none.
    pub moved: Option<Move>,
}

impl Estimate {
    /// Of the trials of a search, in their order. `bracket`: the loads between which they were begun.
    ///
    /// `None`: too few of them were near the limit.
    pub(super) fn of(trials: &[Made], bracket: (f64, f64), slope: Slope, seed: u64) -> Option<Self> {
        let near: Vec<(u32, &Made)> = (1..).zip(trials).filter(|(_, made)| is_near(made)).collect();
        let told = Told::of(near.iter().map(|(_, made)| *made), bracket, slope)?;
        let residuals: Vec<f64> = near.iter().map(|(_, made)| told.residual(made)).collect();
        let moved = shift(&residuals, seed).filter(|found| found.p_value <= BELIEVED).map(|found| {
            let (early, late) = near.split_at(found.at);
            let of = |part: &[(u32, &Made)]| {
                Told::of(part.iter().map(|(_, made)| *made), bracket, slope).map(|told| told.interval.mean.exp())
            };
            Move { at_trial: late.first().map_or(0, |(place, _)| *place), before: of(early), after: of(late) }
        });
        Some(Self {
            load: told.interval.mean.exp(),
            low: told.interval.low.exp(),
            high: told.interval.high.exp(),
            method: told.method,
            spread: told.spread,
            trials: u32::try_from(near.len()).unwrap_or(u32::MAX),
            moved,
        })
    }

    /// By what part of its upper end the interval is wide.
    pub(super) fn width(&self) -> f64 {
        (self.high - self.low) / self.high
    }
}

/// Whether a trial was run to tell the limit, and the database's part in it is known.
fn is_near(made: &Made) -> bool {
    let is_meant = matches!(made.step.purpose, Purpose::Below | Purpose::Above);
    is_meant && made.report.verdict != TrialVerdict::TooMuchForClient
}

/// The limit as a logarithm.
struct Told {
    interval: MeanInterval,
    method: Method,
    spread: f64,
}

impl Told {
    fn of<'a>(trials: impl Iterator<Item = &'a Made> + Clone, bracket: (f64, f64), slope: Slope) -> Option<Self> {
        let points: Option<Vec<(f64, f64)>> =
            trials.clone().map(|made| Some((f64::from(made.step.load).ln(), made.report.margin?))).collect();
        if let Some(found) = points.and_then(|points| crossing(&points, slope)) {
            return Some(Self { interval: found.interval, method: Method::Crossing, spread: found.spread });
        }
        let attempt = |made: &Made| Attempt {
            level: f64::from(made.step.load).ln(),
            failed: made.report.verdict == TrialVerdict::TooMuch,
        };
        let attempts: Vec<Attempt> = trials.map(attempt).collect();
        let found = threshold(&attempts, bracket.0.ln() - BEYOND, bracket.1.ln() + BEYOND)?;
        Some(Self { interval: found.interval, method: Method::Threshold, spread: found.spread })
    }

    /// How much greater the limit was in a trial than in all of them: a logarithm, or with pass and fail alone how much less
    /// than expected it failed.
    fn residual(&self, made: &Made) -> f64 {
        let level = f64::from(made.step.load).ln();
        match (self.method, made.report.margin) {
            (Method::Crossing, Some(margin)) => level - margin - self.interval.mean,
            _ => {
                let z = (level - self.interval.mean) / self.spread.max(f64::EPSILON);
                let expected = 1.0 / (1.0 + (-1.8 * z).exp());
                expected - f64::from(u8::from(made.report.verdict == TrialVerdict::TooMuch))
            }
        }
    }
}
