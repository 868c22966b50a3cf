//! Writes layout wide: one row a datapoint, a column for each signal.

use super::{
    bind::{bind, bytes_of},
    sql::quoted,
    writer::Insert,
};
use iotbench_core::{Batch, TableSpec};
use rusqlite::Connection;

/// Inserts one row a datapoint.
pub(crate) struct WideInsert {
    sql: String,
    has_device: bool,
}

impl WideInsert {
    pub(crate) fn new(table: &TableSpec) -> Self {
        let mut columns: Vec<String> = Vec::with_capacity(table.schema.width() + 2);
        columns.extend(table.has_device_column().then(|| "device".into()));
        columns.push("ts".into());
        columns.extend(table.schema.signals().iter().map(|s| quoted(&s.name)));
        let places = vec!["?"; columns.len()].join(", ");
        let sql = format!("INSERT INTO {} ({}) VALUES ({places})", table.name, columns.join(", "));
        Self { sql, has_device: table.has_device_column() }
    }
}

impl Insert for WideInsert {
    fn is_one_statement(&self, batch: &Batch) -> bool {
        batch.len() == 1
    }

    fn insert(&mut self, connection: &Connection, batch: &Batch) -> rusqlite::Result<u64> {
        let mut statement = connection.prepare_cached(&self.sql)?;
        let first_signal = if self.has_device { 3 } else { 2 };
        for run_rows in batch.run_rows() {
            if self.has_device {
                statement.raw_bind_parameter(1, run_rows.run.device)?;
            }
            for row in run_rows.rows {
                statement.raw_bind_parameter(first_signal - 1, batch.timestamps_ns()[row])?;
                for (place, column) in (first_signal..).zip(batch.columns()) {
                    bind(&mut statement, place, column, row)?;
                }
                statement.raw_execute()?;
            }
        }
        Ok(bytes_of(batch))
    }
}
