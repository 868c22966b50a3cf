//! Layout bulk: a document for all datapoints of one device in one second and one send, as Listing 3 of the Hof study.

use super::{device::Device, document::encode_time, documents::Documents};
use crate::mongodb::{config::Precision, encode::Encoder, layout::Table};
use iotbench_backend_kit::second::split;
use iotbench_core::{Applied, Batch};
use std::ops::Range;

/// `{ device, tags: { … }, time, measurements: [{ time, ns, sensors: […] }, …] }`, the first time a whole second.
pub(crate) struct BulkDocuments {
    device: Device,
    precision: Precision,
    /// Device, second, nanosecond and row of the batch, sorted: the rows of one document stand together.
    order: Vec<(u32, i64, i32, usize)>,
    /// The places in `order` of each document.
    documents: Vec<Range<usize>>,
}

impl BulkDocuments {
    pub(crate) fn new(table: &Table) -> Self {
        let device = Device::new(table);
        Self { device, precision: table.precision, order: Vec::new(), documents: Vec::new() }
    }
}

impl Documents for BulkDocuments {
    fn take(&mut self, batch: &Batch) -> usize {
        self.order.clear();
        for run_rows in batch.run_rows() {
            for row in run_rows.rows {
                let (second, nanosecond) = split(batch.timestamps_ns()[row]);
                self.order.push((run_rows.run.device, second, nanosecond, row));
            }
        }
        // Sorted already unless a sensor sends late data. Of equal times the row is the order of storing.
        self.order.sort_unstable();
        self.documents.clear();
        let mut start = 0;
        for document in self.order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            self.documents.push(start..start + document.len());
            start += document.len();
        }
        self.documents.len()
    }

    fn encode(&self, batch: &Batch, document: usize, to: &mut Encoder) {
        let points = &self.order[self.documents[document].clone()];
        let (device, second, ..) = points[0];
        self.device.encode(device, to);
        to.date("time", second.saturating_mul(1000));
        let array = to.begin_array("measurements");
        for (place, &(.., row)) in points.iter().enumerate() {
            let point = to.begin_item(place);
            encode_time(batch.timestamps_ns()[row], self.precision, to);
            let sensors = to.begin_array("sensors");
            for (signal, column) in batch.columns().iter().enumerate() {
                if let Some(value) = column.get(row) {
                    to.item(signal, value);
                }
            }
            to.end(sensors);
            to.end(point);
        }
        to.end(array);
    }

    fn rows(&self, stored: &[bool]) -> Applied {
        let of_stored = self.documents.iter().zip(stored).filter(|(_, is_stored)| **is_stored);
        let rows = of_stored.flat_map(|(places, _)| &self.order[places.clone()]);
        let mut rows: Vec<u32> = rows.map(|&(.., row)| u32::try_from(row).unwrap_or(u32::MAX)).collect();
        rows.sort_unstable();
        Applied::Rows(rows)
    }
}
