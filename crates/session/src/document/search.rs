//! How sure the interval of a search is, and what theory says beside it.

use iotbench_engine::{Course, Load, Outcome, Quantity, StepFigures};
use iotbench_report::{
    BoundTrials, Limit, Search,
    rounding::{part, rounded},
};

/// Of the trials of a load, the share that may fail.
const EXCEED_RATIO: f64 = 0.5;

pub(super) fn limit(limit: iotbench_engine::Limit) -> Limit {
    match limit {
        iotbench_engine::Limit::Latency => Limit::Latency,
        iotbench_engine::Limit::Backlog => Limit::Backlog,
        iotbench_engine::Limit::Errors => Limit::Errors,
        iotbench_engine::Limit::Loss => Limit::Loss,
        iotbench_engine::Limit::Visibility => Limit::Visibility,
        iotbench_engine::Limit::Unsteady => Limit::Unsteady,
        iotbench_engine::Limit::Client => Limit::Client,
    }
}

/// `None`: the loads were listed.
pub(super) fn of_run(outcome: &Outcome) -> Option<Search> {
    let (capacity, ramp) = (outcome.capacity.as_ref()?, outcome.plan.ramp.as_ref()?);
    let Course::Search(plan) = &ramp.course else { return None };
    let steps: Vec<_> = capacity.steps.iter().filter(|step| step.step.purpose.is_trial()).collect();
    let bounds = capacity.bounds;
    let width = bounds.lower.zip(bounds.upper).map(|(lower, upper)| f64::from(upper - lower) / f64::from(upper));
    let failed = || steps.iter().filter(|step| !step.judgement.passed).map(|step| step.step.load);
    let from_upper = failed().filter(|&load| bounds.upper.is_none_or(|upper| load >= upper)).min();
    Some(Search {
        goal_width: part(plan.resolution),
        width: width.and_then(part),
        trials: steps.len() as u64,
        most_trials_near: plan.trials,
        goal_exceed_ratio: rounded(EXCEED_RATIO),
        at_sustained: bounds.sustained.map(|load| bound(&steps, load, true)),
        at_failed: from_upper.or(failed().max()).map(|load| bound(&steps, load, false)),
        client_limited: bounds.client_limited,
        disk_bound_bytes: disk_bound(outcome, plan.most),
        littles_users: littles_users(outcome, &steps).and_then(rounded),
    })
}

/// The bound on the disk, where the greatest load that it leaves was sustained.
fn disk_bound(outcome: &Outcome, most: u32) -> Option<u64> {
    let bounds = outcome.capacity.as_ref()?.bounds;
    let is_bound = bounds.upper.is_none() && bounds.sustained == Some(most);
    outcome.plan.disk_bound.filter(|_| is_bound).map(|bound| bound.bytes)
}

fn bound(steps: &[&StepFigures], load: u32, is_sustained: bool) -> BoundTrials {
    let trials: Vec<_> = steps.iter().filter(|step| step.step.load == load).collect();
    let failed = trials.iter().filter(|step| !step.judgement.passed).count() as u64;
    let count = trials.len() as u64;
    let rates = trials.iter().filter(|step| step.judgement.passed == is_sustained).map(|step| step.operations_per_s);
    let achieved = if is_sustained { rates.reduce(f64::min) } else { rates.reduce(f64::max) };
    let mut limits: Vec<Limit> = Vec::new();
    for limit in trials.iter().filter_map(|step| step.judgement.limit).map(limit) {
        if !limits.contains(&limit) {
            limits.push(limit);
        }
    }
    BoundTrials {
        load,
        sustained: count - failed,
        failed,
        exceed_ratio: rounded(failed as f64 / count.max(1) as f64),
        achieved_per_s: achieved.and_then(rounded),
        limits,
    }
}

fn littles_users(outcome: &Outcome, steps: &[&StepFigures]) -> Option<f64> {
    let plan = &outcome.plan;
    let ([group], Quantity::Users) = (plan.groups.as_slice(), outcome.capacity.as_ref()?.quantity) else { return None };
    let Load::Closed { think_ns, .. } = group.load else { return None };
    let limit_ns = plan.stop.mean_response_ns?;
    let most = steps.iter().map(|step| step.operations_per_s).fold(0.0, f64::max);
    Some(most * (limit_ns + think_ns) as f64 / 1e9)
}
