//! How a recording is to be read.

use super::tags::RecordedTags;
use iotbench_core::ValueType;
use serde::Deserialize;
use std::{collections::BTreeMap, path::Path};

/// In which form a recording is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordingForm {
    /// As its first bytes and its name say.
    #[default]
    Auto,
    /// A line of names (`time`, perhaps `device`, then the signals), then a line a datapoint (RFC 4180).
    Csv,
    /// `InfluxDB`'s line protocol; TSBS writes it for InfluxDB, QuestDB and VictoriaMetrics.
    LineProtocol,
    /// What TSBS writes for TimescaleDB and ClickHouse: a head of names, then two lines a datapoint, tags and values.
    Tsbs,
    /// A flat table with a column of times, perhaps one of devices, and the signals. Takes the feature `parquet`.
    Parquet,
}

/// In which unit a recording states its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordedTime {
    /// RFC 3339, or a whole number of nanoseconds since the Unix epoch.
    #[default]
    Auto,
    /// RFC 3339.
    Rfc3339,
    /// Nanoseconds since the Unix epoch.
    Ns,
    /// Microseconds since the Unix epoch.
    Us,
    /// Milliseconds since the Unix epoch.
    Ms,
    /// Seconds since the Unix epoch.
    S,
}

/// What becomes of a line that is broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Broken {
    /// The recording is refused, with file and line.
    #[default]
    Stop,
    /// The line is left out and counted.
    Skip,
}

/// How a file is to be read.
#[derive(Clone, Debug)]
pub struct RecordingPlan<'a> {
    /// The file; one that is compressed by gzip is decompressed.
    pub path: &'a Path,
    /// Its form.
    pub form: RecordingForm,
    /// The unit of its times.
    pub time: RecordedTime,
    /// Which measurement or table of a file that has several; empty: its only one.
    pub measurement: &'a str,
    /// The tag, or column of Parquet, that names the device; empty: all tags together do, or the column `device`.
    pub device_tag: &'a str,
    /// The signals that are taken; empty: all.
    pub signals: &'a [String],
    /// Types of signals; others are those that the file states or, where it states none, inferred: `i64` if every cell is
    /// a whole number, `f64` if every cell is a number, else text.
    pub types: &'a BTreeMap<String, ValueType>,
    /// What becomes of the tags of devices.
    pub tags: RecordedTags,
    /// What becomes of broken lines.
    pub broken: Broken,
    /// What its datapoints may take in memory.
    pub memory_bytes: u64,
}

impl RecordedTime {
    /// A time as nanoseconds since the Unix epoch.
    ///
    /// # Errors
    /// A text that is none in this unit, or a time that 64 bits do not hold.
    pub fn time_ns(self, cell: &str) -> Result<i64, String> {
        if self == Self::Rfc3339 || self == Self::Auto && cell.parse::<i64>().is_err() {
            let time: jiff::Timestamp = cell.parse().map_err(|e| format!("{cell:?} is no time of RFC 3339: {e}"))?;
            return i64::try_from(time.as_nanosecond()).map_err(|_| format!("{cell} is outside 1677 to 2262"));
        }
        let units: i64 = cell.parse().map_err(|e| format!("{cell:?} is no whole number: {e}"))?;
        self.whole_ns(units)
    }

    /// A whole number of these units, of nanoseconds where none is said, as nanoseconds since the Unix epoch.
    ///
    /// # Errors
    /// A time that 64 bits do not hold.
    pub fn whole_ns(self, units: i64) -> Result<i64, String> {
        let unit_ns = match self {
            Self::Auto | Self::Rfc3339 | Self::Ns => 1,
            Self::Us => 1_000,
            Self::Ms => 1_000_000,
            Self::S => 1_000_000_000,
        };
        units.checked_mul(unit_ns).ok_or_else(|| format!("{units} is outside 1677 to 2262"))
    }
}
