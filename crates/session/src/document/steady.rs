//! Whether the load had settled, and how exact its means are.

use iotbench_engine::{Outcome, Steadiness, SteadySeries};
use iotbench_report::{
    Interval, Steady, SteadyFigure,
    figure::{count, duration, significant},
    rounding::rounded,
};
use iotbench_statistics::State;

/// With what a reader has to know of it. `None` for a ramp, whose steps judge themselves, for a load that was disturbed or changes on
/// purpose, and where nothing was measured.
pub(super) fn of_run(outcome: &Outcome) -> Option<(Steady, Vec<String>)> {
    let measured = outcome.measured.as_ref()?;
    let is_shaped = outcome.plan.groups.iter().any(|group| !group.shape.is_constant());
    if outcome.capacity.is_some() || outcome.scenario.is_some() || is_shaped {
        return None;
    }
    let found = Steadiness::of(&measured.seconds)?;
    let from_s = measured.from_ns as f64 / 1e9;
    let remarks = remarks(&found, from_s);
    let steady = Steady {
        seconds: found.seconds as u64,
        is_steady: found.is_steady(),
        warm_up_s: found.warm_up_s().map(|s| s as u64),
        operations_per_s: figure_of(&found.throughput, 1.0, from_s),
        response_us: found.response.as_ref().map(|response| figure_of(response, 1e-3, from_s)),
    };
    Some((steady, remarks))
}

fn figure_of(series: &SteadySeries, unit: f64, from_s: f64) -> SteadyFigure {
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
    SteadyFigure {
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
