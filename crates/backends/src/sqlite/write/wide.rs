//! Writes layout wide: one row a datapoint, a column for each signal.

use super::{
    Insert,
    bind::{bind, bytes_of},
    execute,
};
use crate::sqlite::layout::quoted;
use iotbench_core::{Batch, TableSpec};
use rusqlite::Connection;

/// Inserts one row a datapoint.
pub(crate) struct WideInsert {
    sql: String,
    has_device: bool,
}

impl WideInsert {
    pub(crate) fn new(table: &TableSpec) -> Self {
        let signals: Vec<_> = table.schema.signals().iter().map(|s| quoted(&s.name)).collect();
        let places = ", ?".repeat(signals.len());
        let (device, device_place) = if table.has_device_column() { ("device, ", "?, ") } else { ("", "") };
        let sql =
            format!("INSERT INTO {} ({device}ts, {}) VALUES ({device_place}?{places})", table.name, signals.join(", "));
        Self { sql, has_device: table.has_device_column() }
    }
}

impl Insert for WideInsert {
    fn is_one_statement(&self, batch: &Batch) -> bool {
        batch.len() == 1
    }

    fn insert(&mut self, connection: &Connection, batch: &Batch) -> rusqlite::Result<u64> {
        let mut statement = connection.prepare_cached(&self.sql)?;
        let time = if self.has_device { 2 } else { 1 };
        for run_rows in batch.run_rows() {
            if self.has_device {
                statement.raw_bind_parameter(1, run_rows.run.device)?;
            }
            for row in run_rows.rows {
                statement.raw_bind_parameter(time, batch.timestamps_ns()[row])?;
                for (place, column) in (time + 1..).zip(batch.columns()) {
                    bind(&mut statement, place, column, row)?;
                }
                execute(&mut statement, connection)?;
            }
        }
        Ok(bytes_of(batch))
    }
}
