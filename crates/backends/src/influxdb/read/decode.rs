//! Cells as values of the schema's types.

use crate::influxdb::chunk::{Cell, Series};
use crate::line_protocol::DEVICE;
use iotbench_core::{Cause, Error, Value, ValueType};

/// A cell as a value of this type.
///
/// # Errors
/// Protocol for a cell that holds anything else.
pub(crate) fn value<'c>(cell: &'c Cell<'_>, value_type: ValueType) -> Result<Option<Value<'c>>, Error> {
    let unexpected = || Error::new(Cause::Protocol, format!("a {value_type:?} field holds {cell:?}"));
    Ok(Some(match (value_type, cell) {
        (_, Cell::Null) => return Ok(None),
        #[expect(clippy::cast_possible_truncation, reason = "an f32 was stored as the f64 of the same value")]
        (ValueType::F32, cell) => Value::F32(number(cell)?.ok_or_else(unexpected)? as f32),
        (ValueType::F64, cell) => Value::F64(number(cell)?.ok_or_else(unexpected)?),
        (ValueType::I64, Cell::Integer(v)) => Value::I64(*v),
        (ValueType::U16, Cell::Integer(v)) => Value::U16(u16::try_from(*v).map_err(|_| unexpected())?),
        (ValueType::Text, Cell::Text(v)) => Value::Text(v),
        _ => return Err(unexpected()),
    }))
}

/// A cell as a number.
///
/// # Errors
/// Protocol for a cell that holds none.
pub(crate) fn number(cell: &Cell<'_>) -> Result<Option<f64>, Error> {
    match cell {
        Cell::Null => Ok(None),
        Cell::Float(v) => Ok(Some(*v)),
        #[expect(clippy::cast_precision_loss, reason = "a float that is whole, or a figure, which is f64 everywhere")]
        Cell::Integer(v) => Ok(Some(*v as f64)),
        other => Err(Error::new(Cause::Protocol, format!("{other:?} stands where a number should"))),
    }
}

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
