//! The answer of a ramp.

use super::{
    estimate,
    search::{self, limit},
    storage_probes,
    throughput::visibility,
    usl,
};
use iotbench_engine::{Outcome, RampState, StepFigures};
use iotbench_report::{
    Backlog, Capacity, Preconditioning, Purpose, State, Step,
    rounding::{finite, mean_us, rounded, seconds, us},
};

/// `None`: it was no ramp.
pub(super) fn of_run(outcome: &Outcome) -> Option<Capacity> {
    let capacity = outcome.capacity.as_ref()?;
    Some(Capacity {
        quantity: capacity.quantity.name().into(),
        lower: capacity.bounds.lower,
        upper: capacity.bounds.upper,
        sustained: capacity.bounds.sustained,
        estimate: capacity.bounds.estimate.as_ref().map(|found| estimate::of(found, &capacity.steps)),
        earlier: None,
        criterion: capacity.criterion.clone(),
        state: state(outcome.plan.state),
        storage_probes: Some(storage_probes::of_ramp(outcome, &capacity.steps)),
        search: search::of_run(outcome),
        usl: usl::of_run(outcome),
        steps: capacity.steps.iter().map(step).collect(),
    })
}

fn state(state: RampState) -> State {
    match state {
        RampState::Fresh => State::Fresh,
        RampState::Preloaded => State::Preloaded,
        RampState::Preconditioned => State::Preconditioned,
        RampState::Keep => State::Keep,
    }
}

fn purpose(purpose: iotbench_engine::Purpose) -> Purpose {
    match purpose {
        iotbench_engine::Purpose::Grow => Purpose::Grow,
        iotbench_engine::Purpose::Bisect => Purpose::Bisect,
        iotbench_engine::Purpose::Below => Purpose::Below,
        iotbench_engine::Purpose::Above => Purpose::Above,
        iotbench_engine::Purpose::Sentinel => Purpose::Sentinel,
        iotbench_engine::Purpose::Retest => Purpose::Retest,
        iotbench_engine::Purpose::Listed => Purpose::Listed,
        iotbench_engine::Purpose::WritesAlone => Purpose::WritesAlone,
        iotbench_engine::Purpose::Soak => Purpose::Soak,
        iotbench_engine::Purpose::Overload => Purpose::Overload,
        iotbench_engine::Purpose::After => Purpose::After,
    }
}

fn step(figures: &StepFigures) -> Step {
    let conditions = &figures.conditions;
    Step {
        offered_load: figures.step.load,
        purpose: purpose(figures.step.purpose),
        from_s: Some(seconds(figures.from_ns)),
        length_s: Some(seconds(figures.length_ns)),
        followed_s: Some(seconds(figures.followed_ns)),
        load: figures.load,
        operations_per_s: rounded(figures.operations_per_s),
        values_per_s: rounded(figures.values_per_s),
        mean_response_us: figures.response.mean_ns.and_then(mean_us),
        mean_response_at_least_us: figures.response.mean_at_least_ns.and_then(mean_us),
        mean_response_at_most_us: figures.response.mean_at_most_ns.and_then(mean_us),
        p99_response_us: figures.response.p99_ns.map(us),
        p99_response_at_least_us: figures.response.p99_at_least_ns.map(us),
        p99_response_at_most_us: figures.response.p99_at_most_ns.map(us),
        points_dropped: figures.points_dropped,
        visibility: figures.visibility.as_ref().map(visibility),
        backlog: figures.backlog.as_ref().map(backlog),
        littles_ratio: figures.littles_ratio.and_then(rounded),
        others_cpu_pct: conditions.others.and_then(|others| rounded(others.cpu_mean * 100.0)),
        disturbed: conditions.others.is_some_and(|others| others.is_disturbed()),
        disturbed_before: conditions.disturbed_before,
        storage_probes: conditions.storage_probes.iter().map(storage_probes::figures).collect(),
        storage_drifted: conditions.storage_drifted,
        drifted_before: conditions.drifted_before,
        storage_bytes_before: conditions.storage_bytes,
        preconditioning: conditions.preconditioning.map(|of| Preconditioning { rounds: of.rounds, steady: of.steady }),
        passed: figures.judgement.passed,
        limit: figures.judgement.limit.map(limit),
        margin: figures.judgement.margin.and_then(rounded),
        failure: figures.judgement.failure.clone(),
    }
}

fn backlog(backlog: &iotbench_engine::Backlog) -> Backlog {
    Backlog {
        achieved_ratio: finite((backlog.achieved_ratio * 1e6).round() / 1e6),
        growth_per_s: rounded(backlog.growth_per_s),
        growth_error_per_s: rounded(backlog.growth_error_per_s),
    }
}
