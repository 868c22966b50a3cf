//! Datapoints as they are read, and what a layout must know to read them.

use super::selection::{Selection, Statement};
use crate::mariadb::error::classify;
use iotbench_backend_kit::{
    ask::Ask,
    figures::{Collected, Group},
    span::Span,
    sql::Grouping,
};
use iotbench_core::{Cause, ComputedBy, Error, ReplyColumn, SignalId, Value, ValueType};
use sqlx::{Row, mysql::MySqlRow};

/// The values of one datapoint.
pub(crate) trait Values {
    /// Appends them, one to each column.
    fn values(&mut self, columns: &mut [ReplyColumn]) -> Result<(), Error>;
}

/// Puts the rows of a [`Selection`] together to datapoints.
pub(crate) trait Points: Values + Send {
    /// Takes the next row of the table, or their end.
    fn push(&mut self, row: Option<MySqlRow>) -> Result<(), Error>;

    /// Goes to the next datapoint that is whole, and says its device and time; then another row is needed.
    fn next(&mut self) -> Option<(u32, i64)>;

    /// The times that may belong together with the last row taken: rows of these may still come.
    fn open_times(&self) -> Option<Span>;

    /// The bytes decoded so far.
    fn bytes(&self) -> u64;
}

/// How a layout is read.
pub(crate) trait Shape: Send + Sync {
    /// Who filters, orders by value and aggregates.
    fn computed_by(&self) -> ComputedBy;

    /// The query for the datapoints of a selection.
    fn select(&self, selection: &Selection<'_>) -> Result<Statement, Error>;

    /// Reads the rows of that query.
    fn points(&self, selection: &Selection<'_>) -> Box<dyn Points>;

    /// How many rows of the table surely hold so many datapoints, if so many there are; `None` where nobody knows.
    fn rows_of(&self, points: u64, signals: &[SignalId]) -> Option<u64>;

    /// The query for the figures of each signal that grouping gives: of a device, or of its buckets. Not asked where the
    /// client aggregates.
    fn grouped(&self, of: &Ask<'_>, grouping: &Grouping<'_>) -> Result<Statement, Error>;

    /// Takes a row of that query; gives the bytes of it.
    fn take_group(
        &self,
        row: &MySqlRow,
        of: &Ask<'_>,
        grouping: &Grouping<'_>,
        figures: &mut Collected,
    ) -> Result<u64, Error>;

    /// The query for the devices with the greatest figure of a signal, by this function: device and figure. Not asked where the
    /// client aggregates.
    fn top(&self, of: &Ask<'_>, function: &str) -> Result<Statement, Error>;

    /// The query for the greatest number of a signal over the first datapoints; `None` where the server cannot tell.
    fn greatest(&self, of: &Ask<'_>) -> Result<Option<Statement>, Error>;
}

/// A cell as what it is known to hold.
pub(crate) fn cell<'r, T>(row: &'r MySqlRow, place: usize) -> Result<T, Error>
where
    T: sqlx::Decode<'r, sqlx::MySql>,
{
    row.try_get_unchecked(place).map_err(|e| classify(&e))
}

/// A cell as a value of this type; its bytes are added.
pub(crate) fn decode<'r>(
    row: &'r MySqlRow,
    place: usize,
    value_type: ValueType,
    bytes: &mut u64,
) -> Result<Option<Value<'r>>, Error> {
    Ok(match value_type {
        ValueType::F32 => {
            *bytes += 4;
            cell::<Option<f32>>(row, place)?.map(Value::F32)
        }
        ValueType::F64 => {
            *bytes += 8;
            cell::<Option<f64>>(row, place)?.map(Value::F64)
        }
        ValueType::I64 => {
            *bytes += 8;
            cell::<Option<i64>>(row, place)?.map(Value::I64)
        }
        ValueType::U16 => {
            *bytes += 2;
            cell::<Option<u16>>(row, place)?.map(Value::U16)
        }
        ValueType::Text => {
            let text = cell::<Option<&str>>(row, place)?;
            *bytes += text.map_or(0, str::len) as u64;
            text.map(Value::Text)
        }
    })
}

/// A value as a number that is compared as [`Value::as_f64`] says: 64-bit integers and texts become floats.
pub(crate) fn number_sql(value: &str, value_type: ValueType) -> String {
    match value_type {
        ValueType::F32 | ValueType::F64 | ValueType::U16 => value.into(),
        ValueType::I64 | ValueType::Text => format!("({value} + 0e0)"),
    }
}

/// A value as what its values are ordered by.
pub(crate) fn rank_sql(value: &str, value_type: ValueType) -> String {
    if value_type == ValueType::Text { number_sql(value, value_type) } else { value.into() }
}

/// Figures of a number as 64-bit floats, each with a comma before it: the server would answer with decimals.
pub(crate) fn figures_sql(number: &str, grouping: &Grouping<'_>) -> String {
    grouping.columns(&format!("{number} + 0e0"))
}

/// The columns of [`Shape::top`], of a number.
pub(crate) fn top_sql(has_device: bool, function: &str, number: &str) -> String {
    let device = if has_device { "`device`" } else { "0" };
    format!("{device}, {function}({number} + 0e0) + 0e0")
}

/// Notes the figures of one signal, which stand in a row from a cell on; gives their bytes.
pub(crate) fn take_figures(
    row: &MySqlRow,
    first: usize,
    (group, signal, signals): (Group, usize, usize),
    grouping: &Grouping<'_>,
    figures: &mut Collected,
) -> Result<u64, Error> {
    let width = grouping.aggregates().len() * signals;
    let mut bytes = 0;
    for (place, (aggregate, _)) in (first..).zip(grouping.functions()) {
        figures.set(group, aggregate * signals + signal, width, cell(row, place)?);
        bytes += 8;
    }
    Ok(bytes)
}

/// A time that the table's columns cannot mean.
pub(crate) fn out_of_range() -> Error {
    Error::new(Cause::Protocol, "a stored second is out of range")
}
