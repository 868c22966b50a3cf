//! The built-in datasets, one file each.

mod compressor;
mod custom;
mod greenhouse;
mod iot_benchmark;
mod machine;
mod pmu;
mod replay;
mod smart_meter;
mod text;
mod tpcx_iot;
mod tsbs_cpu;
mod tsbs_iot;
mod tsbs_tags;
mod weather;

use crate::{
    DatasetInfo, Opening, ParameterError,
    clock::{Clock, ClockPlan},
    oscillator::Oscillator,
};
use jiff::SignedDuration;

pub use custom::{CustomSignal, ShapeContext, ShapeInfo, shapes};
pub use machine::{MACHINE_AMPLITUDE, MachineCycles};
pub use replay::ReplayParameters;

/// Every built-in dataset.
pub const DATASETS: &[DatasetInfo] = &[
    machine::INFO,
    pmu::INFO,
    smart_meter::INFO,
    weather::INFO,
    greenhouse::INFO,
    compressor::INFO,
    text::INFO,
    tsbs_cpu::INFO,
    tsbs_iot::INFO,
    tpcx_iot::INFO,
    iot_benchmark::INFO,
    custom::INFO,
    replay::INFO,
];

const DAY_NS: i64 = 86_400_000_000_000;

/// A clock whose resolution follows from origin and period.
fn clock(opening: Opening<'_>, period_ns: i64, jitter: SignedDuration) -> Result<Clock, ParameterError> {
    let jitter_ns = nanoseconds("jitter", jitter)?;
    let Opening { origin_ns, clock_offset_ns: offset_ns, .. } = opening;
    let plan = ClockPlan { origin_ns, period_ns, offset_ns, jitter_ns, resolution_ns: None };
    Ok(Clock::new(plan, opening.seed)?)
}

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
pub(crate) fn share(key: &str, value: f64) -> Result<f64, ParameterError> {
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(ParameterError::key(key, "must be from 0 to 1")) }
}

/// A time that fits into 64 bits of nanoseconds.
pub(crate) fn nanoseconds(key: &str, time: SignedDuration) -> Result<i64, ParameterError> {
    i64::try_from(time.as_nanos()).map_err(|_| ParameterError::key(key, "must be below 292 years"))
}

/// A wave that takes so many nanoseconds, seen every `period_ns`.
fn wave(wave_ns: i64, period_ns: i64, phase: u64) -> Oscillator {
    #[expect(clippy::cast_precision_loss, reason = "below 2^53 up to 104 days; beyond, the nearest will do")]
    let turns = period_ns as f64 / wave_ns as f64;
    Oscillator::new(turns % 1.0, phase)
}

/// Rounds to a number of decimals, given as their power of ten.
fn rounded(value: f64, power: f64) -> f64 {
    (value * power).round() / power
}
