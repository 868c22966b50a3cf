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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ramp::{Purpose, Step},
        search::TrialReport,
    };

    fn made(load: u32, verdict: TrialVerdict, margin: Option<f64>) -> Made {
        Made { step: Step { load, purpose: Purpose::Below }, report: TrialReport { verdict, margin } }
    }

    fn told(mean: f64, spread: f64, slope: Option<f64>) -> Told {
        Told { interval: MeanInterval { mean, low: mean, high: mean }, method: Method::Crossing, spread, slope }
    }

    /// A margin of 0.2 at a slope of 2 is a tenth of the load.
    #[test]
    fn a_trials_own_limit_is_told_by_its_margin() {
        let residual =
            |margin, slope| told(100_f64.ln(), 0.1, slope).residual(&made(100, TrialVerdict::Sustained, margin));
        assert!((residual(Some(-0.2), Some(2.0)) - 0.1).abs() < 1e-12, "it would have sustained 10 % more");
        assert!((residual(Some(0.2), Some(2.0)) + 0.1).abs() < 1e-12);
        assert!(
            (residual(None, Some(2.0)) - 0.5).abs() < 1e-12,
            "half of the trials at the limit fail, and it did not"
        );
        assert!((residual(Some(0.2), None) - 0.5).abs() < 1e-12);
    }

    /// A logistic curve as wide as a normal one is at 1 / (1 + exp(−π / √3)) = 0.8598 one spread above its middle.
    #[test]
    fn by_pass_and_fail_it_is_how_much_less_than_expected_it_failed() {
        let above = told(100_f64.ln() - 0.05, 0.05, None);
        let residual = |verdict| above.residual(&made(100, verdict, None));
        assert!((residual(TrialVerdict::Sustained) - 0.859_8).abs() < 1e-4);
        assert!((residual(TrialVerdict::TooMuch) + 0.140_2).abs() < 1e-4);
    }

    /// Trials at the limit of 50 by pass and fail, whose margins say that it is at `by_margins`.
    fn trials(by_margins: f64) -> Vec<Made> {
        let loads = [48, 52, 47, 53, 49, 51, 46, 54];
        let of = |load: u32| {
            let verdict = if load <= 50 { TrialVerdict::Sustained } else { TrialVerdict::TooMuch };
            made(load, verdict, Some((f64::from(load) / by_margins).ln()))
        };
        loads.into_iter().map(of).collect()
    }

    /// A line through margins that are not what trials fail by, such as a response that jumps at the limit.
    #[test]
    fn a_line_that_crosses_elsewhere_than_trials_pass_and_fail_is_not_believed() {
        let of = |trials: &[Made]| Told::of(trials, (40.0, 60.0), Slope::AtLeast(1.0)).unwrap();
        let agreeing = of(&trials(50.2));
        assert_eq!(agreeing.method, Method::Crossing);
        assert!((agreeing.interval.mean.exp() - 50.2).abs() < 1e-9);
        let contradicting = of(&trials(80.0));
        assert_eq!(contradicting.method, Method::Threshold);
        assert!((45.0..55.0).contains(&contradicting.interval.mean.exp()), "{}", contradicting.interval.mean.exp());
        assert_eq!(contradicting.slope, Some(1.0), "what is known of it beforehand");
        let unknown = Told::of(&trials(80.0), (40.0, 60.0), Slope::Unknown).unwrap();
        assert_eq!((unknown.method, unknown.slope), (Method::Threshold, None));
    }

    /// They passed and failed, far apart: where between them the limit is, no trial was run to tell.
    #[test]
    fn without_a_trial_near_the_limit_nothing_is_told() {
        let grow = |load, verdict| Made { step: Step { load, purpose: Purpose::Grow }, ..made(load, verdict, None) };
        let grown = [grow(40, TrialVerdict::Sustained), grow(60, TrialVerdict::TooMuch)];
        assert!(Told::of(&grown, (40.0, 60.0), Slope::Unknown).is_none());
        let with_near: Vec<Made> = grown.into_iter().chain(trials(50.0)).collect();
        assert!(Told::of(&with_near, (40.0, 60.0), Slope::Unknown).is_some());
    }

    /// What the client could not make says nothing of the database, and what is far from the bracket nothing of its limit.
    #[test]
    fn pass_and_fail_of_the_client_and_from_afar_are_left_out() {
        let of = |trials: &[Made]| Told::of(trials, (40.0, 60.0), Slope::Unknown).unwrap().interval;
        let own: Vec<Made> =
            trials(80.0).into_iter().map(|one| made(one.step.load, one.report.verdict, None)).collect();
        let alone = of(&own);
        let with = |more: &[Made]| of(&[own.as_slice(), more].concat());
        assert_eq!(with(&[made(58, TrialVerdict::TooMuchForClient, None); 5]), alone);
        let grow = |load, verdict| Made { step: Step { load, purpose: Purpose::Grow }, ..made(load, verdict, None) };
        assert_eq!(with(&[grow(24, TrialVerdict::TooMuch); 5]), alone, "40 / 24 is more than e to the half");
        assert_eq!(with(&[grow(99, TrialVerdict::Sustained); 5]), alone);
        assert_ne!(with(&[grow(26, TrialVerdict::TooMuch); 5]), alone, "and this one is within");
        assert_ne!(with(&[grow(98, TrialVerdict::Sustained); 5]), alone);
    }
}
