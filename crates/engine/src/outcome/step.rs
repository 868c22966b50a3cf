//! What a step of a ramp came to.

use crate::{
    ramp::Step,
    search::TrialReport,
    storage_probe::StorageProbe,
    trial::{Backlog, Limit},
    visibility::Visibility,
};
use iotbench_recorder::LoadCounts;
use iotbench_sampler::OthersShare;
use serde::{Deserialize, Serialize};

/// A step of a ramp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepFigures {
    /// How much, and why.
    pub step: Step,
    /// When its counting began, in nanoseconds since the run's start.
    pub from_ns: u64,
    /// How long it counted.
    pub length_ns: u64,
    /// Operations by their fate; those without an answer at its end are pending.
    pub load: LoadCounts,
    /// Operations acknowledged a second.
    pub operations_per_s: f64,
    /// Values acknowledged a second.
    pub values_per_s: f64,
    /// The response times of the operations that began within the step.
    #[serde(flatten)]
    pub response: StepResponse,
    /// Datapoints lost because their user could not send in time.
    pub points_dropped: u64,
    /// How fast what was acknowledged became visible; `None`: an acknowledgement says that it is, or it could not be told.
    pub visibility: Option<Visibility>,
    /// What became of the queue of an open loop; `None`: there is none, or the step is too short to tell.
    pub backlog: Option<Backlog>,
    /// X (R + Z) / N of the operations that began within the step, less what its ends cut off their cycles: by Little's law
    /// it is 1. `None`: not the users of one closed loop.
    pub littles_ratio: Option<f64>,
    /// How long after its end its operations were followed to their answers, or until they had failed it.
    #[serde(default)]
    pub followed_ns: u64,
    /// What it was run under.
    #[serde(flatten)]
    pub conditions: StepConditions,
    /// Whether the load was sustained, and why not.
    #[serde(flatten)]
    pub judgement: StepJudgement,
}

/// The response times of a step, where some may have no answer, or the client's own delay in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepResponse {
    /// The mean; `None`: of some operations it is not known.
    #[serde(rename = "mean_response_ns")]
    pub mean_ns: Option<f64>,
    /// What it is at least, where of some only that is known; `None`: it is known, or there is none.
    #[serde(default, rename = "mean_response_at_least_ns")]
    pub mean_at_least_ns: Option<f64>,
    /// What it is at most, where all were answered and the client's own delay is a part of it.
    #[serde(default, rename = "mean_response_at_most_ns")]
    pub mean_at_most_ns: Option<f64>,
    /// The 99th percentile, where the sample supports it and it is known.
    #[serde(rename = "p99_response_ns")]
    pub p99_ns: Option<u64>,
    /// What that is at least, where only that is known; `None`: it is known, or the sample does not support it.
    #[serde(default, rename = "p99_response_at_least_ns")]
    pub p99_at_least_ns: Option<u64>,
    /// What it is at most, where the client's own delay is a part of it.
    #[serde(default, rename = "p99_response_at_most_ns")]
    pub p99_at_most_ns: Option<u64>,
}

/// What a step was run under.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepConditions {
    /// Bytes on disk before it; `None`: not known, or asking would have been a load.
    #[serde(default)]
    pub storage_bytes: Option<u64>,
    /// The rounds that it was preconditioned in; `None`: it was not.
    #[serde(default)]
    pub preconditioning: Option<Preconditioning>,
    /// What others had of the machine meanwhile; `None`: not known.
    #[serde(default)]
    pub others: Option<OthersShare>,
    /// So many times it was run before, and disturbed by them: those do not count.
    #[serde(default)]
    pub disturbed_before: u32,
    /// Probes of the storage under the database since the step before ended, with those of runs of this one that do not
    /// count. The last one came right after this step, where `storage_drifted` is known.
    #[serde(default)]
    pub storage_probes: Vec<StorageProbe>,
    /// Whether the storage drifted meanwhile; `None`: not known.
    #[serde(default)]
    pub storage_drifted: Option<bool>,
    /// So many times it was run before, and the storage drifted: those do not count.
    #[serde(default)]
    pub drifted_before: u32,
}

/// Whether the load of a step was sustained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepJudgement {
    /// Whether it was.
    pub passed: bool,
    /// What it failed by, if it did.
    pub limit: Option<Limit>,
    /// How far it was from its limit: 0 at it, below 0 less, by about the logarithm of the load over it. `None`: not known.
    #[serde(default)]
    pub margin: Option<f64>,
    /// Why it was not.
    pub failure: Option<String>,
}

/// The rounds of a step's load before it counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preconditioning {
    /// How many there were.
    pub rounds: u32,
    /// Whether the rate was steady by then.
    pub steady: bool,
}

impl StepFigures {
    /// What the step tells a search.
    #[must_use]
    pub fn report(&self) -> TrialReport {
        TrialReport { verdict: Limit::verdict(self.judgement.limit), margin: self.judgement.margin }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// As the file of a search that was interrupted has it, by an iotbench that knew less: one flat object.
    #[test]
    fn a_step_is_one_flat_object_of_which_later_fields_may_be_missing() {
        let load = serde_json::to_value(LoadCounts::default()).unwrap();
        let earlier = json!({
            "step": { "load": 4, "purpose": "grow" }, "from_ns": 1, "length_ns": 2, "load": load,
            "operations_per_s": 3.5, "values_per_s": 7.0, "mean_response_ns": 1_000_000.25, "p99_response_ns": null,
            "points_dropped": 0, "visibility": null, "backlog": null, "littles_ratio": null,
            "passed": true, "limit": null, "failure": null,
        });
        let read: StepFigures = serde_json::from_value(earlier.clone()).unwrap();
        assert_eq!((read.response.mean_ns, read.conditions.drifted_before), (Some(1_000_000.25), 0));
        assert!(read.judgement.passed && read.conditions.storage_probes.is_empty());
        let written = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<StepFigures>(&written).unwrap(), read);
        let written: serde_json::Value = serde_json::from_str(&written).unwrap();
        for (key, value) in earlier.as_object().unwrap() {
            assert_eq!(&written[key], value, "{key}");
        }
        let later = ["mean_response_at_least_ns", "others", "storage_bytes", "preconditioning", "margin"];
        assert!(later.iter().all(|key| written.as_object().unwrap().contains_key(*key)), "{written}");
    }
}
