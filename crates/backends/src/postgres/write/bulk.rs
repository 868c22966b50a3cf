//! Writes layout bulk: one row for all datapoints of one device in one second and one send, as Table II of the Hof
//! study.

use super::{
    Layout,
    records::{Records, device_number},
};
use iotbench_backend_kit::{json::push_second, second::split};
use iotbench_core::Batch;

/// One document a device and second.
pub(crate) struct BulkRecords {
    has_device: bool,
    /// Device, second, row of the batch and nanosecond, sorted: the rows of one record stand together.
    order: Vec<(u32, i64, usize, i32)>,
    text: Vec<u8>,
}

impl BulkRecords {
    pub(crate) fn new(has_device: bool) -> Self {
        Self { has_device, order: Vec::new(), text: Vec::new() }
    }

    fn sort(&mut self, batch: &Batch) {
        self.order.clear();
        for run_rows in batch.run_rows() {
            for row in run_rows.rows {
                let (second, nanosecond) = split(batch.timestamps_ns()[row]);
                self.order.push((run_rows.run.device, second, row, nanosecond));
            }
        }
        // Sorted already unless a sensor sends late data.
        self.order.sort_unstable();
    }
}

impl Layout for BulkRecords {
    fn encode(&mut self, batch: &Batch, records: &mut Records) {
        self.sort(batch);
        for record in self.order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (device, second, ..) = record[0];
            self.text.clear();
            let rows = record.iter().map(|&(_, _, row, nanosecond)| (nanosecond.cast_unsigned(), row));
            push_second(&mut self.text, batch.columns(), rows);
            records.count += 1;
            let (devices, columns) = records.split_device(self.has_device);
            if let Some(devices) = devices {
                devices.put_integer(device_number(device));
            }
            let [seconds, sizes, measurements] = columns else { return };
            seconds.put_bigint(second);
            sizes.put_integer(i32::try_from(self.text.len()).unwrap_or(i32::MAX));
            measurements.put_jsonb(&self.text);
        }
    }
}
