//! Whether the load had settled, and how exact its means are.

use super::{Interval, rounded};
use crate::terminal::figure::{count, duration, significant};
use iotbench_engine::{Outcome, Steadiness, SteadySeries};
use iotbench_statistics::State;
use serde::{Deserialize, Serialize};

/// How steady a fixed load was, by the whole seconds of its measured part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// How many whole seconds there are.
    pub seconds: u64,
    /// Whether throughput and mean response time kept their levels; null: not judged, for which 100 seconds are needed.
    pub is_steady: Option<bool>,
    /// Seconds at the beginning that were still warm-up, by whichever of the two took longer; null: not judged.
    pub warm_up_s: Option<u64>,
    /// Operations acknowledged a second.
    pub operations_per_s: SteadyFigure,
    /// The mean response time of acknowledged operations, in microseconds; null: none was acknowledged.
    pub response_us: Option<SteadyFigure>,
}

/// A mean over the seconds that are left when its warm-up is cut off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyFigure {
    /// Seconds at the beginning that were cut off as warm-up, by MSER-5; null: not judged.
    pub warm_up_s: Option<u64>,
    /// What it did after them: steady, never_settled, drifting or jumped; null: not judged.
    pub state: Option<String>,
    /// By how much it drifted from one end to the other, or jumped, in percent; null where it did neither.
    pub change_pct: Option<f64>,
    /// When it jumped, in seconds since the run's start; null where it did not.
    pub jumped_at_s: Option<f64>,
    /// The mean over all seconds.
    pub mean_of_all: Option<f64>,
    /// The mean over the seconds after the warm-up.
    pub mean: Option<f64>,
    /// That mean's 95 % confidence interval by batch means; null: the seconds do not support one.
    pub ci95: Option<Interval>,
    /// As many independent seconds would tell as much of the mean.
    pub effective_seconds: Option<f64>,
}

impl Steady {
    /// `None` for a ramp, whose steps judge themselves, for a load that was disturbed or changes on purpose, and where nothing
    /// was measured.
    pub(super) fn of(outcome: &Outcome) -> Option<(Self, Vec<String>)> {
        let measured = outcome.measured.as_ref()?;
        let is_shaped = outcome.plan.groups.iter().any(|group| !group.shape.is_constant());
        if outcome.capacity.is_some() || outcome.scenario.is_some() || is_shaped {
            return None;
        }
        let found = Steadiness::of(&measured.seconds)?;
        let from_s = measured.from_ns as f64 / 1e9;
        let remarks = remarks(&found, from_s);
        let steady = Self {
            seconds: found.seconds as u64,
            is_steady: found.is_steady(),
            warm_up_s: found.warm_up_s().map(|s| s as u64),
            operations_per_s: SteadyFigure::new(&found.throughput, 1.0, from_s),
            response_us: found.response.as_ref().map(|response| SteadyFigure::new(response, 1e-3, from_s)),
        };
        Some((steady, remarks))
    }
}

impl SteadyFigure {
    fn new(series: &SteadySeries, unit: f64, from_s: f64) -> Self {
        let figure = |figure: f64| rounded(figure * unit);
        let (name, change, jumped_at) = match series.judgement.map(|judgement| judgement.state) {
            None => (None, None, None),
            Some(State::Steady) => (Some("steady"), None, None),
            Some(State::NeverSettled) => (Some("never_settled"), None, None),
            Some(State::Drifting { change }) => (Some("drifting"), Some(change), None),
            Some(State::Jumped { at, change }) => (Some("jumped"), Some(change), Some(from_s + at as f64)),
        };
        let effective = match &series.interval {
            Ok(means) => means.effective_size,
            Err(refused) => refused.effective_size,
        };
        let interval = series.interval.as_ref().ok().map(|means| means.interval);
        Self {
            warm_up_s: series.judgement.map(|judgement| judgement.cut as u64),
            state: name.map(Into::into),
            change_pct: change.and_then(|change| rounded(change * 100.0)),
            jumped_at_s: jumped_at.and_then(rounded),
            mean_of_all: figure(series.mean_of_all),
            mean: figure(series.mean),
            ci95: interval.map(|interval| Interval { low: figure(interval.low), high: figure(interval.high) }),
            effective_seconds: rounded(effective),
        }
    }

    /// Half the length of the interval in percent of the mean.
    pub(crate) fn half_width_pct(&self) -> Option<f64> {
        let interval = self.ci95.as_ref()?;
        let mean = self.mean.filter(|&mean| mean > 0.0)?;
        Some((interval.high? - interval.low?) / 2.0 / mean * 100.0)
    }
}

/// What a reader has to know before he takes a mean of this load for what it does.
fn remarks(found: &Steadiness, from_s: f64) -> Vec<String> {
    let throughput = ("the throughput", &found.throughput, &per_s as &dyn Fn(f64) -> String);
    let response =
        found.response.as_ref().map(|series| ("the mean response time", series, &of_ns as &dyn Fn(f64) -> String));
    std::iter::once(throughput)
        .chain(response)
        .flat_map(|(name, series, show)| of_series(name, series, show, from_s))
        .collect()
}

fn per_s(rate: f64) -> String {
    format!("{} operations/s", significant(rate))
}

fn of_ns(ns: f64) -> String {
    duration(ns / 1e3)
}

fn of_series(name: &str, series: &SteadySeries, show: &dyn Fn(f64) -> String, from_s: f64) -> Vec<String> {
    let Some(judgement) = series.judgement else { return Vec::new() };
    let percent = |change: f64| format!("{} %", significant(change.abs() * 100.0));
    let verb = |change: f64| if change < 0.0 { "fell" } else { "rose" };
    let unsteady = match judgement.state {
        State::Steady => None,
        State::NeverSettled => Some(format!("{name} had not settled at half of the measured part: warm up longer")),
        State::Drifting { change } => {
            Some(format!("{name} was not steady: it {} by {} over the measured part", verb(change), percent(change)))
        }
        State::Jumped { at, change } => Some(format!(
            "{name} was not steady: it {} by {} at {} of the run",
            verb(change),
            percent(change),
            duration((from_s + at as f64) * 1e6)
        )),
    };
    let warm_up = (judgement.cut > 0).then(|| {
        format!(
            "{name} was still warming up for {} s of the measured part: without them its mean is {}, not {}",
            count(judgement.cut as u64),
            show(series.mean),
            show(series.mean_of_all)
        )
    });
    warm_up.into_iter().chain(unsteady).collect()
}
