//! The answer of a ramp.

use super::{Backlog, Estimate, Limit, Search, StorageProbeFigures, StorageProbes, Usl, Visibility};
use crate::terminal::figure::bytes;
use iotbench_recorder::LoadCounts;
use serde::{Deserialize, Serialize};

/// The greatest load that was sustained, as an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// What the loads are numbers of: virtual users, operations/s offered, or devices.
    pub quantity: String,
    /// Of an estimate the lower end of its interval, else the greatest load that passed with no smaller one that failed; null:
    /// even the least failed.
    pub lower: Option<u32>,
    /// Of an estimate the upper end of its interval, else the least load that failed; null: the greatest that may be tried
    /// passed.
    pub upper: Option<u32>,
    /// The load that was tried and sustained next to `lower`: throughput, latency and resources are quoted of it; null: none.
    #[serde(default)]
    pub sustained: Option<u32>,
    /// What the trials near the limit say of it; null: there were none, and the bounds are those of single trials.
    #[serde(default)]
    pub estimate: Option<Estimate>,
    /// What earlier runs in the same results folder found; null: none did, or it could not be looked at.
    #[serde(default)]
    pub earlier: Option<EarlierSittings>,
    /// When a load is too much.
    pub criterion: String,
    /// What each step began with.
    #[serde(default)]
    pub state: State,
    /// The storage under the database, probed between the steps; null: an older iotbench did not probe it.
    #[serde(default)]
    pub storage_probes: Option<StorageProbes>,
    /// How a search came to them; null: the loads were listed.
    #[serde(default)]
    pub search: Option<Search>,
    /// What limits throughput as users are added; null: the loads are no virtual users.
    #[serde(default)]
    pub usl: Option<Usl>,
    /// Every step, in the order it was run.
    pub steps: Vec<Step>,
}

/// Valid runs of the same job in the same results folder: same workload, database with version, settings and durability, machine
/// and iotbench.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlierSittings {
    /// How many, of the latest hundred at most.
    pub count: u64,
    /// The least load that one of them found to be sustained.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
    /// How long the same piece of a processor's work took in the median of each, the least of them; null: not known.
    #[serde(default)]
    pub work_us_least: Option<f64>,
    /// The greatest.
    #[serde(default)]
    pub work_us_most: Option<f64>,
    /// The median append to the storage of each, the least of them; null: not known.
    #[serde(default)]
    pub append_us_least: Option<f64>,
    /// The greatest.
    #[serde(default)]
    pub append_us_most: Option<f64>,
}

/// What each step of a ramp began with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// An empty database: what the steps before it had written was counted and dropped.
    Fresh,
    /// The history, written anew: what the steps before it had written was counted and dropped.
    Preloaded,
    /// An empty database under the step's own load, until its rate was steady; what the steps before it had written was counted
    /// and dropped.
    Preconditioned,
    /// What the steps before it had left; also of documents that do not say it.
    #[default]
    Keep,
}

/// The rounds of a step's load before it counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preconditioning {
    /// How many there were.
    pub rounds: u32,
    /// Whether the rate was steady by then: by as many operations in each of the last five.
    pub steady: bool,
}

/// Why a step was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The load grows until a step fails.
    Grow,
    /// Between a load that passed and one that failed.
    Bisect,
    /// A load whose failure is doubtful again.
    Retest,
    /// A little below the limit, as far as it is known.
    Below,
    /// A little above it.
    Above,
    /// A load that is known to be sustained: a failure of it is the machine's, or a change of the database.
    Sentinel,
    /// The profile lists it.
    Listed,
    /// The writes of the greatest sustained load, without its reads.
    WritesAlone,
    /// The greatest sustained load, for long.
    Soak,
    /// One and a half times the greatest sustained load.
    Overload,
    /// The greatest sustained load after an overload and a rest.
    After,
}

impl Purpose {
    /// Whether the answer rests on such a step; the others come after it.
    #[must_use]
    pub fn decides(self) -> bool {
        match self {
            Self::Grow | Self::Bisect | Self::Retest | Self::Listed => true,
            Self::Below | Self::Above | Self::Sentinel => true,
            Self::WritesAlone | Self::Soak | Self::Overload | Self::After => false,
        }
    }
}

/// One load of a ramp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// How much of the quantity.
    pub offered_load: u32,
    /// Why this many.
    pub purpose: Purpose,
    /// When its counting began, in seconds since the run's start.
    pub from_s: Option<f64>,
    /// How long it counted.
    pub length_s: Option<f64>,
    /// How long after that its operations were followed to their answers, or until they had failed it.
    #[serde(default)]
    pub followed_s: Option<f64>,
    /// Operations by their fate.
    pub load: LoadCounts,
    /// Operations acknowledged a second.
    pub operations_per_s: Option<f64>,
    /// Values acknowledged a second.
    pub values_per_s: Option<f64>,
    /// Mean response time of the operations that began within the step, in microseconds; null: of some it is not known.
    pub mean_response_us: Option<f64>,
    /// What it is at least, where of some operations only that is known; null: it is known, or nothing is.
    #[serde(default)]
    pub mean_response_at_least_us: Option<f64>,
    /// What it is at most, where all were answered and the client's own delay is more than 5 % and 100 µs of it, which
    /// `mean_response_at_least_us` leaves out. A step is judged by this one.
    #[serde(default)]
    pub mean_response_at_most_us: Option<f64>,
    /// Its 99th percentile; null when the sample does not support it, some operations had no answer, or the
    /// client's own delay is more than 5 % and 100 µs of it.
    pub p99_response_us: Option<f64>,
    /// What that is at least, where only that is known; null: it is known, or the sample does not support it.
    #[serde(default)]
    pub p99_response_at_least_us: Option<f64>,
    /// What it is at most, where all were answered and the client's own delay is a part of it.
    #[serde(default)]
    pub p99_response_at_most_us: Option<f64>,
    /// Datapoints lost because their user could not send in time.
    pub points_dropped: u64,
    /// How fast what was acknowledged became visible; null: an acknowledgement says that it is, or it could not be told.
    #[serde(default)]
    pub visibility: Option<Visibility>,
    /// What became of the queue of an open loop; null: there is none, or the step is too short to tell.
    #[serde(default)]
    pub backlog: Option<Backlog>,
    /// X (R + Z) / N of the operations that began within the step, less what its ends cut off their cycles: Little's law says
    /// that it is 1; null: not the users of one closed loop, or some operations had no answer.
    #[serde(default)]
    pub littles_ratio: Option<f64>,
    /// What other programs had of all the machine's processors meanwhile, in percent; null: not known, or not judged.
    #[serde(default)]
    pub others_cpu_pct: Option<f64>,
    /// Whether others disturbed it, each time it was run.
    #[serde(default)]
    pub disturbed: bool,
    /// So many times it was run before, and disturbed: those count for nothing.
    #[serde(default)]
    pub disturbed_before: u32,
    /// Probes of the storage under the database since the step before: of the first one also that before the search, and those
    /// after each time that it was run.
    #[serde(default)]
    pub storage_probes: Vec<StorageProbeFigures>,
    /// Whether the storage drifted meanwhile: the median append changed by more than 1.25 times; null: not known.
    #[serde(default)]
    pub storage_drifted: Option<bool>,
    /// So many times it was run before, and the storage drifted: those count for nothing.
    #[serde(default)]
    pub drifted_before: u32,
    /// Bytes on disk before it; null: not known, or not asked for while a load was on.
    #[serde(default)]
    pub storage_bytes_before: Option<u64>,
    /// The rounds of its load before it counted; null: there were none.
    #[serde(default)]
    pub preconditioning: Option<Preconditioning>,
    /// Whether the load was sustained.
    pub passed: bool,
    /// What it failed by.
    #[serde(default)]
    pub limit: Option<Limit>,
    /// How far it was from its limit; 0: at it, below 0: less. Null: not known. See docs/method/capacity.md.
    #[serde(default)]
    pub margin: Option<f64>,
    /// Why not.
    pub failure: Option<String>,
}

impl Capacity {
    /// The load where one number is needed: the estimate, else the greatest that was sustained with no smaller one that failed.
    pub(crate) fn limit(&self) -> Option<f64> {
        let estimated = self.estimate.as_ref().and_then(|estimate| estimate.load);
        estimated.or_else(|| self.lower.map(f64::from))
    }

    /// What each step began with, in a sentence.
    #[must_use]
    pub fn state_said(&self) -> String {
        let text = match self.state {
            State::Fresh => {
                "each step began with an empty database; what it had stored was counted before it was dropped"
            }
            State::Preloaded => {
                "each step began with the same history, written anew; what the steps before it had stored was counted and \
                 dropped"
            }
            State::Preconditioned => {
                "each trial began with an empty database under its own load, once the rate was steady; what it had stored was \
                 counted before it was dropped"
            }
            State::Keep => "the steps share one database: each began with what those before it had left",
        };
        let unsteady =
            self.steps.iter().filter(|step| step.preconditioning.is_some_and(|rounds| !rounds.steady)).count();
        if unsteady > 0 {
            return format!("{text}; of {unsteady} the rate was not steady within the rounds that it has");
        }
        let before = || self.steps.iter().filter_map(|step| step.storage_bytes_before);
        match (before().min(), before().max()) {
            (Some(least), Some(most)) if self.state == State::Keep && most > least => {
                format!("{text}, from {} to {}", bytes(least), bytes(most))
            }
            _ => text.into(),
        }
    }
}
