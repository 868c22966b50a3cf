//! What was counted in a step, as its figures with the verdict on them.

use crate::{
    client::ClientLoad,
    margin::{ClosedLoop, margin},
    outcome::{Measured, StepConditions, StepFigures, StepJudgement, StepResponse},
    plan::{Load, Plan},
    ramp::{Quantity, RampPlan, Step},
    slice::UserTime,
    totals::Due,
    trial::{Backlog, BrokenPacing, Failure, Limit, SecondOfQueue, Trial},
};
use iotbench_recorder::{Bounded, KindRecording, Latency, LatencyHistogram, Level, LoadCounts, Quantile};

/// What was counted in a step beside what was measured.
pub(super) struct Counted {
    pub(super) step: Step,
    /// What was due in it.
    pub(super) due: Due,
    /// How long after its end its operations were followed.
    pub(super) followed_ns: u64,
    /// How long since it ended: at least so long each of these has waited.
    pub(super) waited_ns: u64,
    /// What users of a closed loop did beside operations and thinking, before the step and within it.
    pub(super) user_times: [UserTime; 2],
    /// Requests that were not stored in time when a window ended.
    pub(super) late: u64,
    /// Whether what became visible could not be counted, although an acknowledgement does not say it.
    pub(super) is_visibility_missing: bool,
    /// Whether the database shares the client's process: then it is no fault of the client to be late.
    pub(super) embedded: bool,
    /// What agents measured of themselves, where they make the load.
    pub(super) clients: Vec<(String, ClientLoad)>,
}

impl Counted {
    /// Whether the load is too much whatever becomes of what has no answer yet.
    pub(super) fn fails_already(&self, ramp: &RampPlan, plan: &Plan, measured: &Measured) -> bool {
        let pooled = measured.recording.pooled();
        self.trial(ramp, plan, measured, &pooled).fails_already(&plan.stop).is_some()
    }

    pub(super) fn figures(&self, ramp: &RampPlan, plan: &Plan, measured: &Measured) -> StepFigures {
        let pooled = measured.recording.pooled();
        let trial = self.trial(ramp, plan, measured, &pooled);
        let failure = trial.failure(&plan.stop).or_else(|| self.missing_visibility());
        // What the client's own delay is a part of lies between what it is without that and with it.
        let is_range = trial.response.mean_range(&trial.undelayed).is_some();
        let is_bound = is_range || !trial.response.is_known();
        let most = trial.mean_response_ns.filter(|_| is_range && trial.response.is_known());
        let p99 = QuantileFigures::of(&trial.response, &trial.undelayed, Level::P99);
        let seconds = measured.seconds_long();
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let rate = |n: u64| n as f64 / seconds;
        let failed_by = failure.as_ref().map(|failure| failure.limit);
        let users = self.closed_loop(ramp, plan, rate(measured.counts.ok));
        StepFigures {
            step: self.step,
            from_ns: measured.from_ns,
            length_ns: measured.to_ns - measured.from_ns,
            load: trial.load,
            operations_per_s: rate(measured.counts.ok),
            values_per_s: rate(measured.counts.values_acked),
            response: StepResponse {
                mean_ns: trial.mean_response_ns.filter(|_| !is_bound),
                mean_at_least_ns: trial.undelayed.at_least().mean_ns().filter(|_| is_bound),
                mean_at_most_ns: most,
                p99_ns: p99.known_ns,
                p99_at_least_ns: p99.at_least_ns,
                p99_at_most_ns: p99.at_most_ns,
            },
            points_dropped: measured.counts.points.dropped,
            visibility: trial.visibility,
            backlog: trial.backlog,
            littles_ratio: trial.littles_ratio,
            followed_ns: self.followed_ns,
            conditions: StepConditions::default(),
            judgement: StepJudgement {
                passed: failure.is_none(),
                limit: failed_by,
                margin: margin(&trial, failed_by, &plan.stop, users),
                failure: failure.map(|failure| failure.message),
            },
        }
    }

    /// What was counted, for the verdict on it. `pooled`: the operations of all kinds.
    fn trial(&self, ramp: &RampPlan, plan: &Plan, measured: &Measured, pooled: &KindRecording) -> Trial {
        let Due { all: offered, unoffered, unanswered } = self.due;
        let Self { waited_ns, late, .. } = *self;
        let recorded = *pooled.load();
        let answered = recorded.ok + recorded.fail + recorded.unknown;
        let load = LoadCounts { offered, started: answered, pending: unanswered + recorded.pending, ..recorded };
        let known = pooled.by_operation().ok().response();
        let mut unanswered_yet = pooled.by_operation().unknown().map(Latency::response).cloned().unwrap_or_default();
        unanswered_yet.record_many(waited_ns, unanswered);
        let response = Bounded::new(known, Some(&unanswered_yet), pooled.never_started());
        let mut undelayed = pooled.by_operation().unknown().map(Latency::undelayed).cloned().unwrap_or_default();
        undelayed.record_many(waited_ns, unanswered);
        let ok = pooled.by_operation().ok();
        let undelayed = Bounded::new(ok.undelayed(), Some(&undelayed), pooled.never_started());
        let mean_response_ns = response.at_least().mean_ns();
        let backlog = match ramp.quantity {
            Quantity::OperationsPerSecond => queue(measured, unoffered, plan),
            // A closed loop has no queue, and within an interval each has one.
            Quantity::Users | Quantity::Devices => None,
        };
        let pacing = match ramp.quantity {
            Quantity::Users => None,
            _ if self.embedded => None,
            _ => BrokenPacing::of(&measured.pacing_error, known),
        };
        let client = self.limitation(measured, known);
        let littles_ratio = littles_ratio(self, ramp, plan, measured, pooled);
        let visibility = measured.visibility;
        let points = measured.counts.points;
        let lost = [points.dropped, points.generated];
        Trial {
            load,
            lost,
            mean_response_ns,
            response,
            undelayed,
            embedded: self.embedded,
            backlog,
            littles_ratio,
            late,
            visibility,
            client,
            pacing,
        }
    }

    /// How whoever made the load was the limit.
    fn limitation(&self, measured: &Measured, response: &LatencyHistogram) -> Option<String> {
        let of = |client: &ClientLoad| Some(client.limitations(response, self.embedded).first()?.to_string());
        if self.clients.is_empty() {
            return of(&measured.client);
        }
        self.clients.iter().find_map(|(agent, client)| Some(format!("agent {agent}: {}", of(client)?)))
    }

    fn closed_loop(&self, ramp: &RampPlan, plan: &Plan, operations_per_s: f64) -> Option<ClosedLoop> {
        let think_ns = think_ns(ramp, plan)?;
        Some(ClosedLoop { users: self.step.load, think_ns, operations_per_s })
    }

    fn missing_visibility(&self) -> Option<Failure> {
        let message = "what became visible could not be counted in time".into();
        self.is_visibility_missing.then_some(Failure { limit: Limit::Visibility, message })
    }
}

/// The queue of an open loop. `unreleased`: operations that were due and that no second has counted, because all that may
/// wait on their way were waiting: they were due last.
fn queue(measured: &Measured, unreleased: u64, plan: &Plan) -> Option<Backlog> {
    let mut seconds: Vec<_> = measured.seconds.iter().map(SecondOfQueue::from).collect();
    seconds.last_mut()?.offered += unreleased;
    Backlog::of(&seconds, plan.stop.settling_s())
}

/// X (R + Z) / N of the users of a plan's only group, over the operations that began within the step, as its mean is. Cycles
/// of an operation and a think time that the step's ends cut count as far as they lie within it; `None`: not all are known.
#[expect(clippy::cast_precision_loss, reason = "sums of times far below 2^53 ns each")]
fn littles_ratio(
    counted: &Counted,
    ramp: &RampPlan,
    plan: &Plan,
    measured: &Measured,
    pooled: &KindRecording,
) -> Option<f64> {
    let think_ns = think_ns(ramp, plan).filter(|_| counted.due.unanswered == 0)?;
    let users_ns = u128::from(counted.step.load) * u128::from(measured.to_ns - measured.from_ns);
    let by_outcome = pooled.by_operation();
    let ended = [Some(by_outcome.ok()), by_outcome.fail(), by_outcome.unknown()].into_iter().flatten();
    let cycle_ns = |latency: &Latency| latency.response().sum_ns() + u128::from(latency.count()) * u128::from(think_ns);
    let cycles_ns: u128 = ended.map(cycle_ns).sum();
    let [before, own] = counted.user_times;
    let edges_ns = before.until_next_ns as f64 + own.elsewhere_ns as f64 - own.until_next_ns as f64;
    (users_ns > 0).then(|| (cycles_ns as f64 + edges_ns) / users_ns as f64)
}

/// How long the users of a plan's only group think, in nanoseconds; `None`: the ramp is not one of users, or has more groups.
fn think_ns(ramp: &RampPlan, plan: &Plan) -> Option<u64> {
    let ([group], Quantity::Users) = (plan.groups.as_slice(), ramp.quantity) else { return None };
    match group.load {
        Load::Closed { think_ns, .. } => Some(think_ns),
        _ => None,
    }
}

/// A quantile that is known, or what it is at least, and at most where that is known; none of them: the sample is too small.
#[derive(Default)]
struct QuantileFigures {
    known_ns: Option<u64>,
    at_least_ns: Option<u64>,
    at_most_ns: Option<u64>,
}

impl QuantileFigures {
    /// `undelayed`: the same durations without the client's own delay.
    fn of(response: &Bounded, undelayed: &Bounded, level: Level) -> Self {
        let at_least_ns = || undelayed.bounds(level).map(|bounds| bounds.at_least_ns);
        match response.quantile(level) {
            Quantile::Value { ns, .. } if response.quantile_range(undelayed, level).is_none() => {
                Self { known_ns: Some(ns), ..Self::default() }
            }
            Quantile::Value { ns, .. } => Self { at_least_ns: at_least_ns(), at_most_ns: Some(ns), ..Self::default() },
            Quantile::AtLeast { .. } => Self { at_least_ns: at_least_ns(), ..Self::default() },
            Quantile::Unsupported { .. } => Self::default(),
        }
    }
}

#[cfg(test)]
mod recorded;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod virtual_time;
