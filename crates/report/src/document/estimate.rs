//! Where the limit of a search lies by the trials near it.

use super::rounded;
use iotbench_engine::{Purpose, StepFigures};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The load that half of the trials sustain, with its interval, which is that of this sitting alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The load.
    pub load: Option<f64>,
    /// The lower end of its 90 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// How it was told.
    pub method: EstimateMethod,
    /// The standard deviation of the limit from trial to trial, as a part of it.
    pub spread: Option<f64>,
    /// Trials near the limit that it rests on.
    pub trials: u32,
    /// Sentinels that were sustained: trials of a load that is known to be.
    pub sentinels_sustained: u64,
    /// Sentinels that were not.
    pub sentinels_failed: u64,
    /// That the limit moved while it was searched for; null: it was not seen to.
    pub moved: Option<LimitMove>,
    /// The loads some of whose trials passed although a smaller load failed, or failed although a greater one passed.
    pub grey_zone: Vec<LoadTrials>,
}

/// How the limit was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EstimateMethod {
    /// From how far each trial was from its limit.
    Crossing,
    /// From which trials passed and which failed.
    Threshold,
}

/// The limit from one level to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitMove {
    /// The trial, from 1, with which the new level begins.
    pub at_trial: u32,
    /// The limit before it; null: too few trials tell it.
    pub before: Option<f64>,
    /// The limit from it on; null: too few trials tell it.
    pub after: Option<f64>,
}

/// The trials of a load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadTrials {
    /// The load.
    pub load: u32,
    /// Trials that sustained it.
    pub sustained: u64,
    /// Trials that did not.
    pub failed: u64,
}

impl Estimate {
    pub(super) fn new(estimate: &iotbench_engine::Estimate, steps: &[StepFigures]) -> Self {
        let sentinels = |passed: bool| {
            let is_meant =
                |step: &&StepFigures| step.step.purpose == Purpose::Sentinel && step.judgement.passed == passed;
            steps.iter().filter(is_meant).count() as u64
        };
        Self {
            load: rounded(estimate.load),
            low: rounded(estimate.low),
            high: rounded(estimate.high),
            method: match estimate.method {
                iotbench_engine::Method::Crossing => EstimateMethod::Crossing,
                iotbench_engine::Method::Threshold => EstimateMethod::Threshold,
            },
            spread: rounded(estimate.spread),
            trials: estimate.trials,
            sentinels_sustained: sentinels(true),
            sentinels_failed: sentinels(false),
            moved: estimate.moved.map(|moved| LimitMove {
                at_trial: moved.at_trial,
                before: moved.before.and_then(rounded),
                after: moved.after.and_then(rounded),
            }),
            grey_zone: grey_zone(steps),
        }
    }
}

/// The loads from the least that failed to the greatest that passed.
fn grey_zone(steps: &[StepFigures]) -> Vec<LoadTrials> {
    let mut loads: BTreeMap<u32, LoadTrials> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.step.purpose.is_trial()) {
        let load = step.step.load;
        let trials = loads.entry(load).or_insert(LoadTrials { load, sustained: 0, failed: 0 });
        trials.sustained += u64::from(step.judgement.passed);
        trials.failed += u64::from(!step.judgement.passed);
    }
    let least_failed = loads.values().find(|trials| trials.failed > 0).map(|trials| trials.load);
    let greatest_passed = loads.values().rfind(|trials| trials.sustained > 0).map(|trials| trials.load);
    match (least_failed, greatest_passed) {
        (Some(least), Some(most)) if least <= most => {
            loads.range(least..=most).map(|(_, trials)| trials.clone()).collect()
        }
        _ => Vec::new(),
    }
}
