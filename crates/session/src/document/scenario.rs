//! What was done to the server's processes, and what the load noticed of it.

use iotbench_engine::Outcome;
use iotbench_report::{
    ActionTaken, Scenario, ScenarioPhase, Silence,
    rounding::{rounded, seconds},
};

/// As it went, with what was missing at the end.
pub(super) fn of_run(outcome: &Outcome) -> Option<Scenario> {
    let scenario = outcome.scenario.as_ref()?;
    let acked = (outcome.preloaded_points + outcome.points.acked).saturating_sub(outcome.stored.replaced.acked);
    Some(Scenario {
        marks: scenario.marks.iter().map(action).collect(),
        before: phase(scenario.before),
        during: phase(scenario.during),
        after: phase(scenario.after),
        outage_s: scenario.outage_s,
        silence: scenario.silence.map(silence),
        silence_before: scenario.silence_before.map(silence),
        recovery_s: scenario.recovery_ns.map(seconds),
        missing_points: outcome.stored.counts.map(|stored| acked.saturating_sub(stored.points)),
    })
}

fn silence(silence: iotbench_engine::Silence) -> Silence {
    Silence { at_least_s: seconds(silence.at_least_ns), at_most_s: silence.at_most_ns.map(seconds) }
}

fn action(mark: &iotbench_engine::ActionTaken) -> ActionTaken {
    ActionTaken {
        action: mark.action.action.name().into(),
        role: mark.action.role.clone(),
        node: mark.action.node,
        from_s: Some(seconds(mark.from_ns)),
        to_s: mark.to_ns.map(seconds),
        error: mark.error.clone(),
    }
}

fn phase(stretch: iotbench_engine::ScenarioPhase) -> ScenarioPhase {
    let iotbench_engine::ScenarioPhase { seconds, operations_per_s, errors } = stretch;
    ScenarioPhase { seconds, operations_per_s: rounded(operations_per_s), errors }
}
