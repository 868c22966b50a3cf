//! What limits throughput as users are added, and where its peak is.

use super::{finite, rounded};
use iotbench_engine::{Limit, Load, OperationPlan, Outcome, Payload, Quantity, StepFigures};
use iotbench_statistics::{Level, fit_usl};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The Universal Scalability Law (Gunther), fitted to the throughput of each trial by its virtual users:
/// X(N) = λN / (1 + σ(N − 1) + κN(N − 1)).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usl {
    /// Different numbers of users that were measured.
    pub levels: u64,
    /// Why there is no fit; null: there is one.
    pub refused: Option<String>,
    /// Operations a second of a single user, λ; null like all that follows where there is no fit.
    pub single_per_s: Option<UslEstimate>,
    /// Contention σ: the part of the work that waits in a line.
    pub contention: Option<UslEstimate>,
    /// Coherency κ: what users cost each other, pair by pair.
    pub coherency: Option<UslEstimate>,
    /// What the law leaves unexplained: root mean square of the residuals, in percent of the throughput.
    pub unexplained_pct: Option<f64>,
    /// The users with the greatest throughput, N* = √((1 − σ) / κ); null: not told.
    pub peak_users: Option<UslEstimate>,
    /// Operations a second of that many users.
    pub peak_per_s: Option<UslEstimate>,
    /// Why a fit tells no peak; null: it does, or there is no fit.
    pub no_peak: Option<String>,
}

/// A fitted figure with its 95 % interval by a thousand resamples of the residuals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UslEstimate {
    /// The figure.
    pub value: Option<f64>,
    /// The interval's lower end.
    pub low: Option<f64>,
    /// Its upper end; null: it may be any.
    pub high: Option<f64>,
}

impl Usl {
    /// `None`: it was no ramp over virtual users.
    pub(super) fn new(outcome: &Outcome) -> Option<Self> {
        let capacity = outcome.capacity.as_ref().filter(|capacity| capacity.quantity == Quantity::Users)?;
        if let Some(why) = means_nothing(outcome) {
            return Some(Self { refused: Some(why.into()), ..Self::default() });
        }
        let steps: Vec<&StepFigures> = capacity.steps.iter().filter(|step| is_the_databases(step)).collect();
        let loads: BTreeSet<u32> = steps.iter().map(|step| step.step.load).collect();
        let measured = Self { levels: loads.len() as u64, ..Self::default() };
        let most_per_s = steps.iter().map(|step| step.operations_per_s).fold(0.0, f64::max);
        let levels: Vec<Level> = steps.into_iter().map(level).collect();
        let fit = match fit_usl(&levels, outcome.plan.seed) {
            Ok(fit) => fit,
            Err(refusal) => return Some(Self { refused: Some(refusal.to_string()), ..measured }),
        };
        let peak = fit.peak.as_ref().map_err(ToString::to_string).and_then(|peak| match peak.throughput.value {
            fitted if fitted < most_per_s => Err(format!(
                "no peak: the fitted one of {fitted:.1} operations/s is below a trial with {most_per_s:.1}, so the law does \
                 not hold here"
            )),
            _ => Ok(peak),
        });
        Some(Self {
            single_per_s: Some(UslEstimate::from(&fit.single)),
            contention: Some(UslEstimate::from(&fit.contention)),
            coherency: Some(UslEstimate::from(&fit.coherency)),
            unexplained_pct: rounded(fit.left * 100.0),
            peak_users: peak.as_ref().ok().map(|peak| UslEstimate::from(&peak.load)),
            peak_per_s: peak.as_ref().ok().map(|peak| UslEstimate::from(&peak.throughput)),
            no_peak: peak.err(),
            ..measured
        })
    }
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

impl From<&iotbench_statistics::Estimate> for UslEstimate {
    fn from(estimate: &iotbench_statistics::Estimate) -> Self {
        let iotbench_statistics::Estimate { value, low, high } = *estimate;
        Self { value: finite(value), low: finite(low), high: finite(high) }
    }
}
