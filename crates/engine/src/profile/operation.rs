//! What a user does, as written.

use super::zero_span;
use crate::units::{Auto, Count, Span, Written};
use iotbench_core::{Aggregate, Fill};
use iotbench_cycle_finder::Strategy;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{collections::BTreeMap, fmt, str::FromStr};

words! {
    /// What an operation does.
    OperationKind {
        /// Writes datapoints.
        Write = "write",
        /// Finds a machine cycle around a random time and sums it.
        CycleSearch = "cycle_search",
        /// Reads a stretch of one signal.
        ReadSignal = "read_signal",
        /// Reads one signal at the time of a record.
        ReadPoint = "read_point",
        /// Reads the newest value of one signal of a device.
        ReadLatest = "read_latest",
        /// Reads consecutive records.
        ReadRecords = "read_records",
        /// Reads the newest records.
        ReadNewest = "read_newest",
        /// Reads the newest record of each of several devices.
        LastPoints = "last_points",
        /// Reads all records of a device.
        ReadDevice = "read_device",
        /// The greatest value over consecutive records.
        MaxRecords = "max_records",
        /// The mean of every signal of a device.
        MeanDevice = "mean_device",
        /// Reads the values of one signal that are above or below a limit.
        Filter = "filter",
        /// Reads the records whose value of one signal is above or below a limit.
        FilterRecords = "filter_records",
        /// Figures of signals, device by device.
        Figures = "figures",
        /// Figures of signals over the newest stretch of time, then over an earlier one.
        CompareWindows = "compare_windows",
        /// Figures of signals in time buckets.
        Buckets = "buckets",
        /// How many time buckets of each device have a figure above or below a limit.
        CountBuckets = "count_buckets",
        /// Figures of signals of several devices together in time buckets.
        TotalBuckets = "total_buckets",
        /// Figures of signals of several devices together in the newest time buckets before a random moment.
        NewestBuckets = "newest_buckets",
        /// The devices with the greatest figure of a signal.
        TopDevices = "top_devices",
        /// Gaps between consecutive values of a signal.
        Gaps = "gaps",
        /// How much consecutive values of a signal differ, or the rates of change.
        Differences = "differences",
        /// The mean of the values of a signal, each weighted by how long it lasted.
        TimeWeightedMean = "time_weighted_mean",
        /// Last, least, mean and greatest value of each sensor.
        Dashboard = "dashboard",
        /// Asks what the user wrote in the database's own language.
        Statement = "statement",
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

/// How many devices a request is about, or which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestDevices {
    /// So many consecutive ones.
    Count(u64),
    /// Every one.
    All,
    /// Those with one value of this tag.
    Tag(String),
    /// Every one, those with each value of this tag together.
    By(String),
}

impl RequestDevices {
    /// How many, where that is what is said.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        if let Self::Count(count) = self { Some(*count) } else { None }
    }
}

impl FromStr for RequestDevices {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            _ if text.starts_with("by ") => Ok(Self::By(text.trim_start_matches("by ").trim().into())),
            _ if text.starts_with(|c: char| c.is_ascii_lowercase()) => Ok(Self::Tag(text.into())),
            _ => match text.parse() {
                Ok(Count(count)) => Ok(Self::Count(count)),
                Err(_) => Err(format!("{text:?}: write a count, \"all\", the name of a tag, or by and the name")),
            },
        }
    }
}

impl fmt::Display for RequestDevices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::All => f.write_str("all"),
            Self::Tag(name) => f.write_str(name),
            Self::By(name) => write!(f, "by {name}"),
        }
    }
}

impl Serialize for RequestDevices {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RequestDevices {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Written::deserialize(deserializer)?.0.parse().map_err(D::Error::custom)
    }
}

/// A statement: one for every backend, or one for each by its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a statement is a text, or a table of a text for each backend")]
pub enum StatementText {
    /// The same for every one.
    One(String),
    /// By name.
    Each(BTreeMap<String, String>),
}

impl StatementText {
    /// Whether there is none at all.
    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self, Self::Each(texts) if texts.is_empty())
    }

    /// That for a backend.
    #[must_use]
    pub fn of(&self, backend: &str) -> Option<&str> {
        match self {
            Self::One(text) => Some(text),
            Self::Each(texts) => texts.get(backend).map(String::as_str),
        }
    }

    /// Each by its backend's name, where there is one for each.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let texts = if let Self::Each(texts) = self { Some(texts) } else { None };
        texts.into_iter().flatten().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The backends that have one of their own.
    pub fn backends(&self) -> impl Iterator<Item = &str> {
        self.texts().map(|(name, _)| name)
    }
}

impl Default for StatementText {
    fn default() -> Self {
        Self::Each(BTreeMap::new())
    }
}

/// What the answer of a statement has to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// It has so many rows; of one that writes, it changes so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Count>,
    /// The first number of its only row is this figure of the signal of the device over the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<Aggregate>,
}

impl Expect {
    /// Whether anything will do.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// A condition on the records that figures are over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WhereConfig {
    /// The signal, by name.
    pub signal: String,
    /// Its value is greater than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// Its value is less than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// Over all records: each value as 1 where it meets the condition, as 0 where not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub indicator: bool,
}

/// What figures of devices come to together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RollupConfig {
    /// Which figure.
    pub figure: Aggregate,
    /// By the values of these tags; none: by device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// And by stretches of time of this length; `auto`: over all of the time.
    #[serde(default)]
    pub every: Auto<Span>,
    /// Counts: of the time buckets in each stretch of time of this length; `auto`: of all.
    #[serde(default)]
    pub each: Auto<Span>,
    /// Of all values, and of the numbers that are the devices' values of this tag; empty: of the figures.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub beside: String,
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
    /// Devices in a request. Write: so many consecutive ones, each with `datapoints`; the users of a group divide the devices
    /// among them. Read: so many consecutive ones, `all`, or the name of a tag: those with one of its values.
    #[serde(default = "one_device")]
    pub devices: RequestDevices,
    /// Read: records in an answer; newest time buckets, devices with the greatest figure: how many; counts
    /// of time buckets: the least that is answered.
    #[serde(default = "one_count")]
    pub records: Count,
    /// Read: the signals that are asked for, by name or by `beginning*`; none: all that the question can be about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<String>,
    /// Filters: the values greater than this, or their records. Figures, time buckets, newest records: those greater than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// Filters: the values less than this, or their records. Figures, time buckets, newest records: those less than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// Figures, time buckets: over the records alone with such a value of a signal.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub only: Option<WhereConfig>,
    /// Newest records with `above` or `below`, figures that come together: the value as so many times the number that is the device's
    /// value of this tag; empty: as it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub per_tag: String,
    /// Figures of devices and of their time buckets: what they come to together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollup: Option<RollupConfig>,
    /// Rows of a signal, values and records that meet a condition, time buckets of devices together: whether the newest come first.
    #[serde(default, skip_serializing_if = "is_false")]
    pub descending: bool,
    /// Time buckets: how long each is, beginning at multiples of that since the Unix epoch; `auto`: a tenth of `window`.
    /// Statement in MetricsQL: from one time of a range query to the next; `auto`: an instant query at the window's end.
    #[serde(default)]
    pub width: Auto<Span>,
    /// Gaps: consecutive values that are further apart than this; `auto`: not said.
    #[serde(default)]
    pub longer_than: Auto<Span>,
    /// Time buckets of each device: what those hold in which nothing was measured; `auto`: there are no rows of them.
    #[serde(default)]
    pub fill: Auto<Fill>,
    /// Differences: how much a value changes in so much time; `auto`: the plain difference.
    #[serde(default)]
    pub per: Auto<Span>,
    /// Figures, time buckets, devices with the greatest figure: `first`, `last`, `min`, `mean`, `max`, `sum`, `count` of each
    /// signal, and percentiles of each device; none: `mean`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aggregates: Vec<Aggregate>,
    /// Statement: what is asked, in the language of each backend.
    #[serde(default, skip_serializing_if = "StatementText::is_none")]
    pub statement: StatementText,
    /// Statement: whether it changes the run's table. Without it, it only reads.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writes: bool,
    /// Statement: what its answer has to be.
    #[serde(default, skip_serializing_if = "Expect::is_none")]
    pub expect: Expect,
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_false(value: &bool) -> bool {
    !*value
}

fn one() -> f64 {
    1.0
}
impl OperationConfig {
    /// The stretch of time that a read is about where a profile says none.
    pub const WINDOW: Span = Span::from_secs(2);
}

fn one_device() -> RequestDevices {
    RequestDevices::Count(1)
}
fn one_count() -> Count {
    Count(1)
}
/// Of 12 bits, as the dataset `machine` has.
fn default_amplitude() -> f64 {
    4095.0
}
fn default_window() -> Span {
    OperationConfig::WINDOW
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_a_number_all_or_those_of_a_tag() {
        for (text, meant) in [
            ("3", RequestDevices::Count(3)),
            ("10k", RequestDevices::Count(10_000)),
            ("all", RequestDevices::All),
            ("site", RequestDevices::Tag("site".into())),
            ("by site", RequestDevices::By("site".into())),
        ] {
            assert_eq!(text.parse(), Ok(meant.clone()));
            assert_eq!(meant.to_string().parse(), Ok(meant), "as it is written");
        }
        for bad in ["-3", "", "10x", "Site"] {
            assert!(
                bad.parse::<RequestDevices>().unwrap_err().contains("\"all\", the name of a tag, or by and the name"),
                "{bad}"
            );
        }
    }
}
