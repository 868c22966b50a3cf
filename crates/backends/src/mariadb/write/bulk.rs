//! Writes layout bulk: one row for all datapoints of one device in one second and one send, as Table II of the Hof
//! study.

use super::{
    document::JsonTexts,
    records::{Places, Records, with_device},
};
use iotbench_backend_kit::{json::push_second, second::split};
use iotbench_core::{Batch, TableSpec};
use sqlx::error::BoxDynError;

/// One text a device and second.
pub(crate) struct BulkRecords {
    has_device: bool,
    /// Device, second, row of the batch and nanosecond, sorted: the rows of one record stand together.
    order: Vec<(u32, i64, usize, u32)>,
    /// Device, second and the end of its rows in `order`.
    records: Vec<(u32, i64, usize)>,
    texts: JsonTexts,
}

impl BulkRecords {
    pub(crate) fn new(table: &TableSpec) -> Self {
        let has_device = table.has_device_column();
        Self { has_device, order: Vec::new(), records: Vec::new(), texts: JsonTexts::default() }
    }

    fn sort(&mut self, batch: &Batch) {
        self.order.clear();
        for run_rows in batch.run_rows() {
            for row in run_rows.rows {
                let (second, nanosecond) = split(batch.timestamps_ns()[row]);
                self.order.push((run_rows.run.device, second, row, nanosecond.cast_unsigned()));
            }
        }
        // Sorted already unless a sensor sends late data.
        self.order.sort_unstable();
    }
}

impl Records for BulkRecords {
    fn columns(&self) -> Vec<String> {
        with_device(self.has_device, &["second", "size", "measurements"])
    }

    fn take(&mut self, batch: &Batch) -> usize {
        self.sort(batch);
        self.records.clear();
        self.texts.clear();
        let mut end = 0;
        for record in self.order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (device, second, ..) = record[0];
            end += record.len();
            self.records.push((device, second, end));
            let rows = record.iter().map(|&(_, _, row, ns)| (ns, row));
            self.texts.push(|text| push_second(text, batch.columns(), rows));
        }
        self.records.len()
    }

    fn bytes(&self, _batch: &Batch, record: usize) -> usize {
        16 + self.texts.bytes(record)
    }

    fn bind(&self, _batch: &Batch, record: usize, places: &mut Places) -> Result<(), BoxDynError> {
        let (device, second, _) = self.records[record];
        if self.has_device {
            places.push(device)?;
        }
        places.push(second)?;
        places.push(u32::try_from(self.texts.len_of(record))?)?;
        places.push(self.texts.get(record)?)
    }

    fn rows_of_first(&self, records: usize) -> Vec<u32> {
        let end = records.checked_sub(1).map_or(0, |last| self.records[last].2);
        let mut rows: Vec<u32> =
            self.order[..end].iter().map(|&(_, _, row, _)| u32::try_from(row).unwrap_or(u32::MAX)).collect();
        rows.sort_unstable();
        rows
    }
}
