//! A workload as written: the TOML of a profile.
//!
//! What a profile means is decided by [`crate::plan`]; here are only its words. Every field has a place that
//! [`crate::overrides`] can set.

use crate::units::{Auto, Bytes, Count, Rate, Share, Span};
use iotbench_core::Layout;
use iotbench_cycle_finder::Strategy;
use iotbench_simulator::DatasetConfig;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A workload as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The name on the command line.
    pub name: String,
    /// One line on what it asks of a database.
    pub summary: String,
    /// The study that prescribes it, if any.
    #[serde(default)]
    pub study: String,
    /// The seed of all data and schedules.
    #[serde(default = "default_seed")]
    pub seed: Count,
    /// The time of the first datapoint: `default`, `now`, or an RFC 3339 time.
    #[serde(default = "default_origin")]
    pub origin: String,
    /// How many devices exist; `auto`: one a virtual user in a closed loop, else one.
    #[serde(default)]
    pub devices: Auto<Count>,
    /// How datapoints become records; `auto`: the backend's first.
    #[serde(default)]
    pub layout: Auto<Layout>,
    /// What the devices measure.
    pub dataset: DatasetConfig,
    /// Who does what, and how fast.
    pub groups: Vec<Group>,
    /// How long each part of a run takes.
    #[serde(default)]
    pub phases: Phases,
    /// Steps of load, or the search for the greatest; none: the load stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp: Option<Ramp>,
    /// When a load is too much.
    #[serde(default)]
    pub stop: Stop,
    /// One run for each of these values of a field; none: one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    /// Settings of backends by name.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    pub backend: toml::Table,
    /// The study's own lengths: dotted field = value, applied by `--full`.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    pub full: toml::Table,
}

fn default_seed() -> Count {
    Count(1)
}

fn default_origin() -> String {
    "default".into()
}

/// Virtual users or sensors that do the same at the same pace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name in the result.
    pub name: String,
    /// Connections that it shares; `auto`: as many as users, at most what the backend takes.
    #[serde(default)]
    pub connections: Auto<Count>,
    /// Its load model.
    pub load: LoadConfig,
    /// What a user does. Which of several comes next is drawn by their shares, from the seed.
    pub operations: Vec<OperationConfig>,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word in a profile.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

words! {
    /// What decides when the next operation starts.
    LoadModel {
        /// A user starts again some time after its answer.
        Closed = "closed",
        /// Operations start by a schedule that no answer delays.
        Open = "open",
        /// Sensors offer datapoints to bounded queues by a clock; writers take from them.
        Paced = "paced",
        /// All devices report once within a window of each interval.
        Interval = "interval",
    }
}

words! {
    /// How the starts of an open loop are spread.
    Arrival {
        /// Equal distances.
        Constant = "constant",
        /// Independent exponential distances.
        Poisson = "poisson",
    }
}

words! {
    /// What an open loop does with operations that cannot start in time.
    Overflow {
        /// They wait, however long.
        Queue = "queue",
        /// Above a limit of waiting operations they are dropped.
        Drop = "drop",
    }
}

/// A load model with its figures; those of other models are ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadConfig {
    /// Which model.
    pub model: LoadModel,
    /// Closed: how many virtual users.
    #[serde(default = "default_users")]
    pub users: Count,
    /// Closed: from an answer to the user's next start.
    #[serde(default = "zero_span")]
    pub think_time: Span,
    /// Open: operations a second; paced: datapoints a second and device; `auto`: the dataset's own pace.
    #[serde(default)]
    pub rate: Auto<Rate>,
    /// Open: the spread of starts.
    #[serde(default = "default_arrival")]
    pub arrival: Arrival,
    /// Open: what happens to operations that cannot start in time.
    #[serde(default = "default_overflow")]
    pub overflow: Overflow,
    /// Open with overflow drop: the most operations waiting or under way.
    #[serde(default = "default_in_flight")]
    pub in_flight: Count,
    /// Paced: the size of a sensor's queue.
    #[serde(default = "default_queue")]
    pub queue: Bytes,
    /// Paced: the size of one datapoint in that queue.
    #[serde(default = "default_message")]
    pub message: Bytes,
    /// Interval: from one report of a device to its next.
    #[serde(default = "zero_span")]
    pub interval: Span,
    /// Interval: within how much of it, from its beginning, all reports arrive; `auto`: 2 min of each 15, as in the study.
    #[serde(default)]
    pub window: Auto<Span>,
}

fn default_users() -> Count {
    Count(1)
}
fn zero_span() -> Span {
    Span::from_secs(0)
}
fn default_arrival() -> Arrival {
    Arrival::Constant
}
fn default_overflow() -> Overflow {
    Overflow::Queue
}
fn default_in_flight() -> Count {
    Count(10_000)
}
fn default_queue() -> Bytes {
    Bytes(16 * 1024)
}
fn default_message() -> Bytes {
    Bytes(22)
}

words! {
    /// What an operation does.
    OperationKind {
        /// Writes datapoints.
        Write = "write",
        /// Finds a machine cycle around a random time and sums it.
        CycleSearch = "cycle_search",
        /// Reads a stretch of one signal.
        ReadSignal = "read_signal",
        /// Reads consecutive records.
        ReadRecords = "read_records",
        /// Reads the newest records.
        ReadNewest = "read_newest",
        /// Reads all records of a device.
        ReadDevice = "read_device",
        /// The greatest value over consecutive records.
        MaxRecords = "max_records",
        /// The mean of every signal of a device.
        MeanDevice = "mean_device",
        /// Last, least, mean and greatest value of each sensor.
        Dashboard = "dashboard",
    }
}

/// How many datapoints one request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datapoints {
    /// So many.
    Count(u32),
    /// All of one second of a device.
    Second,
    /// All since the user's last send.
    SinceLast,
}

impl FromStr for Datapoints {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "second" => Ok(Self::Second),
            "since_last" => Ok(Self::SinceLast),
            _ => match text.parse::<Count>() {
                Ok(Count(n)) if (1..=1_000_000).contains(&n) => {
                    u32::try_from(n).map(Self::Count).map_err(|e| e.to_string())
                }
                _ => Err(format!("{text:?}: write a count from 1 to 1M, \"second\" or \"since_last\"")),
            },
        }
    }
}

impl fmt::Display for Datapoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(n) => write!(f, "{n}"),
            Self::Second => f.write_str("second"),
            Self::SinceLast => f.write_str("since_last"),
        }
    }
}

/// One thing that a user does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationConfig {
    /// Its name in the result; empty: its kind, or the group's name where it is the only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What.
    pub kind: OperationKind,
    /// Its part of the group's operations, relative to the others.
    #[serde(default = "one")]
    pub share: f64,
    /// Write: datapoints of a device in a request: a count, `second` or `since_last`.
    #[serde(default)]
    pub datapoints: Auto<Datapoints>,
    /// Write with `since_last`: older data is lost. Read: the stretch of time.
    #[serde(default = "default_window")]
    pub window: Span,
    /// Devices in a request: consecutive ones, each with `datapoints`. The users of a group divide the devices among them.
    #[serde(default = "one_count")]
    pub devices: Count,
    /// Read: records in an answer.
    #[serde(default = "one_count")]
    pub records: Count,
    /// Read: the signals that are asked for, by name or by `beginning*`; none: all that the question can be about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<String>,
    /// Search for a machine cycle: how it is read; `auto`: as the layout suggests, `bulk` or `individual`.
    #[serde(default)]
    pub strategy: Auto<Strategy>,
    /// Search for a machine cycle: the height of the sawtooth, which is the first of `signals`.
    #[serde(default = "default_amplitude")]
    pub amplitude: f64,
    /// Requests in the operation, one after the other on one connection. Its response time and its deadline are those of
    /// all together.
    #[serde(default = "one_count")]
    pub requests: Count,
    /// From the answer of a request to the operation's next request: part of the response time, not of the busy time.
    #[serde(default = "zero_span")]
    pub pause: Span,
    /// Whether the requests are one transaction: begin and commit are part of the operation, and nothing of a failed one
    /// is stored. Where the backend has no transactions they are single requests, and the result says so.
    #[serde(default)]
    pub transaction: bool,
}

impl OperationConfig {
    /// Whether it asks the database for something.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.kind != OperationKind::Write
    }
}

fn one() -> f64 {
    1.0
}
fn one_count() -> Count {
    Count(1)
}
/// Of 12 bits, as the dataset `machine` has.
fn default_amplitude() -> f64 {
    4095.0
}
fn default_window() -> Span {
    Span::from_secs(2)
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
            settle: Span::from_secs(60),
            run_deadline: Auto::Auto,
        }
    }
}

/// Steps of load: virtual users of a closed loop, the rate of an open one, or the devices that report in each interval, of
/// the first group. Without `steps` a search for the greatest load: it grows until the stop criterion, then bisection.
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
    /// Search: bisection ends when the bounds are this near.
    pub resolution: Share,
    /// Search: whether the best step is run once more.
    pub confirm: bool,
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
            confirm: true,
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
}

impl Default for Stop {
    fn default() -> Self {
        Self {
            mean_response: Auto::Auto,
            quantile: Share(0.99),
            quantile_response: Auto::Auto,
            errors: Share(0.0),
            timeouts: Share(0.0),
        }
    }
}

/// One run for each value of a field, on a fresh table each; [`Profile::runs`] makes plain profiles of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// The field.
    pub field: String,
    /// Its values.
    pub values: Vec<Count>,
    /// With how many operations a run ends, unless `phases.operations` says it.
    #[serde(default = "one_count")]
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
