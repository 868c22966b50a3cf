//! How sure the interval of a search is, and what theory says beside it.

use super::{part, rounded};
use iotbench_engine::{Course, Load, Outcome, Quantity, StepFigures};
use serde::{Deserialize, Serialize};

/// Of the trials of a load, the share that may fail.
const EXCEED_RATIO: f64 = 0.5;

/// How a search came to its interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// How near the bounds had to be: (upper − lower) / upper.
    pub goal_width: Option<f64>,
    /// How near they are; null: one of them is missing.
    pub width: Option<f64>,
    /// Trials that were run.
    pub trials: u64,
    /// At most so many of them near the limit; 0: the limit was only bracketed.
    #[serde(default)]
    pub most_trials_near: u32,
    /// The limit is the load of which this share of the trials fails.
    pub goal_exceed_ratio: Option<f64>,
    /// The trials of the load that is quoted; null: none was sustained.
    #[serde(default)]
    pub at_sustained: Option<BoundTrials>,
    /// The trials of the least load from the upper bound on that failed, or of the greatest that did; null: none failed.
    #[serde(default)]
    pub at_failed: Option<BoundTrials>,
    /// Whether the client was the limit at the upper bound: the database's lies there or higher.
    pub client_limited: bool,
    /// No greater load than the one that was sustained was tried, because it may have needed more disk at once than this, in
    /// bytes; null: the disk did not bound the answer.
    #[serde(default)]
    pub disk_bound_bytes: Option<u64>,
    /// Users that the greatest throughput C of any trial serves at the limit L on the mean, by Little's law: C (L + Z) with
    /// the think time Z. Null: not the users of one closed loop with such a limit.
    pub littles_users: Option<f64>,
}

/// The trials of a bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundTrials {
    /// The load.
    pub load: u32,
    /// Trials that sustained the load.
    pub sustained: u64,
    /// Trials that did not.
    pub failed: u64,
    /// The share of trials that failed.
    pub exceed_ratio: Option<f64>,
    /// Operations acknowledged a second: of a sustained load in the worst trial that sustained it (MLRsearch: conditional
    /// throughput), of one that failed in the best that did not.
    pub achieved_per_s: Option<f64>,
    /// What the trials that failed failed by.
    pub limits: Vec<Limit>,
}

/// What a load failed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The response time.
    Latency,
    /// Operations ended more slowly than they were offered.
    Backlog,
    /// Operations failed, timed out, or none was answered.
    Errors,
    /// Operations were never started.
    Loss,
    /// What was acknowledged became visible more slowly.
    Visibility,
    /// Throughput, response time and users contradict each other: the load did not settle.
    Unsteady,
    /// The client did not keep its own schedule.
    Client,
}

impl From<iotbench_engine::Limit> for Limit {
    fn from(limit: iotbench_engine::Limit) -> Self {
        match limit {
            iotbench_engine::Limit::Latency => Self::Latency,
            iotbench_engine::Limit::Backlog => Self::Backlog,
            iotbench_engine::Limit::Errors => Self::Errors,
            iotbench_engine::Limit::Loss => Self::Loss,
            iotbench_engine::Limit::Visibility => Self::Visibility,
            iotbench_engine::Limit::Unsteady => Self::Unsteady,
            iotbench_engine::Limit::Client => Self::Client,
        }
    }
}

impl Limit {
    /// For people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Backlog => "backlog",
            Self::Errors => "errors",
            Self::Loss => "loss",
            Self::Visibility => "visibility",
            Self::Unsteady => "unsteady",
            Self::Client => "client",
        }
    }
}

impl Search {
    /// `None`: the loads were listed.
    pub(super) fn new(outcome: &Outcome) -> Option<Self> {
        let (capacity, ramp) = (outcome.capacity.as_ref()?, outcome.plan.ramp.as_ref()?);
        let Course::Search(plan) = &ramp.course else { return None };
        let steps: Vec<_> = capacity.steps.iter().filter(|step| step.step.purpose.is_trial()).collect();
        let bounds = capacity.bounds;
        let width = bounds.lower.zip(bounds.upper).map(|(lower, upper)| f64::from(upper - lower) / f64::from(upper));
        let failed = || steps.iter().filter(|step| !step.judgement.passed).map(|step| step.step.load);
        let from_upper = failed().filter(|&load| bounds.upper.is_none_or(|upper| load >= upper)).min();
        Some(Self {
            goal_width: part(plan.resolution),
            width: width.and_then(part),
            trials: steps.len() as u64,
            most_trials_near: plan.trials,
            goal_exceed_ratio: rounded(EXCEED_RATIO),
            at_sustained: bounds.sustained.map(|load| BoundTrials::of(&steps, load, true)),
            at_failed: from_upper.or(failed().max()).map(|load| BoundTrials::of(&steps, load, false)),
            client_limited: bounds.client_limited,
            disk_bound_bytes: disk_bound(outcome, plan.most),
            littles_users: littles_users(outcome, &steps).and_then(rounded),
        })
    }
}

/// The bound on the disk, where the greatest load that it leaves was sustained.
fn disk_bound(outcome: &Outcome, most: u32) -> Option<u64> {
    let bounds = outcome.capacity.as_ref()?.bounds;
    let is_bound = bounds.upper.is_none() && bounds.sustained == Some(most);
    outcome.plan.disk_bound.filter(|_| is_bound).map(|bound| bound.bytes)
}

impl BoundTrials {
    fn of(steps: &[&StepFigures], load: u32, is_sustained: bool) -> Self {
        let trials: Vec<_> = steps.iter().filter(|step| step.step.load == load).collect();
        let failed = trials.iter().filter(|step| !step.judgement.passed).count() as u64;
        let count = trials.len() as u64;
        let rates =
            trials.iter().filter(|step| step.judgement.passed == is_sustained).map(|step| step.operations_per_s);
        let achieved = if is_sustained { rates.reduce(f64::min) } else { rates.reduce(f64::max) };
        let mut limits: Vec<Limit> = Vec::new();
        for limit in trials.iter().filter_map(|step| step.judgement.limit).map(Limit::from) {
            if !limits.contains(&limit) {
                limits.push(limit);
            }
        }
        Self {
            load,
            sustained: count - failed,
            failed,
            exceed_ratio: rounded(failed as f64 / count.max(1) as f64),
            achieved_per_s: achieved.and_then(rounded),
            limits,
        }
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
