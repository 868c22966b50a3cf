//! What was acknowledged a second.

use super::rounding::{rounded, seconds};
use iotbench_recorder::Quartiles;
use serde::{Deserialize, Serialize};

/// The stretch whose figures are the result, in seconds since the run's start by the monotonic clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredPart {
    /// Its start.
    pub from_s: Option<f64>,
    /// Its end.
    pub to_s: Option<f64>,
    /// Its length: what rates are divided by.
    pub length_s: Option<f64>,
}

/// What was acknowledged a second in the measured part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Throughput {
    /// Operations acknowledged over the part's length.
    pub operations_per_s: Option<f64>,
    /// Datapoints acknowledged over the part's length.
    pub points_per_s: Option<f64>,
    /// Values acknowledged over the part's length.
    pub values_per_s: Option<f64>,
    /// Rows of answers over the part's length.
    #[serde(default)]
    pub rows_read_per_s: Option<f64>,
    /// Bytes of content sent and received over the part's length, as far as the backend tells.
    #[serde(default)]
    pub bytes_per_s: Option<f64>,
    /// How the whole seconds spread; null without any.
    pub windows: Option<Windows>,
}

/// How the whole seconds of the measured part spread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Windows {
    /// How many there are.
    pub count: u64,
    /// Operations acknowledged in each.
    pub operations_per_s: Spread,
    /// Datapoints acknowledged in each.
    pub points_per_s: Spread,
    /// Values acknowledged in each.
    pub values_per_s: Spread,
}

/// Minimum, quartiles (linear interpolation) and maximum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The least.
    pub min: Option<f64>,
    /// A quarter is below.
    pub q1: Option<f64>,
    /// Half is below.
    pub median: Option<f64>,
    /// Three quarters are below.
    pub q3: Option<f64>,
    /// The greatest.
    pub max: Option<f64>,
}

impl MeasuredPart {
    /// From one time since the run's start to another, in nanoseconds.
    #[must_use]
    pub fn between(from_ns: u64, to_ns: u64) -> Self {
        let [from_s, to_s, length_s] = [from_ns, to_ns, to_ns.saturating_sub(from_ns)].map(|ns| Some(seconds(ns)));
        Self { from_s, to_s, length_s }
    }
}

impl Throughput {
    /// Operations, datapoints, values, rows and bytes of `length_s` seconds.
    #[must_use]
    pub fn of(length_s: f64, counts: [u64; 5], windows: Option<Windows>) -> Self {
        let rates = counts.map(|count| rounded(count as f64 / length_s));
        let [operations_per_s, points_per_s, values_per_s, rows_read_per_s, bytes_per_s] = rates;
        Self { operations_per_s, points_per_s, values_per_s, rows_read_per_s, bytes_per_s, windows }
    }
}

impl Spread {
    /// Of counts, one a second; `None`: there are none.
    #[must_use]
    pub fn of(counts: impl Iterator<Item = u64>) -> Option<Self> {
        let rates: Vec<_> = counts.map(|count| count as f64).collect();
        let Quartiles { min, q1, median, q3, max, .. } = Quartiles::of(&rates)?;
        Some(Self { min: rounded(min), q1: rounded(q1), median: rounded(median), q3: rounded(q3), max: rounded(max) })
    }
}
