//! What limits throughput as users are added, and where its peak is.

use iotbench_engine::{Limit, Load, OperationPlan, Outcome, Payload, Quantity, StepFigures};
use iotbench_report::{
    Usl, UslEstimate,
    rounding::{finite, rounded},
};
use iotbench_statistics::{Level, fit_usl};
use std::collections::BTreeSet;

/// `None`: it was no ramp over virtual users.
pub(super) fn of_run(outcome: &Outcome) -> Option<Usl> {
    let capacity = outcome.capacity.as_ref().filter(|capacity| capacity.quantity == Quantity::Users)?;
    if let Some(why) = means_nothing(outcome) {
        return Some(Usl { refused: Some(why.into()), ..Usl::default() });
    }
    let steps: Vec<&StepFigures> = capacity.steps.iter().filter(|step| is_the_databases(step)).collect();
    let loads: BTreeSet<u32> = steps.iter().map(|step| step.step.load).collect();
    let measured = Usl { levels: loads.len() as u64, ..Usl::default() };
    let most_per_s = steps.iter().map(|step| step.operations_per_s).fold(0.0, f64::max);
    let levels: Vec<Level> = steps.into_iter().map(level).collect();
    let fit = match fit_usl(&levels, outcome.plan.seed) {
        Ok(fit) => fit,
        Err(refusal) => return Some(Usl { refused: Some(refusal.to_string()), ..measured }),
    };
    let peak = fit.peak.as_ref().map_err(ToString::to_string).and_then(|peak| match peak.throughput.value {
        fitted if fitted < most_per_s => Err(format!(
            "no peak: the fitted one of {fitted:.1} operations/s is below a trial with {most_per_s:.1}, so the law does \
             not hold here"
        )),
        _ => Ok(peak),
    });
    Some(Usl {
        single_per_s: Some(estimate(&fit.single)),
        contention: Some(estimate(&fit.contention)),
        coherency: Some(estimate(&fit.coherency)),
        unexplained_pct: rounded(fit.left * 100.0),
        peak_users: peak.as_ref().ok().map(|peak| estimate(&peak.load)),
        peak_per_s: peak.as_ref().ok().map(|peak| estimate(&peak.throughput)),
        no_peak: peak.err(),
        ..measured
    })
}

/// Why the law says nothing of these users: it takes each of them to be at work all the time, and each operation to be the
/// same work under any load.
fn means_nothing(outcome: &Outcome) -> Option<&'static str> {
    let groups = &outcome.plan.groups;
    if groups.iter().any(|group| matches!(group.load, Load::Closed { think_ns: 1.., .. })) {
        return Some("users who think are not at work all the time: with think time, throughput follows their number");
    }
    let grows = |operation: &OperationPlan| matches!(operation.payload, Payload::SinceLast { .. });
    if groups.iter().any(|group| std::iter::once(&group.operation).chain(&group.others).any(grows)) {
        return Some("an operation carries what was measured since the last one: under more load each is more work");
    }
    None
}

/// Whether the throughput of a step is what the database makes of so many users: not where the client held it up, nor of
/// another load than the ramp's.
fn is_the_databases(step: &StepFigures) -> bool {
    step.step.purpose.is_trial() && step.judgement.limit != Some(Limit::Client)
}

fn level(step: &StepFigures) -> Level {
    Level { load: f64::from(step.step.load), throughput: step.operations_per_s }
}

fn estimate(estimate: &iotbench_statistics::Estimate) -> UslEstimate {
    let iotbench_statistics::Estimate { value, low, high } = *estimate;
    UslEstimate { value: finite(value), low: finite(low), high: finite(high) }
}
