//! Times and devices of an answer.

use crate::influxdb::chunk::Series;
use iotbench_backend_kit::{cell::Cell, line_protocol::DEVICE};
use iotbench_core::{Cause, Error};

/// The time of a row: its first cell.
pub(crate) fn time(row: &[Cell<'_>]) -> Result<i64, Error> {
    match row.first() {
        Some(Cell::Integer(time)) => Ok(*time),
        other => Err(Error::new(Cause::Protocol, format!("{other:?} stands where a time should"))),
    }
}

/// The device that a series is grouped under; 0 where there is but one.
pub(crate) fn device_of(series: &Series<'_>) -> Result<u32, Error> {
    series.tags.get(DEVICE).map_or(Ok(0), |tag| device(tag))
}

/// A device's number.
pub(crate) fn device(tag: &str) -> Result<u32, Error> {
    tag.parse().map_err(|_| Error::new(Cause::Protocol, format!("the tag {DEVICE} is {tag:?}, which is no number")))
}
