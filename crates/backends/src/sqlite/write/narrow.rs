//! Writes layout narrow: one row a value, as Table I of the Hof study.

use super::{
    Insert,
    bind::{bind, bytes_of},
    execute,
};
use iotbench_backend_kit::second::split;
use iotbench_core::{Batch, TableSpec};
use rusqlite::Connection;

/// Inserts one row a value; the values of a datapoint follow one another in the order of their numbers.
pub(crate) struct NarrowInsert {
    sql: String,
    has_device: bool,
}

impl NarrowInsert {
    pub(crate) fn new(table: &TableSpec) -> Self {
        let (device, place) = if table.has_device_column() { (", device", ", ?") } else { ("", "") };
        let sql = format!(
            "INSERT INTO {} (second, nanosecond, number, measurement{device}) VALUES (?, ?, ?, ?{place})",
            table.name
        );
        Self { sql, has_device: table.has_device_column() }
    }
}

impl Insert for NarrowInsert {
    fn is_one_statement(&self, batch: &Batch) -> bool {
        batch.len() == 1 && batch.columns().len() == 1
    }

    fn insert(&mut self, connection: &Connection, batch: &Batch) -> rusqlite::Result<u64> {
        let mut statement = connection.prepare_cached(&self.sql)?;
        for run_rows in batch.run_rows() {
            if self.has_device {
                statement.raw_bind_parameter(5, run_rows.run.device)?;
            }
            for row in run_rows.rows {
                let (second, nanosecond) = split(batch.timestamps_ns()[row]);
                statement.raw_bind_parameter(1, second)?;
                statement.raw_bind_parameter(2, nanosecond)?;
                for (number, column) in (0_i64..).zip(batch.columns()) {
                    statement.raw_bind_parameter(3, number)?;
                    bind(&mut statement, 4, column, row)?;
                    execute(&mut statement, connection)?;
                }
            }
        }
        Ok(bytes_of(batch))
    }
}
