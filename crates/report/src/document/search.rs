//! How sure the interval of a search is, and what theory says beside it.

use serde::{Deserialize, Serialize};

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
