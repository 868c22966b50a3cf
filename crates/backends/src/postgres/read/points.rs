//! Datapoints out of the rows of an answer.

use super::shape::Shape;
use iotbench_backend_kit::{answer::Answer, assemble::ByValue, second::join};
use iotbench_core::{Cause, Error, SignalId, Value, ValueType};
use sqlx::{Row, ValueRef, postgres::PgRow};

/// How rows become datapoints.
pub(crate) trait Points: Send {
    /// Takes a row, and pushes the datapoints that it completes.
    fn take(&mut self, row: &PgRow, answer: &mut Answer<'_>) -> Result<(), Error>;

    /// Pushes the last datapoint, where it could not be known to be complete.
    fn finish(&mut self, answer: &mut Answer<'_>) -> Result<(), Error>;

    /// The bytes of the cells taken so far.
    fn bytes(&self) -> u64;
}

/// The cells of one row: binary, as every prepared query answers.
pub(crate) struct Cells<'r> {
    row: &'r PgRow,
    next: usize,
    pub(crate) bytes: u64,
}

impl<'r> Cells<'r> {
    pub(crate) fn new(row: &'r PgRow) -> Self {
        Self { row, next: 0, bytes: 0 }
    }

    /// The next cell; `None` where it is NULL.
    pub(crate) fn cell(&mut self) -> Result<Option<&'r [u8]>, Error> {
        let failed =
            |reason: &dyn std::fmt::Display| Error::new(Cause::Protocol, format!("cell {}: {reason}", self.next));
        let cell = self.row.try_get_raw(self.next).map_err(|e| failed(&e))?;
        let bytes = if cell.is_null() { None } else { Some(cell.as_bytes().map_err(|e| failed(&e))?) };
        self.next += 1;
        self.bytes += bytes.map_or(0, |bytes| bytes.len() as u64);
        Ok(bytes)
    }

    fn fixed<const N: usize>(&mut self) -> Result<Option<[u8; N]>, Error> {
        let place = self.next;
        let fit = |bytes: &[u8]| {
            let wrong = || Error::new(Cause::Protocol, format!("cell {place} has {} bytes and not {N}", bytes.len()));
            bytes.try_into().map_err(|_| wrong())
        };
        self.cell()?.map(fit).transpose()
    }

    pub(crate) fn integer(&mut self) -> Result<Option<i32>, Error> {
        Ok(self.fixed()?.map(i32::from_be_bytes))
    }

    pub(crate) fn bigint(&mut self) -> Result<Option<i64>, Error> {
        Ok(self.fixed()?.map(i64::from_be_bytes))
    }

    pub(crate) fn double(&mut self) -> Result<Option<f64>, Error> {
        Ok(self.fixed()?.map(f64::from_be_bytes))
    }

    fn real(&mut self) -> Result<Option<f32>, Error> {
        Ok(self.fixed()?.map(f32::from_be_bytes))
    }

    /// The device of a row.
    pub(crate) fn device(&mut self) -> Result<u32, Error> {
        let device = self.integer()?.and_then(|device| u32::try_from(device).ok());
        device.ok_or_else(|| Error::new(Cause::Protocol, "a stored device is out of range"))
    }

    /// The time of a row: nanoseconds, or seconds and nanoseconds.
    pub(crate) fn time(&mut self, columns: usize) -> Result<i64, Error> {
        let first = self.bigint()?;
        let time = if columns == 1 { first } else { first.zip(self.integer()?).and_then(|(s, ns)| join(s, ns)) };
        time.ok_or_else(|| Error::new(Cause::Protocol, "a stored time is out of range"))
    }

    /// A value of this type.
    pub(crate) fn value(&mut self, value_type: ValueType) -> Result<Option<Value<'r>>, Error> {
        let wrong = |what: &str| Error::new(Cause::Protocol, format!("a {value_type:?} cell holds {what}"));
        Ok(match value_type {
            ValueType::F32 => self.real()?.map(Value::F32),
            ValueType::F64 => self.double()?.map(Value::F64),
            ValueType::I64 => self.bigint()?.map(Value::I64),
            ValueType::U16 => match self.integer()? {
                Some(v) => Some(Value::U16(u16::try_from(v).map_err(|_| wrong("another number"))?)),
                None => None,
            },
            ValueType::Text => match self.cell()? {
                Some(text) => Some(Value::Text(std::str::from_utf8(text).map_err(|_| wrong("no UTF-8"))?)),
                None => None,
            },
        })
    }
}

/// Rows that are a datapoint each: device, time, values.
pub(crate) struct RowPoints {
    time_columns: usize,
    bytes: u64,
}

impl RowPoints {
    pub(crate) fn new(shape: &Shape) -> Self {
        Self { time_columns: shape.time().len(), bytes: 0 }
    }
}

impl Points for RowPoints {
    fn take(&mut self, row: &PgRow, answer: &mut Answer<'_>) -> Result<(), Error> {
        let mut cells = Cells::new(row);
        let (device, time) = (cells.device()?, cells.time(self.time_columns)?);
        answer.row(device, time, |columns| {
            columns.iter_mut().try_for_each(|column| column.push(cells.value(column.value_type())?))
        })?;
        self.bytes += cells.bytes;
        Ok(())
    }

    fn finish(&mut self, _answer: &mut Answer<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Rows that are a value each: device, time, number, value.
pub(crate) struct NarrowPoints {
    values: ByValue,
    bytes: u64,
}

impl NarrowPoints {
    pub(crate) fn new(shape: &Shape, signals: &[SignalId], limit: u64) -> Self {
        Self { values: ByValue::new(&shape.table().spec.schema, signals, limit), bytes: 0 }
    }
}

impl Points for NarrowPoints {
    fn take(&mut self, row: &PgRow, answer: &mut Answer<'_>) -> Result<(), Error> {
        let mut cells = Cells::new(row);
        let at = (cells.device()?, cells.time(2)?);
        let number = cells.integer()?.and_then(|number| SignalId::try_from(number).ok());
        self.values.take(at, number, |value_type| cells.value(value_type), answer)?;
        self.bytes += cells.bytes;
        Ok(())
    }

    fn finish(&mut self, answer: &mut Answer<'_>) -> Result<(), Error> {
        self.values.finish(answer)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
