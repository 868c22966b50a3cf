//! The checks of a profile's fields, and their meaning.

use super::{PhasesPlan, StopPlan, devices, interval, shortened};
use crate::{
    profile::{LoadModel, Profile, Ramp, ShapeKind},
    ramp::{Afterwards, Course, Quantity, RampPlan},
    search::SearchPlan,
    units::{Auto, Count, Span},
};
use iotbench_core::{Backend, Settings};

type FieldError = (String, String);

/// More datapoints of a device than this are a slip; those of all devices still fit 64 bits.
const MAX_PRELOAD: u64 = 1_000_000_000_000;
/// A list longer than this is a slip.
const MAX_STEPS: usize = 1000;
/// Fewer trials near the limit tell no interval; more are a slip.
const MIN_TRIALS: u64 = 12;
const MAX_TRIALS: u64 = 300;
/// An operation of more requests, or a request over more devices, is a slip.
const MAX_A_REQUEST: u64 = 1_000_000;
const DEFAULT_DURATION: Span = Span::from_secs(30);
pub(super) const STEP_OF_A_STUDY: Span = Span::from_secs(60);
/// A step shows nothing about a limit on the response time unless it lasts several times as long.
const STEP_OVER_CRITERION: u64 = 3;
const DEADLINE_OVER_CRITERION: u64 = 2;

pub(super) fn profile(profile: &Profile) -> Result<(), FieldError> {
    if profile.groups.is_empty() {
        return Err(("groups".into(), "a profile needs at least one group".into()));
    }
    if profile.groups.len() > 64 {
        return Err(("groups".into(), "a profile has at most 64 groups".into()));
    }
    for (i, group) in profile.groups.iter().enumerate() {
        for (j, operation) in group.operations.iter().enumerate() {
            if !(operation.share.is_finite() && operation.share > 0.0) {
                return Err((format!("groups.{i}.operations.{j}.share"), "a share is a positive number".into()));
            }
            for (key, count) in
                [("requests", operation.requests.0), ("devices", operation.devices.count().unwrap_or(1))]
            {
                if count == 0 || count > MAX_A_REQUEST {
                    let message = format!("from 1 to {MAX_A_REQUEST}, got {count}");
                    return Err((format!("groups.{i}.operations.{j}.{key}"), message));
                }
            }
        }
        let (most, users) = (devices::MOST / devices::of_request(group), group.load.users.0);
        if users == 0 || users > most {
            return Err((format!("groups.{i}.load.users"), format!("from 1 to {most} users, got {users}")));
        }
    }
    for (key, span) in [("duration", profile.phases.duration.set()), ("warmup", Some(profile.phases.warmup))] {
        if let Some(span) = span.filter(|s| s.0.subsec_nanos() != 0) {
            return Err((
                format!("phases.{key}"),
                format!("{span}: windows are whole seconds, so write a whole number of them"),
            ));
        }
    }
    if profile.phases.preload.0 > MAX_PRELOAD {
        return Err(("phases.preload".into(), format!("at most {MAX_PRELOAD} datapoints of each device")));
    }
    if profile.phases.duration == Auto::Set(Span::from_secs(0)) {
        return Err(("phases.duration".into(), "a measured part of no length measures nothing".into()));
    }
    if profile.phases.deadline.as_ns() == 0 {
        return Err(("phases.deadline".into(), "every operation would time out at once".into()));
    }
    if profile.phases.operations != Auto::Auto && profile.groups.iter().any(|g| g.load.model == LoadModel::Paced) {
        return Err((
            "phases.operations".into(),
            "sensors go on for a time: give a duration, or another load model".into(),
        ));
    }
    if let Some(ramp) = &profile.ramp {
        check_ramp(profile, ramp)?;
    }
    devices::check(profile)
}

fn check_ramp(profile: &Profile, ramp: &Ramp) -> Result<(), FieldError> {
    if ramp.steps.is_empty() {
        check_search(profile, ramp)?;
    } else {
        check_steps(profile, ramp)?;
    }
    if profile.groups.first().is_some_and(|g| g.load.model == LoadModel::Paced) {
        let message = "a ramp changes the users of a closed loop, the rate of an open one or the devices that report in an \
                       interval, in the first group";
        return Err(("ramp".into(), message.into()));
    }
    if profile.groups.iter().any(|g| g.load.model == LoadModel::PartlyOpen) {
        let message = "sessions that arrived in one step would go on in the next: give a partly open load as a fixed one, or \
                       search with an open loop (--arrival poisson) or a closed one (--arrival closed)";
        return Err(("ramp".into(), message.into()));
    }
    if ramp.resolution.0 <= 0.0 {
        let message = "a search ends when its bounds are this near: write a share above 0, such as 5% (--width)";
        return Err(("ramp.resolution".into(), message.into()));
    }
    if ramp.writes_alone && !is_mixed(profile) {
        let message = "only the users of a closed loop that write and read can write alone, where the first group is the \
                       only one";
        return Err(("ramp.writes_alone".into(), message.into()));
    }
    for (key, span) in [("soak", ramp.soak), ("overload", ramp.overload), ("rest", ramp.rest)] {
        if span.0.subsec_nanos() != 0 {
            let message = format!("{span}: windows are whole seconds, so write a whole number of them");
            return Err((format!("ramp.{key}"), message));
        }
    }
    if ramp.step.as_ns() == 0 || ramp.step.0.subsec_nanos() != 0 {
        let message = format!("{}: windows are whole seconds, so write a whole number of them", ramp.step);
        return Err(("ramp.step".into(), message));
    }
    let Some(criterion) = mean_response(profile).or(profile.stop.quantile_response.set()) else {
        return Ok(());
    };
    if interval::step(profile, ramp).as_ns() < STEP_OVER_CRITERION * criterion.as_ns() {
        let least = Span(criterion.0 * 3);
        return Err((
            "ramp.step".into(),
            format!("a step lasts at least three times the limit of {criterion}: {least}"),
        ));
    }
    if profile.phases.deadline.as_ns() < DEADLINE_OVER_CRITERION * criterion.as_ns() {
        let least = Span(criterion.0 * 2);
        return Err((
            "phases.deadline".into(),
            format!("the deadline is at least twice the limit of {criterion}: {least}"),
        ));
    }
    Ok(())
}

/// Whether there is one group, of virtual users some of whom write and some of whom read.
fn is_mixed(profile: &Profile) -> bool {
    let [group] = profile.groups.as_slice() else { return false };
    let reads = group.operations.iter().filter(|o| o.is_read()).count();
    group.load.model == LoadModel::Closed && (1..group.operations.len()).contains(&reads)
}

fn check_search(profile: &Profile, ramp: &Ramp) -> Result<(), FieldError> {
    if !(ramp.growth.is_finite() && ramp.growth > 1.0) {
        return Err(("ramp.growth".into(), "the load grows by a factor above 1".into()));
    }
    if ramp.trials.0 != 0 && !(MIN_TRIALS..=MAX_TRIALS).contains(&ramp.trials.0) {
        let message = format!(
            "from {MIN_TRIALS} to {MAX_TRIALS} steps near the limit, or 0 for none, which only brackets it: got {}",
            ramp.trials
        );
        return Err(("ramp.trials".into(), message));
    }
    if ramp.first.0 == 0 {
        return Err(("ramp.first".into(), "the first step needs a load of at least 1".into()));
    }
    let most = most_load(profile);
    if ramp.most.0 < ramp.first.0 || ramp.most.0 > most {
        return Err(("ramp.most".into(), format!("at least ramp.first ({}) and at most {most}", ramp.first)));
    }
    if mean_response(profile).or(profile.stop.quantile_response.set()).is_none() {
        return Err(("stop".into(), "a search needs a limit: stop.mean_response or stop.quantile_response, or --criterion \"p99<50ms\" of iotbench capacity".into()));
    }
    Ok(())
}

fn check_steps(profile: &Profile, ramp: &Ramp) -> Result<(), FieldError> {
    if ramp.steps.len() > MAX_STEPS {
        return Err(("ramp.steps".into(), format!("at most {MAX_STEPS} steps")));
    }
    let most = most_load(profile);
    match ramp.steps.iter().find(|load| load.0 == 0 || load.0 > most) {
        Some(load) => Err(("ramp.steps".into(), format!("each from 1 to {most}, got {load}"))),
        None => Ok(()),
    }
}

/// The limit on the mean response time, as written or in the study's proportion.
fn mean_response(profile: &Profile) -> Option<Span> {
    profile.stop.mean_response.set().or_else(|| interval::mean_response(profile))
}

/// A user has as many devices as its requests are over.
fn most_load(profile: &Profile) -> u64 {
    profile
        .groups
        .first()
        .filter(|_| quantity(profile) != Quantity::Devices)
        .map_or(devices::MOST, |group| devices::MOST / devices::of_request(group))
}

pub(super) fn settings(profile: &Profile, backend: &str) -> Result<Settings, String> {
    let Some(table) = profile.backend.get(backend) else { return Ok(Settings::default()) };
    match serde_json::to_value(table) {
        Ok(serde_json::Value::Object(map)) => Ok(Settings(map)),
        Ok(_) => Err(format!("backend.{backend} is a table of settings")),
        Err(e) => Err(format!("backend.{backend}: {e}")),
    }
}

/// `period_ns`: from one datapoint of a device to its next.
pub(super) fn phases(profile: &Profile, period_ns: i64) -> PhasesPlan {
    let phases = &profile.phases;
    let period_ns = u64::try_from(period_ns).unwrap_or(1).max(1);
    PhasesPlan {
        preload: phases.history.set().map_or(phases.preload.0, |history| history.as_ns().div_ceil(period_ns)),
        preload_devices: devices::with_history(profile),
        warmup_ns: phases.warmup.as_ns(),
        duration_ns: phases.duration.set().unwrap_or(DEFAULT_DURATION).as_ns(),
        operations: phases.operations.set().map(|n| n.0),
        deadline_ns: phases.deadline.as_ns(),
        drain_ns: phases.drain.set().unwrap_or(phases.deadline).as_ns(),
        settle_ns: phases.settle.as_ns(),
        run_deadline_ns: phases.run_deadline.set().map(Span::as_ns),
        others_cpu: phases.others_cpu.0,
        server_counters: phases.server_counters,
    }
}

pub(super) fn ramp(profile: &Profile, ramp: &Ramp) -> RampPlan {
    let load = |n: Count| u32::try_from(n.0).unwrap_or(u32::MAX);
    let course = if ramp.steps.is_empty() {
        Course::Search(SearchPlan {
            first: load(ramp.first),
            growth: ramp.growth,
            most: load(ramp.most),
            resolution: ramp.resolution.0,
            trials: load(ramp.trials),
            closed: is_closed(profile),
            seed: profile.seed.0,
        })
    } else {
        Course::Steps(ramp.steps.iter().copied().map(load).collect())
    };
    let afterwards = Afterwards {
        writes_alone: ramp.writes_alone,
        soak_ns: ramp.soak.as_ns(),
        overload_ns: ramp.overload.as_ns(),
        rest_ns: ramp.rest.as_ns(),
    };
    RampPlan { quantity: quantity(profile), step_ns: interval::step(profile, ramp).as_ns(), course, afterwards }
}

/// Whether trials are of the users of one closed loop, and the limit is on the mean response alone.
fn is_closed(profile: &Profile) -> bool {
    let is_of_mean = mean_response(profile).is_some() && profile.stop.quantile_response.set().is_none();
    is_of_mean && profile.groups.len() == 1 && quantity(profile) == Quantity::Users
}

/// What a ramp of this profile changes.
pub(super) fn quantity(profile: &Profile) -> Quantity {
    match profile.groups.first().map(|g| g.load.model) {
        Some(LoadModel::Open) => Quantity::OperationsPerSecond,
        Some(LoadModel::Interval) => Quantity::Devices,
        _ => Quantity::Users,
    }
}

pub(super) fn stop(profile: &Profile) -> StopPlan {
    let stop = &profile.stop;
    StopPlan {
        mean_response_ns: mean_response(profile).map(Span::as_ns),
        quantile_response: stop.quantile_response.set().map(|s| (stop.quantile.0, s.as_ns())),
        errors: stop.errors.0,
        timeouts: stop.timeouts.0,
        max_loss: stop.max_loss.set().map(|share| share.0).or_else(|| has_sensors(profile).then_some(0.0)),
    }
}

/// Whether there are sensors that go on measuring whatever becomes of their datapoints.
fn has_sensors(profile: &Profile) -> bool {
    profile.groups.iter().any(|group| group.load.model == LoadModel::Paced)
}

pub(super) fn remarks(profile: &Profile, backend: &dyn Backend, insecure: bool) -> Vec<String> {
    let mut remarks = Vec::new();
    if insecure {
        remarks.push("certificates were not checked: whoever answered may be somebody else".into());
    }
    if let Some(ramp) = &profile.ramp
        && let step = interval::step(profile, ramp)
        && step.as_ns() < STEP_OF_A_STUDY.as_ns()
    {
        remarks.push(format!("indicative: steps of {step}, below {STEP_OF_A_STUDY}"));
    }
    if let Some(ramp) = &profile.ramp
        && quantity(profile) == Quantity::OperationsPerSecond
        && let least = Span::from_secs(stop(profile).least_trial_s() as u64)
        && interval::step(profile, ramp).as_ns() < least.as_ns()
    {
        remarks.push(format!("steps below {least} do not tell whether the backlog grows"));
    }
    if profile.groups.iter().any(|g| g.load.shape != ShapeKind::Constant) {
        remarks.push("the load changes with time: whether it was steady is not judged".into());
    }
    if profile.groups.iter().any(|g| g.load.model == LoadModel::Closed) {
        remarks.push("closed loop: a slow answer delays the next operation of its user".into());
    }
    if !backend.info().capabilities.transactions
        && profile.groups.iter().flat_map(|g| &g.operations).any(|o| o.transaction)
    {
        remarks.push(format!("{} has no transactions: the requests are single ones", backend.info().name));
    }
    remarks.extend(shortened::remark(profile));
    remarks
}
