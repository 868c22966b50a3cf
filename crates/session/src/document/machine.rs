//! What the load had of the machine, and what others had of it meanwhile.

use iotbench_core::Acknowledgement;
use iotbench_engine::{GroupPlan, Outcome, StepFigures};
use iotbench_report::{Datagrams, Others, Resources, rounding::rounded};
use iotbench_sampler::OthersShare;

/// The machine is looked at once a second, and judged between two looks: a shorter part may have none.
const MIN_LOOKED_AT_S: f64 = 2.0;

pub(super) fn resources(outcome: &Outcome) -> Vec<Resources> {
    let machine = &outcome.machine;
    Resources::of_run(&machine.resources, machine.data_disk.medium, datagrams(outcome))
}

fn datagrams(outcome: &Outcome) -> Datagrams {
    if outcome.target.acknowledgement != Acknowledgement::None {
        return Datagrams::No;
    }
    let plan = &outcome.plan;
    let mut operations = plan.groups.iter().flat_map(GroupPlan::operations);
    let are_told_apart = plan.ramp.is_none() && operations.all(|operation| operation.question().is_none());
    let measured = outcome.measured.as_ref().filter(|_| are_told_apart);
    measured.map_or(Datagrams::Unknown, |measured| Datagrams::Sent(measured.counts.bytes))
}

pub(super) fn others(outcome: &Outcome) -> Others {
    let steps = outcome.capacity.iter().flat_map(|capacity| &capacity.steps);
    let is_disturbed = |step: &&StepFigures| step.conditions.others.is_some_and(|others| others.is_disturbed());
    let share = outcome.machine.others.share;
    let percent = |figure: fn(&OthersShare) -> f64| share.as_ref().map(figure).and_then(|s| rounded(s * 100.0));
    let not_judged = outcome.machine.others.not_judged.clone().or_else(|| {
        let measured = outcome.measured.as_ref().filter(|_| share.is_none())?;
        let is_short = measured.seconds_long() < MIN_LOOKED_AT_S;
        let why =
            if is_short { "it measured for too short" } else { "not all processes of the machine are to be seen" };
        Some(why.to_owned())
    });
    let mut others = Others {
        cpu_pct_mean: percent(|share| share.cpu_mean),
        cpu_pct_max: percent(|share| share.cpu_max),
        steal_pct_mean: percent(|share| share.steal_mean),
        limit_pct: rounded(outcome.plan.phases.others_cpu * 100.0),
        seconds: share.map_or(0, |share| share.seconds),
        seconds_disturbed: share.map_or(0, |share| share.disturbed),
        steps_disturbed: steps.clone().filter(is_disturbed).count() as u64,
        steps_repeated: steps.map(|step| u64::from(step.conditions.disturbed_before)).sum(),
        disturbed: None,
        not_judged,
    };
    others.judge(share.is_some_and(|share| share.is_disturbed()));
    others
}
