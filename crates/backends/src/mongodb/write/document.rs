//! Layouts document and wide: a document a datapoint, a field for each signal. In layout wide the server unites them.

use super::{
    device::Device,
    documents::{Documents, places},
};
use crate::mongodb::{config::Precision, encode::Encoder, layout::Table, time::milliseconds};
use iotbench_core::{Applied, Batch};

/// `{ device, tags: { … }, time, ns, SIGNAL, … }`; without nanoseconds where the precision is milliseconds.
pub(crate) struct PointDocuments {
    device: Device,
    precision: Precision,
    names: Vec<String>,
    /// The device of each row.
    devices: Vec<u32>,
}

impl PointDocuments {
    pub(crate) fn new(table: &Table) -> Self {
        Self {
            device: Device::new(table),
            precision: table.precision,
            names: table.spec.schema.signals().iter().map(|signal| signal.name.clone()).collect(),
            devices: Vec::new(),
        }
    }
}

/// Notes the device of each row.
pub(crate) fn note_devices(devices: &mut Vec<u32>, batch: &Batch) {
    devices.clear();
    for run_rows in batch.run_rows() {
        devices.extend(run_rows.rows.map(|_| run_rows.run.device));
    }
}

/// Writes a date, and the nanoseconds beside it where they are kept.
pub(crate) fn encode_time(timestamp_ns: i64, precision: Precision, to: &mut Encoder) {
    let (date, nanoseconds) = milliseconds(timestamp_ns);
    to.date("time", date);
    if precision == Precision::Ns {
        to.int32("ns", nanoseconds);
    }
}

impl Documents for PointDocuments {
    fn take(&mut self, batch: &Batch) -> usize {
        note_devices(&mut self.devices, batch);
        batch.len()
    }

    fn encode(&self, batch: &Batch, document: usize, to: &mut Encoder) {
        self.device.encode(self.devices[document], to);
        encode_time(batch.timestamps_ns()[document], self.precision, to);
        for (name, column) in self.names.iter().zip(batch.columns()) {
            if let Some(value) = column.get(document) {
                to.value(name, value);
            }
        }
    }

    fn rows(&self, stored: &[bool]) -> Applied {
        Applied::Rows(places(stored))
    }
}
