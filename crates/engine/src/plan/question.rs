//! What a read asks, as meant.

use super::{OwnStatement, Whose};
use iotbench_core::{Aggregate, BucketWidth, Consecutive, Fill, Predicate, Rollup, SignalId, TagId};
use iotbench_cycle_finder::Strategy;
use serde::{Deserialize, Serialize};

/// What a read asks. Which device, signal and moment it is about is drawn for each request, from the seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ask")]
pub enum Question {
    /// A signal of devices over a stretch of time from a random moment of the history on.
    Signal {
        /// The signals of which one is drawn, ascending.
        signals: Vec<SignalId>,
        /// Whose.
        devices: Whose,
        /// The length of the stretch.
        window_ns: u64,
    },
    /// A signal of devices at the time of a random record of the first of them.
    Point {
        /// The signals of which one is drawn, ascending.
        signals: Vec<SignalId>,
        /// Whose.
        devices: Whose,
    },
    /// The newest value of a signal of a random device.
    Latest {
        /// The signals of which one is drawn, ascending.
        signals: Vec<SignalId>,
    },
    /// Consecutive records of a device from a random one on.
    Records {
        /// How many.
        records: u64,
    },
    /// The newest records of all devices.
    Newest {
        /// How many.
        records: u64,
    },
    /// The newest record of each of devices.
    LastPoints {
        /// Whose.
        devices: Whose,
    },
    /// All records of a random device.
    Device,
    /// The greatest value of a signal over consecutive records from a random one on.
    Max {
        /// The signal.
        signal: SignalId,
        /// How many.
        records: u64,
    },
    /// The mean of each signal of a random device.
    Mean {
        /// The signals, ascending.
        signals: Vec<SignalId>,
    },
    /// The values of a signal of devices that meet a condition, or the records with such a value, over a stretch of
    /// time from a random moment of the history on.
    Filter {
        /// The signals of which one is drawn, ascending.
        signals: Vec<SignalId>,
        /// The condition.
        predicate: Predicate,
        /// Whose.
        devices: Whose,
        /// The length of the stretch.
        window_ns: u64,
        /// Whether all signals of these records come back.
        #[serde(default)]
        records: bool,
    },
    /// Figures of each signal of each of several devices, over a stretch of time from a random moment of the history on.
    Figures {
        /// The signals, ascending.
        signals: Vec<SignalId>,
        /// Which figures.
        aggregates: Vec<Aggregate>,
        /// Whose.
        devices: Whose,
        /// The length of the stretch.
        window_ns: u64,
    },
    /// Figures of each signal of each of several devices over the newest stretch of time, and by a second request the same of a
    /// stretch of that length from a random moment on.
    CompareWindows {
        /// The signals, ascending.
        signals: Vec<SignalId>,
        /// Which figures.
        aggregates: Vec<Aggregate>,
        /// Whose.
        devices: Whose,
        /// The length of each stretch.
        window_ns: u64,
    },
    /// Figures of each signal of devices in time buckets, over a stretch of time from a random moment of the
    /// history on.
    Buckets {
        /// The signals, ascending.
        signals: Vec<SignalId>,
        /// Which figures.
        aggregates: Vec<Aggregate>,
        /// Whose.
        devices: Whose,
        /// The length of the stretch.
        window_ns: u64,
        /// The length of a bucket.
        width: BucketWidth,
        /// Whether they are of all these devices together.
        #[serde(default)]
        together: bool,
    },
    /// Figures of each signal of all devices with the same value of a tag together, over a stretch of time from a random moment of the
    /// history on.
    ByTag {
        /// The tag.
        tag: TagId,
        /// Its name.
        name: String,
        /// The signals, ascending.
        signals: Vec<SignalId>,
        /// Which figures.
        aggregates: Vec<Aggregate>,
        /// The length of the stretch.
        window_ns: u64,
        /// In buckets of this length.
        width: Option<BucketWidth>,
    },
    /// Figures of each signal of devices together in the newest time buckets before a random moment of the history.
    NewestBuckets {
        /// The signals, ascending.
        signals: Vec<SignalId>,
        /// Which figures.
        aggregates: Vec<Aggregate>,
        /// Whose.
        devices: Whose,
        /// The length of a bucket.
        width: BucketWidth,
        /// How many buckets.
        buckets: u64,
    },
    /// Of figures or newest records those with a value that meets a condition; or how many time buckets of each group do.
    Having {
        /// What they are: figures of one signal and one aggregate, or the newest record of each of devices.
        of: Box<Question>,
        /// The signal.
        signal: SignalId,
        /// The condition.
        predicate: Predicate,
        /// How many buckets of each device, or value of a tag, meet it, where at least so many do; `None`: the rows that do.
        at_least: Option<u64>,
        /// Of the newest records: the value is compared as so many times the number that is the device's value of this tag.
        #[serde(default)]
        per: Option<(TagId, String)>,
    },
    /// Figures over the records alone with a value that meets a condition, or the part of them.
    Where {
        /// The figures.
        of: Box<Question>,
        /// The signal.
        signal: SignalId,
        /// The condition.
        predicate: Predicate,
        /// Each record counts as 1 where it does, as 0 where not.
        indicator: bool,
    },
    /// Rows of a signal, values or records that meet a condition, or time buckets of devices together, the newest first.
    Descending {
        /// These.
        of: Box<Question>,
    },
    /// What figures of devices come to together.
    Rollup {
        /// The figures.
        of: Box<Question>,
        /// What is made of them.
        rollup: Rollup,
        /// The names of the tags that they come together by.
        by: Vec<String>,
    },
    /// Figures of each device in time buckets, with those that hold no point.
    Filled {
        /// The buckets.
        of: Box<Question>,
        /// What these hold.
        fill: Fill,
    },
    /// The devices with the greatest figure of a signal over a stretch of time from a random moment of the history on.
    TopDevices {
        /// The signals of which one is drawn, ascending.
        signals: Vec<SignalId>,
        /// Which figure.
        aggregate: Aggregate,
        /// How many devices.
        count: u64,
        /// Of which.
        devices: Whose,
        /// The length of the stretch.
        window_ns: u64,
    },
    /// What lies between consecutive values of a signal of devices, over a stretch of time from a random moment of the history on.
    Consecutive {
        /// The signals of which one is drawn, ascending.
        signals: Vec<SignalId>,
        /// What is asked about them.
        what: Consecutive,
        /// Whose.
        devices: Whose,
        /// The length of the stretch.
        window_ns: u64,
    },
    /// The machine cycle around a random moment, and the sum of every signal over it.
    Cycle {
        /// How it is read.
        strategy: Strategy,
        /// The signals to sum, ascending.
        signals: Vec<SignalId>,
        /// The one that is a sawtooth.
        abscissa: SignalId,
        /// Its height.
        amplitude: f64,
    },
    /// Last, least, mean and greatest value of each signal of every device, over the newest stretch of time.
    Dashboard {
        /// The signals, ascending.
        signals: Vec<SignalId>,
        /// The length of the stretch.
        window_ns: u64,
    },
    /// What the user wrote.
    Statement(OwnStatement),
}

impl Question {
    /// Which devices it is about, where a profile says.
    #[must_use]
    pub fn whose(&self) -> Option<&Whose> {
        match self {
            Self::Signal { devices, .. }
            | Self::Point { devices, .. }
            | Self::LastPoints { devices }
            | Self::Filter { devices, .. }
            | Self::Figures { devices, .. }
            | Self::CompareWindows { devices, .. }
            | Self::Buckets { devices, .. }
            | Self::NewestBuckets { devices, .. }
            | Self::TopDevices { devices, .. }
            | Self::Consecutive { devices, .. } => Some(devices),
            Self::Having { of, .. }
            | Self::Filled { of, .. }
            | Self::Where { of, .. }
            | Self::Descending { of }
            | Self::Rollup { of, .. } => of.whose(),
            Self::Latest { .. }
            | Self::Records { .. }
            | Self::Newest { .. }
            | Self::ByTag { .. }
            | Self::Device
            | Self::Max { .. }
            | Self::Mean { .. }
            | Self::Cycle { .. }
            | Self::Dashboard { .. }
            | Self::Statement(_) => None,
        }
    }

    /// The signals that it is about, some of them more than once; `None`: all that a record has.
    #[must_use]
    pub fn signals(&self) -> Option<Vec<SignalId>> {
        match self {
            Self::Signal { signals, .. }
            | Self::Point { signals, .. }
            | Self::Latest { signals }
            | Self::Mean { signals }
            | Self::Filter { signals, records: false, .. }
            | Self::Figures { signals, .. }
            | Self::CompareWindows { signals, .. }
            | Self::Buckets { signals, .. }
            | Self::ByTag { signals, .. }
            | Self::NewestBuckets { signals, .. }
            | Self::TopDevices { signals, .. }
            | Self::Consecutive { signals, .. }
            | Self::Dashboard { signals, .. } => Some(signals.clone()),
            Self::Max { signal, .. } => Some(vec![*signal]),
            Self::Cycle { signals, abscissa, .. } => Some([&signals[..], &[*abscissa]].concat()),
            Self::Having { of, signal, .. } | Self::Where { of, signal, .. } => {
                of.signals().map(|signals| [&signals[..], &[*signal]].concat())
            }
            Self::Filled { of, .. } | Self::Descending { of } | Self::Rollup { of, .. } => of.signals(),
            Self::Statement(own) => Some(own.signals.clone()),
            Self::Records { .. }
            | Self::Newest { .. }
            | Self::LastPoints { .. }
            | Self::Device
            | Self::Filter { records: true, .. } => None,
        }
    }

    /// How many records it is about, where its number is asked for.
    #[must_use]
    pub fn records(&self) -> Option<u64> {
        match self {
            Self::Records { records } | Self::Newest { records } | Self::Max { records, .. } => Some(*records),
            Self::Signal { .. }
            | Self::Point { .. }
            | Self::Latest { .. }
            | Self::LastPoints { .. }
            | Self::Device
            | Self::Mean { .. }
            | Self::Filter { .. }
            | Self::Figures { .. }
            | Self::CompareWindows { .. }
            | Self::Buckets { .. }
            | Self::ByTag { .. }
            | Self::NewestBuckets { .. }
            | Self::Having { .. }
            | Self::Filled { .. }
            | Self::Where { .. }
            | Self::Descending { .. }
            | Self::Rollup { .. }
            | Self::TopDevices { .. }
            | Self::Consecutive { .. }
            | Self::Cycle { .. }
            | Self::Dashboard { .. }
            | Self::Statement(_) => None,
        }
    }
}
