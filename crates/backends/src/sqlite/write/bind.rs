//! Binds values of a batch to the parameters of a statement.

use iotbench_core::{Batch, Column};
use rusqlite::{
    Statement, ToSql,
    types::{ToSqlOutput, ValueRef},
};

/// Binds the value of a row to a parameter, numbers as SQLite's 64-bit ones, without copying on our side.
pub(crate) fn bind(statement: &mut Statement<'_>, place: usize, column: &Column, row: usize) -> rusqlite::Result<()> {
    match column {
        Column::F32(values) => statement.raw_bind_parameter(place, f64::from(values[row])),
        Column::F64(values) => statement.raw_bind_parameter(place, values[row]),
        Column::I64(values) => statement.raw_bind_parameter(place, values[row]),
        Column::U16(values) => statement.raw_bind_parameter(place, i64::from(values[row])),
        Column::Text(values) => statement.raw_bind_parameter(place, values.get(row)),
    }
}

/// The bytes of a batch's timestamps and values as they are bound: 8 a number, the texts as they are.
pub(crate) fn bytes_of(batch: &Batch) -> u64 {
    let columns = batch.columns().iter().map(|column| match column {
        Column::Text(values) => (0..values.len()).filter_map(|row| values.get(row)).map(str::len).sum(),
        other => 8 * other.len(),
    });
    (8 * batch.len() + columns.sum::<usize>()) as u64
}

/// JSON that we wrote, bound as text.
pub(crate) struct JsonText<'a>(pub(crate) &'a [u8]);

impl ToSql for JsonText<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0)))
    }
}
