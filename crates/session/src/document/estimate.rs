//! Where the limit of a search lies by the trials near it.

use iotbench_engine::{Method, Purpose, StepFigures};
use iotbench_report::{Estimate, EstimateMethod, LimitMove, LoadTrials, rounding::rounded};
use std::collections::BTreeMap;

pub(super) fn of(estimate: &iotbench_engine::Estimate, steps: &[StepFigures]) -> Estimate {
    let sentinels = |passed: bool| {
        let is_meant = |step: &&StepFigures| step.step.purpose == Purpose::Sentinel && step.judgement.passed == passed;
        steps.iter().filter(is_meant).count() as u64
    };
    Estimate {
        load: rounded(estimate.load),
        low: rounded(estimate.low),
        high: rounded(estimate.high),
        method: match estimate.method {
            Method::Crossing => EstimateMethod::Crossing,
            Method::Threshold => EstimateMethod::Threshold,
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
