//! A workload as written: the TOML of a profile.
//!
//! What a profile means is decided by [`crate::plan`]; here are only its words. Every field has a place that
//! [`crate::overrides`] can set.

use crate::units::{Auto, Bytes, Count, Rate, Share, Span};
use iotbench_core::Layout;
use iotbench_simulator::DatasetConfig;
use serde::{Deserialize, Serialize};
use std::fmt;

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

mod course;
mod operation;
mod scenario;

pub use course::{Phases, Ramp, RampState, Stop, Sweep};
pub use operation::{
    Datapoints, Expect, OperationConfig, OperationKind, RequestDevices, RollupConfig, StatementText, WhereConfig,
};
pub use scenario::ScenarioAction;

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
    /// What is done to processes of the server while the load runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenario: Vec<ScenarioAction>,
    /// One run for each of these values of a field; none: one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    /// Settings of backends by name.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    pub backend: toml::Table,
    /// The study's own lengths: dotted field = value, applied by `--full`.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    pub full: toml::Table,
    /// The same workload in several ways, a run for each: name = { dotted field = value, … }.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    pub variants: toml::Table,
    /// Which of them this is; empty: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
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
    /// Where several groups write: how many of the profile's devices are this one's, so that no two groups send the same
    /// datapoints; `auto`, where one group writes: all.
    #[serde(default)]
    pub devices: Auto<Count>,
    /// Its load model.
    pub load: LoadConfig,
    /// Reads: how the devices and moments that are asked about are spread.
    #[serde(default)]
    pub draw: DrawConfig,
    /// What a user does. Which of several comes next is drawn by their shares, from the seed.
    pub operations: Vec<OperationConfig>,
}

/// How the devices and moments that a group asks about are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DrawConfig {
    /// Which devices.
    pub devices: DeviceDraw,
    /// Which moments of their history.
    pub moments: MomentDraw,
}

impl DrawConfig {
    /// Whether each is as likely as any other.
    #[must_use]
    pub fn is_even(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for DrawConfig {
    /// What stands behind what is asked; nothing where all is as likely.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.devices {
            DeviceDraw::Uniform => {}
            DeviceDraw::Zipf => f.write_str(", some devices far more often than others (zipf)")?,
        }
        match self.moments {
            MomentDraw::Uniform => Ok(()),
            MomentDraw::Recent => f.write_str(", mostly of recent times"),
        }
    }
}

words! {
    /// Which devices are asked about.
    #[derive(Default)]
    DeviceDraw {
        /// Each as often.
        #[default]
        Uniform = "uniform",
        /// The nth most popular one in proportion to n^-0.99.
        Zipf = "zipf",
    }
}

words! {
    /// Which moments are asked about.
    #[derive(Default)]
    MomentDraw {
        /// Each as often.
        #[default]
        Uniform = "uniform",
        /// The age is exponential, a tenth of the history in the mean.
        Recent = "recent",
    }
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
        /// Sessions arrive by a schedule that no answer delays; each starts again some time after its answer, until it leaves.
        PartlyOpen = "partly_open",
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

words! {
    /// How the load of an open or closed loop changes with time.
    ShapeKind {
        /// It does not.
        Constant = "constant",
        /// Much for a part of each period, less for the rest.
        Burst = "burst",
        /// It swings about its mean.
        Sine = "sine",
        /// By the hours of a day.
        Day = "day",
        /// It grows evenly from nothing, and stays.
        Rise = "rise",
        /// As a file has it.
        Trace = "trace",
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
    /// Closed, partly open: from an answer to the next start of the user or session.
    #[serde(default = "zero_span")]
    pub think_time: Span,
    /// Open: operations a second; partly open: sessions a second; paced: datapoints a second and device; `auto`: the dataset's own pace.
    #[serde(default)]
    pub rate: Auto<Rate>,
    /// Partly open: how many operations a session has in the mean; it leaves after each with the same probability.
    #[serde(default = "default_operations_per_session")]
    pub operations_per_session: f64,
    /// Partly open: the most sessions at once; those that arrive beyond are dropped.
    #[serde(default = "default_most_sessions")]
    pub most_sessions: Count,
    /// Open: the spread of starts; partly open: that of arrivals.
    #[serde(default = "default_arrival")]
    pub arrival: Arrival,
    /// Open: what happens to operations that cannot start in time.
    #[serde(default = "default_overflow")]
    pub overflow: Overflow,
    /// Open with overflow drop: the most operations waiting or under way.
    #[serde(default = "default_in_flight")]
    pub in_flight: Count,
    /// How the load changes with time: of an open loop `rate` is the mean, of a closed one `users` are those of the peak.
    #[serde(default = "default_shape")]
    pub shape: ShapeKind,
    /// Burst, sine and day: after how long it begins again; `auto`: a minute, of a day 24 h.
    #[serde(default)]
    pub period: Auto<Span>,
    /// Burst and sine: the greatest load, in multiples of the mean.
    #[serde(default = "default_peak")]
    pub peak: f64,
    /// Burst: how much of the period it takes, from its beginning.
    #[serde(default = "default_burst")]
    pub burst: Share,
    /// Rise: how long the load grows.
    #[serde(default = "default_rise")]
    pub rise: Span,
    /// Trace: the file, a CSV of `time` in seconds and `rate`.
    #[serde(default)]
    pub trace: String,
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
fn default_operations_per_session() -> f64 {
    5.0
}
fn default_most_sessions() -> Count {
    Count(10_000)
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
fn default_shape() -> ShapeKind {
    ShapeKind::Constant
}
fn default_peak() -> f64 {
    2.0
}
fn default_burst() -> Share {
    Share(0.1)
}
fn default_rise() -> Span {
    Span::from_secs(60)
}
fn default_queue() -> Bytes {
    Bytes(16 * 1024)
}
fn default_message() -> Bytes {
    Bytes(22)
}
