//! What lies between consecutive values, by SQLite's window functions: one device after the other.

use super::{SqliteReader, record::query_each};
use iotbench_backend_kit::{answer::Answer, ask::Ask};
use iotbench_core::{ComputedBy, Consecutive, Error, Reply, Sink, Value, ValueType};

impl SqliteReader {
    pub(super) fn between(&self, ask: &Ask<'_>, what: Consecutive, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let value_type = what.value_type();
        let mut answer = Answer::new(sink, [value_type]);
        let (sql, mut bytes) = (self.shape.between(ask, what)?, 0);
        self.for_devices(ask.devices, |device| {
            let mut handed_over = Ok(());
            query_each(self.of_device(device, ask), &sql, |row| {
                let value = match value_type {
                    ValueType::I64 => row.get::<_, Option<i64>>(1)?.map(Value::I64),
                    _ => row.get::<_, Option<f64>>(1)?.map(Value::F64),
                };
                let time = row.get(0)?;
                if handed_over.is_ok() {
                    handed_over = answer.row(device, time, |columns| columns[0].push(value));
                }
                bytes += 16;
                Ok(())
            })?;
            handed_over
        })?;
        answer.finish(bytes, ComputedBy::Server)
    }
}
