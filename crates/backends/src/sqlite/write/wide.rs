//! Writes layout wide: one row a datapoint, a column for each signal.

use super::{
    Insert,
    bind::{bind, bytes_of},
    execute,
};
use crate::sqlite::layout::quoted;
use iotbench_core::{Batch, Signal, TableSpec};
use rusqlite::Connection;

/// Inserts one row a datapoint.
pub(crate) struct WideInsert {
    sql: String,
    /// The same without the signals that are added.
    sql_before: String,
    has_device: bool,
}

impl WideInsert {
    pub(crate) fn new(table: &TableSpec) -> Self {
        let [sql, sql_before] = [table.schema.signals(), table.schema.first_signals()].map(|of| insert_sql(table, of));
        Self { sql, sql_before, has_device: table.has_device_column() }
    }
}

fn insert_sql(table: &TableSpec, signals: &[Signal]) -> String {
    let names: Vec<_> = signals.iter().map(|s| quoted(&s.name)).collect();
    let places = ", ?".repeat(names.len());
    let (device, device_place) = if table.has_device_column() { ("device, ", "?, ") } else { ("", "") };
    format!("INSERT INTO {} ({device}ts, {}) VALUES ({device_place}?{places})", table.name, names.join(", "))
}

impl Insert for WideInsert {
    fn is_one_statement(&self, batch: &Batch) -> bool {
        batch.len() == 1
    }

    fn insert(&mut self, connection: &Connection, batch: &Batch) -> rusqlite::Result<u64> {
        let sql = if batch.lacking() > 0 { &self.sql_before } else { &self.sql };
        let mut statement = connection.prepare_cached(sql)?;
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
