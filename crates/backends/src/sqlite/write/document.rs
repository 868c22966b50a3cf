//! Writes layout document: one row a datapoint, its values as a JSON object.

use super::{Insert, bind::JsonText, execute};
use iotbench_backend_kit::json::ObjectWriter;
use iotbench_core::{Batch, TableSpec};
use rusqlite::Connection;

/// Inserts one object a datapoint.
pub(crate) struct DocumentInsert {
    sql: String,
    has_device: bool,
    object: ObjectWriter,
    text: Vec<u8>,
}

impl DocumentInsert {
    pub(crate) fn new(table: &TableSpec) -> Self {
        let (device, place) = if table.has_device_column() { (", device", ", ?") } else { ("", "") };
        let sql = format!("INSERT INTO {} (ts, doc{device}) VALUES (?, ?{place})", table.name);
        Self { sql, has_device: table.has_device_column(), object: ObjectWriter::new(&table.schema), text: Vec::new() }
    }
}

impl Insert for DocumentInsert {
    fn is_one_statement(&self, batch: &Batch) -> bool {
        batch.len() == 1
    }

    fn insert(&mut self, connection: &Connection, batch: &Batch) -> rusqlite::Result<u64> {
        let mut statement = connection.prepare_cached(&self.sql)?;
        let mut bytes = 8 * batch.len();
        for run_rows in batch.run_rows() {
            if self.has_device {
                statement.raw_bind_parameter(3, run_rows.run.device)?;
            }
            for row in run_rows.rows {
                self.text.clear();
                self.object.push(&mut self.text, batch.columns(), row);
                bytes += self.text.len();
                statement.raw_bind_parameter(1, batch.timestamps_ns()[row])?;
                statement.raw_bind_parameter(2, JsonText(&self.text))?;
                execute(&mut statement, connection)?;
            }
        }
        Ok(bytes as u64)
    }
}
