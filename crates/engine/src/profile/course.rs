//! How long a run takes, how its load changes, and when it is too much, as written.

use crate::units::{Auto, Bytes, Count, Share, Span};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

fn one() -> Count {
    Count(1)
}

/// How long each part of a run takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Phases {
    /// Datapoints of each device that are written before the run.
    pub preload: Count,
    /// The same as a stretch of the devices' own time; `auto`: `preload` says how many.
    pub history: Auto<Span>,
    /// Load that is not measured.
    pub warmup: Span,
    /// Load that is measured; `auto`: 30 s.
    pub duration: Auto<Span>,
    /// Ends the measured part after so many operations.
    pub operations: Auto<Count>,
    /// An operation without an answer by then has timed out.
    pub deadline: Span,
    /// How long unanswered operations are waited for at the end; `auto`: the deadline.
    pub drain: Auto<Span>,
    /// How long counting and flushing may take at the end.
    pub settle: Span,
    /// The load ends by then, whatever it has found; `auto`: each part's own length is limit enough.
    pub run_deadline: Auto<Span>,
    /// The result says so first, and a step of a search is run again, where other programs had more than this share of all
    /// the machine's processors in more than 5 % of the seconds. 100 %: it is not judged.
    pub others_cpu: Share,
    /// Whether what the server counts of itself is read once a second, where its backend can.
    pub server_counters: bool,
}

impl Default for Phases {
    fn default() -> Self {
        Self {
            preload: Count(0),
            history: Auto::Auto,
            warmup: Span::from_secs(0),
            duration: Auto::Auto,
            operations: Auto::Auto,
            deadline: Span::from_secs(60),
            drain: Auto::Auto,
            settle: Span::from_secs(300),
            run_deadline: Auto::Auto,
            others_cpu: Share(0.05),
            server_counters: true,
        }
    }
}

words! {
    /// What each step of a ramp begins with.
    RampState {
        /// An empty database: what the steps before it wrote is counted and dropped.
        Fresh = "fresh",
        /// The history (`preload`), written anew: what the steps before it wrote is counted and dropped.
        Preloaded = "preloaded",
        /// An empty database under the load of the step itself, until its rate is steady: then the step counts.
        Preconditioned = "preconditioned",
        /// What the steps before it left.
        Keep = "keep",
    }
}

impl FromStr for RampState {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|state| state.name() == text);
        found.copied().ok_or_else(|| {
            format!(
                "{text:?}: write fresh (an empty database for each step), preloaded (the history anew), preconditioned (the \
                 step's own load until its rate is steady) or keep"
            )
        })
    }
}

/// Steps of load: virtual users of a closed loop, the rate of an open one, or the devices that report in each interval, of
/// the first group. Without `steps` a search for the greatest load: it grows until the stop criterion, then
/// come trials near the limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ramp {
    /// These loads in this order, each of them; empty: a search.
    pub steps: Vec<Count>,
    /// Search: the load of the first step.
    pub first: Count,
    /// Search: the factor from one step to the next.
    pub growth: f64,
    /// Search: a greater load than this is not tried.
    pub most: Count,
    /// How long a step counts; with intervals as many whole ones as last at least this long.
    pub step: Span,
    /// Search: it ends when the interval is this narrow: (upper − lower) / upper.
    pub resolution: Share,
    /// Search: at most so many steps near the limit, however wide the interval is by then; 0: none, so that the limit
    /// is only bracketed.
    pub trials: Count,
    /// What each step begins with, `fresh` (an empty database), `preloaded` (the history of `preload` or `history`, written
    /// anew), `preconditioned` (an empty database under the step's own load, in rounds until its rate is steady) or `keep` (what
    /// the steps before it left); `auto`: fresh where the profile is one group that only writes, without a
    /// history, and the database can be emptied under its writers.
    pub state: Auto<RampState>,
    /// Search: no load is tried of which a step may need more disk at once, by the estimate that is said beforehand; `auto`: 2 GiB
    /// where the database is embedded and steps are shorter than a minute, and no bound elsewhere.
    pub most_disk: Auto<Bytes>,
    /// Whether the storage under the database is probed before the search, between its steps and after it: a step during
    /// which it drifted is run again, and the answer says what it was. `auto`: where the database's files are known and the
    /// load can pause.
    pub probe: Auto<bool>,
    /// Then the writes of the greatest load that was sustained, without its reads: do the reads slow them down?
    pub writes_alone: bool,
    /// Then the greatest load that was sustained, for so long.
    pub soak: Span,
    /// Then one and a half times that load for so long, and after a rest the load itself once more: does the database
    /// recover?
    pub overload: Span,
    /// How long the rest without load is.
    pub rest: Span,
}

impl Default for Ramp {
    fn default() -> Self {
        Self {
            steps: Vec::new(),
            first: Count(1),
            growth: 2.0,
            most: Count(100_000),
            step: Span::from_secs(10),
            resolution: Share(0.05),
            trials: Count(24),
            state: Auto::Auto,
            most_disk: Auto::Auto,
            probe: Auto::Auto,
            writes_alone: false,
            soak: Span::from_secs(0),
            overload: Span::from_secs(0),
            rest: Span::from_secs(10),
        }
    }
}

impl Ramp {
    /// The greatest load that may be run.
    #[must_use]
    pub fn greatest(&self) -> u64 {
        self.steps.iter().map(|load| load.0).max().unwrap_or(self.most.0)
    }
}

/// When a load is too much.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Stop {
    /// The mean response time exceeds this; `auto`: with intervals 1 min of each 15, as in the study, else no limit.
    pub mean_response: Auto<Span>,
    /// The quantile of the response time that `quantile_response` limits.
    pub quantile: Share,
    /// That quantile exceeds this.
    pub quantile_response: Auto<Span>,
    /// More than this share of the operations fail.
    pub errors: Share,
    /// More than this share of the operations time out.
    pub timeouts: Share,
    /// More than this share of the datapoints are lost because their device could not send them in time; `auto`: 0 where the
    /// sensors of a paced load measure, also of a load without a ramp; else no limit.
    pub max_loss: Auto<Share>,
}

impl Default for Stop {
    fn default() -> Self {
        Self {
            mean_response: Auto::Auto,
            quantile: Share(0.99),
            quantile_response: Auto::Auto,
            errors: Share(0.0),
            timeouts: Share(0.0),
            max_loss: Auto::Auto,
        }
    }
}

/// One run for each value of a field, on a fresh table each; [`Profile::runs`](crate::Profile::runs) makes plain profiles of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// The field.
    pub field: String,
    /// Its values.
    pub values: Vec<Count>,
    /// With how many operations a run ends, unless `phases.operations` says it.
    #[serde(default = "one")]
    pub repeat: Count,
    /// This one run alone; `auto`: all of them.
    #[serde(default)]
    pub only: Auto<Count>,
    /// Limits of the classes of values over which the query jitter is averaged, ascending; empty: it is not reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Count>,
    /// How many bytes a record counts as in bytes a second; `auto`: those are not reported.
    #[serde(default)]
    pub record_bytes: Auto<Count>,
}
