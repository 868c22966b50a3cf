//! Questions to a database, as values.

use crate::{BucketWidth, Consecutive, Fill, Percentile, Rollup, SignalId, TagId};
use serde::{Deserialize, Serialize};
use std::{fmt, ops::Bound};

/// A stretch of time in nanoseconds since the Unix epoch, each end open, closed or unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeRange {
    /// The earlier end.
    pub from: Bound<i64>,
    /// The later end.
    pub to: Bound<i64>,
}

impl TimeRange {
    /// All time.
    pub const ALL: Self = Self { from: Bound::Unbounded, to: Bound::Unbounded };

    /// From `from` up to, but without, `to`.
    #[must_use]
    pub fn half_open(from: i64, to: i64) -> Self {
        Self { from: Bound::Included(from), to: Bound::Excluded(to) }
    }

    /// Whether a time lies within.
    #[must_use]
    pub fn contains(&self, ns: i64) -> bool {
        std::ops::RangeBounds::contains(&(self.from, self.to), &ns)
    }
}

/// Which devices a query is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Devices {
    /// Every device.
    All,
    /// These, ascending.
    Some(Vec<u32>),
    /// Those with one value of a tag.
    Tagged(Tagged),
}

/// The devices with one value of a tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tagged {
    /// The tag.
    pub tag: TagId,
    /// Which of its values.
    pub choice: u32,
    /// Which devices these are, ascending: for whoever has no tags.
    pub devices: Vec<u32>,
}

impl Devices {
    /// Whether a device is among them.
    #[must_use]
    pub fn contains(&self, device: u32) -> bool {
        match self {
            Self::All => true,
            Self::Some(list) => list.contains(&device),
            Self::Tagged(tagged) => tagged.devices.binary_search(&device).is_ok(),
        }
    }

    /// These, one after the other; `None` where it is every one.
    #[must_use]
    pub fn list(&self) -> Option<&[u32]> {
        match self {
            Self::All => None,
            Self::Some(list) => Some(list),
            Self::Tagged(tagged) => Some(&tagged.devices),
        }
    }
}

/// A condition on one channel; text is compared by its number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Predicate {
    /// Greater than.
    Above(f64),
    /// Less than.
    Below(f64),
}

impl Predicate {
    /// Whether a value meets it.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        match *self {
            Self::Above(limit) => value > limit,
            Self::Below(limit) => value < limit,
        }
    }
}

/// Which of the points that meet a predicate is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The first one after this time.
    FirstAfter(i64),
    /// The last one before this time.
    LastBefore(i64),
}

/// A figure over many points, written as one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// The oldest value.
    First,
    /// The newest value.
    Last,
    /// The least.
    Min,
    /// The arithmetic mean.
    Mean,
    /// The greatest.
    Max,
    /// The sum.
    Sum,
    /// How many values there are.
    Count,
    /// The value that so many percent of them do not exceed, or one next to it.
    Percentile(Percentile),
}

impl Aggregate {
    /// Each of them but percentiles.
    pub const ALL: [Self; 7] = [Self::First, Self::Last, Self::Min, Self::Mean, Self::Max, Self::Sum, Self::Count];

    /// Whether it is a percentile, for which all values are needed at once.
    #[must_use]
    pub fn is_percentile(self) -> bool {
        matches!(self, Self::Percentile(_))
    }
}

impl fmt::Display for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "first",
            Self::Last => "last",
            Self::Min => "min",
            Self::Mean => "mean",
            Self::Max => "max",
            Self::Sum => "sum",
            Self::Count => "count",
            Self::Percentile(percentile) => return percentile.fmt(f),
        })
    }
}

/// A question to a database. Rows of points come ordered by device, then time, then the order of storing.
///
/// What a reply holds: [`Query::Count`] one row with two I64 columns (points, values); [`Query::Aggregates`] one row a
/// device and aggregate, in the order asked, with an F64 column a signal; [`Query::Buckets`] the same of each bucket that
/// holds a point, by device, then time, with the bucket's beginning as the time of its rows; [`Query::TotalBuckets`] a row a bucket and aggregate, of device 0, by time
/// or, of the newest alone, newest first; [`Query::TagFigures`] a row a value of the tag, bucket and aggregate, with the place of the
/// value among those of its tag as the device, by value, then time; [`Query::TopDevices`] a row a device with one F64 column, the
/// greatest first, equal ones by device; [`Query::Having`] some of the rows that it is of, or a row a device or value of the tag
/// with the number of buckets as an F64 column; [`Query::Filled`] rows as [`Query::Buckets`], of each device that has a point every bucket
/// of the stretch; [`Query::Consecutive`] rows with one column, by device, then time, as
/// [`Consecutive`] says; [`Query::Where`] rows as those that it is of; [`Query::Rollup`] rows as [`Rollup`] says; [`Query::MaxOfFirst`] one row with one F64 column; all others rows of points with the columns of the
/// signals asked for, in their own types. No point
/// found means no row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Query {
    /// Points in a stretch of time.
    Range {
        /// Whose.
        devices: Devices,
        /// Which signals, ascending.
        signals: Vec<SignalId>,
        /// When.
        range: TimeRange,
    },
    /// Points in a stretch of time whose channel meets a predicate: that channel only, or all signals.
    Filter {
        /// Whose.
        devices: Devices,
        /// The channel.
        signal: SignalId,
        /// The condition on it.
        predicate: Predicate,
        /// When.
        range: TimeRange,
        /// Whether all signals come back.
        #[serde(default)]
        all_signals: bool,
    },
    /// At most `limit` consecutive points of one device, all signals, from a time on.
    Records {
        /// Whose.
        device: u32,
        /// The earliest time.
        from_ns: i64,
        /// How many.
        limit: u64,
    },
    /// The first or last point whose channel meets a predicate: that channel only.
    Nearest {
        /// Whose.
        device: u32,
        /// The channel.
        signal: SignalId,
        /// The condition on it.
        predicate: Predicate,
        /// Which one.
        direction: Direction,
    },
    /// The point where a channel is least, the earliest of equals: that channel only.
    Minimum {
        /// Whose.
        device: u32,
        /// The channel.
        signal: SignalId,
        /// When.
        range: TimeRange,
    },
    /// The newest `limit` points of the devices together, all signals, ordered by descending time.
    Newest {
        /// Whose.
        devices: Devices,
        /// How many.
        limit: u64,
    },
    /// The newest point of each device, all signals.
    LastPoints {
        /// Whose.
        devices: Devices,
    },
    /// The greatest value of a channel, text cast to a number, over `limit` consecutive points from a time on.
    MaxOfFirst {
        /// Whose.
        device: u32,
        /// The channel.
        signal: SignalId,
        /// The earliest time.
        from_ns: i64,
        /// Over how many.
        limit: u64,
    },
    /// Figures of signals, device by device.
    Aggregates {
        /// Whose.
        devices: Devices,
        /// Which signals, ascending; all are numbers or text that reads as one.
        signals: Vec<SignalId>,
        /// Which figures.
        aggregates: Vec<Aggregate>,
        /// When.
        range: TimeRange,
    },
    /// Figures of signals, device by device and bucket by bucket.
    Buckets {
        /// Whose.
        devices: Devices,
        /// Which signals, ascending; all are numbers or text that reads as one.
        signals: Vec<SignalId>,
        /// Which figures.
        aggregates: Vec<Aggregate>,
        /// When: of a bucket that begins before or ends after, the points within.
        range: TimeRange,
        /// How long each bucket is.
        width: BucketWidth,
    },
    /// Figures of signals of devices together, bucket by bucket; not the first and the last value, and no percentiles.
    TotalBuckets {
        /// Whose.
        devices: Devices,
        /// Which signals, ascending; all are numbers or text that reads as one.
        signals: Vec<SignalId>,
        /// Which figures.
        aggregates: Vec<Aggregate>,
        /// When: of a bucket that begins before or ends after, the points within.
        range: TimeRange,
        /// How long each bucket is.
        width: BucketWidth,
        /// Of the buckets that hold a point only so many of the newest, newest first; `None`: all of them, by time.
        #[serde(default)]
        newest: Option<u64>,
    },
    /// Figures of signals of all devices with the same value of a tag together, value by value; not the first and the last value, and no
    /// percentiles.
    TagFigures {
        /// The tag.
        tag: TagId,
        /// Which signals, ascending; all are numbers or text that reads as one.
        signals: Vec<SignalId>,
        /// Which figures.
        aggregates: Vec<Aggregate>,
        /// When: of a bucket that begins before or ends after, the points within.
        range: TimeRange,
        /// Bucket by bucket of this length; `None`: over all of the time.
        width: Option<BucketWidth>,
    },
    /// The devices with the greatest figure of a signal, those without a value left out.
    TopDevices {
        /// Among which.
        devices: Devices,
        /// The signal; it is a number or text that reads as one.
        signal: SignalId,
        /// Which figure; no percentile.
        aggregate: Aggregate,
        /// When.
        range: TimeRange,
        /// How many devices.
        limit: u64,
    },
    /// Of the rows of another query those with a value that meets a condition; or how many time buckets of each group do.
    Having {
        /// What these rows are: figures of one signal and one aggregate, or the newest points.
        of: Box<Query>,
        /// The signal that is compared.
        signal: SignalId,
        /// The condition on its value.
        predicate: Predicate,
        /// Of each device, or value of the tag, how many of its buckets meet it, where at least so many do; `None`: these rows.
        at_least: Option<u64>,
        /// Of the newest points: the value is compared as so many times the number that is the device's value of this tag.
        #[serde(default)]
        per: Option<TagId>,
    },
    /// What lies between consecutive values of a signal in a stretch of time, device by device.
    Consecutive {
        /// Whose.
        devices: Devices,
        /// The signal; points without a value of it are passed over, and so is, but for gaps, text that reads as no number.
        signal: SignalId,
        /// When: both values lie within.
        range: TimeRange,
        /// What is asked about them.
        what: Consecutive,
    },
    /// Figures device by device and bucket by bucket, with rows also of the buckets that hold no point.
    Filled {
        /// Buckets of a stretch of time that has both ends.
        of: Box<Query>,
        /// What these rows hold.
        fill: Fill,
    },
    /// Figures over the points alone whose channel meets a predicate.
    Where {
        /// The figures: of devices, of their buckets, of those of devices together that are not the newest alone, or of a tag's values.
        of: Box<Query>,
        /// The channel.
        signal: SignalId,
        /// The condition on it.
        predicate: Predicate,
        /// Over all points instead, each as 1 where it meets it and as 0 where not: the mean is the part that does. Then the figures are of
        /// that channel alone.
        #[serde(default)]
        indicator: bool,
    },
    /// The points of a range or of a filter by device, the newest of each first; equal times as they were stored, reversed.
    Descending {
        /// These points.
        of: Box<Query>,
    },
    /// What the figures of devices come to together, or how many of their buckets meet a condition, or how long.
    Rollup {
        /// The figures.
        of: Box<Query>,
        /// What is made of them.
        rollup: Rollup,
    },
    /// How many points and values are stored.
    Count,
    /// The newest point of one series.
    NewestVisible {
        /// Whose.
        device: u32,
        /// The signal.
        signal: SignalId,
    },
    /// Every stored row in order, also those that we never sent.
    Scan,
}

impl Query {
    /// What a database is asked: a name, and what is asked for. Each backend that stores answers each of them.
    pub const KINDS: &[(&'static str, &'static str)] = &[
        ("range", "points of devices in a stretch of time"),
        ("filter", "points of devices in a stretch of time whose value meets a condition: that value, or all signals"),
        ("records", "consecutive points of a device from a time on"),
        ("nearest", "the first or last point whose value meets a condition"),
        ("minimum", "the point where a signal is least"),
        ("newest", "the newest points of several devices"),
        ("last_points", "the newest point of each of several devices"),
        ("max_of_first", "the greatest value over consecutive points"),
        ("aggregates", "last, least, mean and greatest value, device by device"),
        ("buckets", "figures of signals, device by device and time bucket by time bucket"),
        ("total_buckets", "figures of signals of devices together, time bucket by time bucket"),
        (
            "tag_figures",
            "figures of signals of the devices with each value of a tag together, also time bucket by time bucket",
        ),
        ("top_devices", "the devices with the greatest figure of a signal"),
        (
            "having",
            "of figures or newest points those that meet a condition, or how many time buckets of each device do",
        ),
        (
            "consecutive",
            "what lies between consecutive values of a signal, device by device: gaps, differences or rates, the time-weighted mean",
        ),
        (
            "filled",
            "time buckets of each device, also those that hold no point: with nothing, the value before or one between",
        ),
        ("where", "figures over the points alone whose value meets a condition, or which part of them does"),
        (
            "descending",
            "points of devices in a stretch of time, or those whose value meets a condition, the newest first",
        ),
        (
            "rollup",
            "what figures of devices come to together: means and sums by tags, of counts and of stretches of time buckets that meet a condition too",
        ),
        ("count", "how many points and values are stored"),
        ("newest_visible", "the newest point of one series"),
        ("scan", "every stored row"),
    ];

    /// The devices that it is about.
    #[must_use]
    pub fn devices(&self) -> Devices {
        match self {
            Self::Range { devices, .. }
            | Self::Filter { devices, .. }
            | Self::Newest { devices, .. }
            | Self::LastPoints { devices }
            | Self::Aggregates { devices, .. }
            | Self::Buckets { devices, .. }
            | Self::TotalBuckets { devices, .. }
            | Self::TopDevices { devices, .. }
            | Self::Consecutive { devices, .. } => devices.clone(),
            Self::Records { device, .. }
            | Self::Nearest { device, .. }
            | Self::Minimum { device, .. }
            | Self::MaxOfFirst { device, .. }
            | Self::NewestVisible { device, .. } => Devices::Some(vec![*device]),
            Self::Having { of, .. }
            | Self::Filled { of, .. }
            | Self::Where { of, .. }
            | Self::Descending { of }
            | Self::Rollup { of, .. } => of.devices(),
            Self::TagFigures { .. } | Self::Count | Self::Scan => Devices::All,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_is_listed() {
        let message = serde_json::from_str::<Query>("\"none\"").unwrap_err().to_string();
        let known: Vec<_> = message.split('`').skip(1).step_by(2).skip(1).collect();
        assert_eq!(known, Query::KINDS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "{message}");
    }
}
