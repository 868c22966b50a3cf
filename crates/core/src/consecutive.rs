//! What is asked about consecutive values of a series.

use crate::ValueType;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// What is asked about consecutive values of a signal of one device, both within the stretch of time. Of equal times the value that
/// was stored first is the earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consecutive {
    /// Two that are further apart than this: a row at the time of the earlier one, with the nanoseconds between them.
    Gaps {
        /// In nanoseconds.
        longer_than_ns: u64,
    },
    /// Each and the one before it, as numbers: a row at the time of the later one, with how much greater it is.
    Differences {
        /// In so many nanoseconds, as if it changed evenly between the two, and no row of two of equal time; `None`: whatever the
        /// time between them is.
        per_ns: Option<NonZeroU64>,
    },
    /// The mean of all as numbers, each weighted by the time until the next one, so that the last one has no weight: a row a device,
    /// of time 0. Where no time lies between them it is the last one.
    TimeWeightedMean,
}

impl Consecutive {
    /// The type of the one column of its rows.
    #[must_use]
    pub fn value_type(self) -> ValueType {
        match self {
            Self::Gaps { .. } => ValueType::I64,
            Self::Differences { .. } | Self::TimeWeightedMean => ValueType::F64,
        }
    }
}
