//! How figures and times stand in a document: every number finite, none more exact than it is.

use jiff::Timestamp;
use std::time::{Duration, SystemTime};

/// A number that can stand in JSON.
#[must_use]
pub fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// Nanoseconds as microseconds, to the nanosecond.
#[must_use]
pub fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}

/// A mean of nanoseconds as microseconds, to the nanosecond.
#[must_use]
pub fn mean_us(ns: f64) -> Option<f64> {
    finite(ns.round() / 1e3)
}

/// A length in milliseconds, to the microsecond.
#[must_use]
pub fn ms(length: Duration) -> f64 {
    (length.as_secs_f64() * 1e6).round() / 1e3
}

/// Nanoseconds as seconds.
#[must_use]
pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// A figure to three decimals: more would be noise.
#[must_use]
pub fn rounded(number: f64) -> Option<f64> {
    finite((number * 1e3).round() / 1e3)
}

/// A part of a whole to three digits, so that a small one is not none.
#[must_use]
pub fn part(part: f64) -> Option<f64> {
    format!("{part:.2e}").parse().ok().and_then(finite)
}

/// A wall-clock time as RFC 3339; what lies outside the calendar is the epoch.
#[must_use]
pub fn time(time: SystemTime) -> String {
    Timestamp::try_from(time).unwrap_or_default().to_string()
}

/// The time of a datapoint, in nanoseconds since the epoch, likewise.
#[must_use]
pub fn timestamp(ns: i64) -> String {
    Timestamp::from_nanosecond(ns.into()).unwrap_or_default().to_string()
}
