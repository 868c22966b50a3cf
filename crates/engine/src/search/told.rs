//! Where the limit lies by trials near it, each told by how far it was from its own limit or by pass and fail alone. Pure.

use super::{Made, Method, TrialVerdict};
use iotbench_statistics::{Attempt, Crossing, MeanInterval, Slope, Threshold, crossing, threshold};

/// Thresholds are looked for as far beyond the bracket, as a logarithm.
const BEYOND: f64 = 0.5;
/// A logistic curve of a spread's z reaches these odds: π / √3.
const LOGISTIC: f64 = 1.813_799_364_234_217_8;

/// The limit as a logarithm.
pub(super) struct Told {
    pub(super) interval: MeanInterval,
    pub(super) method: Method,
    /// The standard deviation of one trial's own limit.
    pub(super) spread: f64,
    /// By how much a trial's margin grows with the logarithm of its load; `None`: not known.
    slope: Option<f64>,
}

impl Told {
    /// From the margins of the trials near the limit, if all have them and the line through them says what passing and failing
    /// says; else from passing and failing, of those that bracketed the limit too.
    ///
    /// `None`: none was near the limit.
    pub(super) fn of(trials: &[Made], bracket: (f64, f64), slope: Slope) -> Option<Self> {
        let near: Vec<&Made> = trials.iter().filter(|made| made.is_near()).collect();
        let (least, most) = (bracket.0.ln() - BEYOND, bracket.1.ln() + BEYOND);
        let tells = |made: &&Made| made.is_databases() && (least..=most).contains(&level(made));
        let attempts: Vec<Attempt> = trials.iter().filter(tells).map(attempt).collect();
        let by_verdicts = threshold(&attempts, least, most).filter(|_| !near.is_empty())?;
        let points: Option<Vec<(f64, f64)>> =
            near.iter().map(|made| Some((level(made), made.report.margin?))).collect();
        let known = if let Slope::AtLeast(least) = slope { Some(least) } else { None };
        let by_margins = points.and_then(|points| crossing(&points, slope));
        Some(match by_margins.filter(|line| agree(line, &by_verdicts)) {
            Some(Crossing { interval, spread, slope }) => {
                Self { interval, method: Method::Crossing, spread, slope: Some(slope) }
            }
            None => {
                let Threshold { interval, spread } = by_verdicts;
                Self { interval, method: Method::Threshold, spread, slope: known }
            }
        })
    }

    /// How much greater the limit was in a trial than in all of them: a logarithm, or with pass and fail alone how much less
    /// than expected it failed.
    pub(super) fn residual(&self, made: &Made) -> f64 {
        match (self.slope, made.report.margin) {
            (Some(slope), Some(margin)) => level(made) - margin / slope - self.interval.mean,
            _ => {
                let z = LOGISTIC * (level(made) - self.interval.mean) / self.spread.max(f64::EPSILON);
                1.0 / (1.0 + (-z).exp()) - f64::from(u8::from(attempt(made).failed))
            }
        }
    }
}

fn level(made: &Made) -> f64 {
    f64::from(made.step.load).ln()
}

fn attempt(made: &Made) -> Attempt {
    Attempt { level: level(made), failed: made.report.verdict == TrialVerdict::TooMuch }
}

/// Where the response jumps at the limit, a line through it crosses it elsewhere than trials pass and fail.
fn agree(line: &Crossing, by_verdicts: &Threshold) -> bool {
    by_verdicts.interval.contains(line.interval.mean)
}
