//! What was counted in a step, as its figures with the verdict on them.

use crate::{
    client::ClientLoad,
    outcome::{Measured, StepFigures},
    plan::{Load, Plan},
    ramp::{Quantity, RampPlan, Step},
    slice::Outstanding,
    trial::{Backlog, BrokenPacing, Failure, Limit, SecondOfQueue, Trial, littles_ratio},
};
use iotbench_recorder::{LatencyHistogram, Level, LoadCounts};

/// What was counted in a step beside what was measured.
pub(super) struct Counted<'a> {
    pub(super) step: Step,
    /// What it left unanswered.
    pub(super) outstanding: Outstanding,
    /// Requests that were not stored in time when a window ended.
    pub(super) late: u64,
    /// Whether what became visible could not be counted, although an acknowledgement does not say it.
    pub(super) is_visibility_missing: bool,
    /// Whether the database shares the client's process: then it is no fault of the client to be late.
    pub(super) embedded: bool,
    /// What agents measured of themselves, where they make the load.
    pub(super) clients: &'a [(String, ClientLoad)],
}

impl Counted<'_> {
    pub(super) fn figures(&self, ramp: &RampPlan, plan: &Plan, measured: &Measured) -> StepFigures {
        let Self { step, outstanding, late, .. } = *self;
        let pooled = measured.recording.pooled();
        let recorded = *pooled.load();
        let answered = recorded.ok + recorded.fail + recorded.unknown;
        let offered = answered + outstanding.operations + recorded.dropped;
        let load = LoadCounts { offered, started: answered, pending: outstanding.operations, ..recorded };
        let response = pooled.by_operation().ok().response();
        let samples = response.count() + outstanding.operations;
        #[expect(clippy::cast_precision_loss, reason = "a mean of sums far below 2^53 ns each")]
        let mean_response_ns =
            (samples > 0).then(|| (response.sum_ns() + outstanding.waited_ns) as f64 / samples as f64);
        let seconds = measured.seconds_long();
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let rate = |n: u64| n as f64 / seconds;
        let operations_per_s = rate(measured.counts.ok);
        let backlog = match ramp.quantity {
            Quantity::OperationsPerSecond => queue(measured, offered.saturating_sub(recorded.offered), plan),
            // A closed loop has no queue, and within an interval each has one.
            Quantity::Users | Quantity::Devices => None,
        };
        let broken_pacing = match ramp.quantity {
            Quantity::Users => None,
            _ if self.embedded => None,
            _ => BrokenPacing::of(&measured.pacing_error, response),
        };
        // What tells the cause before what tells the effect.
        let client = self.limitation(measured, response).or_else(|| Some(broken_pacing?.to_string()));
        let visibility = measured.visibility;
        let (waited_ns, length_ns) = (outstanding.waited_ns, measured.to_ns - measured.from_ns);
        let trial = Trial { load, mean_response_ns, response, waited_ns, length_ns, backlog, late, visibility, client };
        let failure = trial.failure(&plan.stop).or_else(|| self.missing_visibility());
        StepFigures {
            step,
            from_ns: measured.from_ns,
            length_ns,
            load,
            operations_per_s,
            values_per_s: rate(measured.counts.values_acked),
            mean_response_ns,
            p99_response_ns: response.quantile(Level::P99).ns(),
            points_dropped: measured.counts.points.dropped,
            visibility,
            backlog,
            littles_ratio: mean_response_ns.and_then(|mean_ns| little(step, ramp, plan, operations_per_s, mean_ns)),
            passed: failure.is_none(),
            limit: failure.as_ref().map(|failure| failure.limit),
            failure: failure.map(|failure| failure.message),
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

    fn missing_visibility(&self) -> Option<Failure> {
        let message = "what became visible could not be counted in time".into();
        self.is_visibility_missing.then_some(Failure { limit: Limit::Visibility, message })
    }
}

/// The queue of an open loop. `unreleased`: operations that were due and that no second has counted, because all that may
/// wait on their way were waiting: they were due last.
fn queue(measured: &Measured, unreleased: u64, plan: &Plan) -> Option<Backlog> {
    let mut seconds: Vec<_> = measured
        .seconds
        .iter()
        .map(|s| SecondOfQueue { offered: s.offered, ended: s.ok + s.errors + s.dropped })
        .collect();
    seconds.last_mut()?.offered += unreleased;
    Backlog::of(&seconds, plan.stop.settling_s())
}

/// Little's law on the users of a plan's only group.
fn little(step: Step, ramp: &RampPlan, plan: &Plan, operations_per_s: f64, mean_response_ns: f64) -> Option<f64> {
    let ([group], Quantity::Users) = (plan.groups.as_slice(), ramp.quantity) else { return None };
    let Load::Closed { think_ns, .. } = group.load else { return None };
    littles_ratio(operations_per_s, mean_response_ns, think_ns, step.load)
}
