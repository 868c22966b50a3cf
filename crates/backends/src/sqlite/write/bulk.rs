//! Writes layout bulk: one row for all datapoints of one device in one second and one send, as Table II of the Hof
//! study.

use super::{Insert, bind::JsonText, execute};
use iotbench_backend_kit::{json::push_second, second::split};
use iotbench_core::{Batch, TableSpec};
use rusqlite::Connection;

/// Inserts one text a device and second.
pub(crate) struct BulkInsert {
    sql: String,
    has_device: bool,
    /// Device, second, row of the batch and nanosecond, sorted: the rows of one record stand together.
    order: Vec<(u32, i64, usize, u32)>,
    text: Vec<u8>,
}

impl BulkInsert {
    pub(crate) fn new(table: &TableSpec) -> Self {
        let (device, place) = if table.has_device_column() { (", device", ", ?") } else { ("", "") };
        let sql = format!("INSERT INTO {} (second, size, measurements{device}) VALUES (?, ?, ?{place})", table.name);
        Self { sql, has_device: table.has_device_column(), order: Vec::new(), text: Vec::new() }
    }

    fn sort(&mut self, batch: &Batch) {
        self.order.clear();
        for run_rows in batch.run_rows() {
            for row in run_rows.rows {
                let (second, nanosecond) = split(batch.timestamps_ns()[row]);
                #[expect(clippy::cast_sign_loss, reason = "never negative")]
                self.order.push((run_rows.run.device, second, row, nanosecond as u32));
            }
        }
        // Sorted already unless a sensor sends late data.
        self.order.sort_unstable();
    }
}

impl Insert for BulkInsert {
    fn is_one_statement(&self, batch: &Batch) -> bool {
        batch.len() == 1
    }

    fn insert(&mut self, connection: &Connection, batch: &Batch) -> rusqlite::Result<u64> {
        self.sort(batch);
        let mut statement = connection.prepare_cached(&self.sql)?;
        let mut bytes = 0;
        for record in self.order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (device, second, ..) = record[0];
            self.text.clear();
            push_second(&mut self.text, batch.columns(), record.iter().map(|&(_, _, row, ns)| (ns, row)));
            bytes += 8 + self.text.len();
            statement.raw_bind_parameter(1, second)?;
            statement.raw_bind_parameter(2, self.text.len())?;
            statement.raw_bind_parameter(3, JsonText(&self.text))?;
            if self.has_device {
                statement.raw_bind_parameter(4, device)?;
            }
            execute(&mut statement, connection)?;
        }
        Ok(bytes as u64)
    }
}
