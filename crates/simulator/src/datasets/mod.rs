//! The built-in datasets, one file each.

mod machine;
mod pmu;

use crate::{DatasetInfo, ParameterError};
use jiff::SignedDuration;

pub use machine::{MACHINE_AMPLITUDE, MachineCycles};

/// Every built-in dataset.
pub const DATASETS: &[DatasetInfo] = &[machine::INFO, pmu::INFO];

/// The time between datapoints at a rate per second, to the nearest nanosecond.
fn period_ns(rate: f64) -> Result<i64, ParameterError> {
    if !(1e-9..=1e9).contains(&rate) {
        return Err(ParameterError::key("rate", "must be from 1e-9 to 1e9 datapoints per second"));
    }
    #[expect(clippy::cast_possible_truncation, reason = "1 to 1e18, rounded")]
    let period_ns = (1e9 / rate + 0.5) as i64;
    Ok(period_ns)
}

/// A share of 0 to 1.
fn share(key: &str, value: f64) -> Result<f64, ParameterError> {
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(ParameterError::key(key, "must be from 0 to 1")) }
}

/// A time that fits into 64 bits of nanoseconds.
fn nanoseconds(key: &str, time: SignedDuration) -> Result<i64, ParameterError> {
    i64::try_from(time.as_nanos()).map_err(|_| ParameterError::key(key, "must be below 292 years"))
}
