//! Layout narrow: a document a value, as Table I of the Hof study has rows.

use super::{
    device::Device,
    document::note_devices,
    documents::{Documents, places},
};
use crate::mongodb::{encode::Encoder, layout::Table};
use iotbench_backend_kit::second::split;
use iotbench_core::{Applied, Batch};

/// `{ device, tags: { … }, second, nanosecond, number, measurement }`.
pub(crate) struct NarrowDocuments {
    device: Device,
    /// The signals of the batch that was taken.
    width: usize,
    devices: Vec<u32>,
}

impl NarrowDocuments {
    pub(crate) fn new(table: &Table) -> Self {
        Self { device: Device::new(table), width: table.spec.schema.width(), devices: Vec::new() }
    }
}

impl Documents for NarrowDocuments {
    fn take(&mut self, batch: &Batch) -> usize {
        note_devices(&mut self.devices, batch);
        self.width = batch.columns().len();
        batch.len() * self.width
    }

    fn encode(&self, batch: &Batch, document: usize, to: &mut Encoder) {
        let (row, signal) = (document / self.width, document % self.width);
        self.device.encode(self.devices[row], to);
        let (second, nanosecond) = split(batch.timestamps_ns()[row]);
        to.int64("second", second);
        to.int32("nanosecond", nanosecond);
        to.int32("number", i32::try_from(signal).unwrap_or(i32::MAX));
        if let Some(value) = batch.value(signal, row) {
            to.value("measurement", value);
        }
    }

    /// A datapoint of which some values are stored and others not is neither: then nobody can say.
    fn rows(&self, stored: &[bool]) -> Applied {
        let of_rows = || stored.chunks(self.width);
        if of_rows().any(|values| values.iter().any(|&is| is != values[0])) {
            return Applied::Maybe;
        }
        let whole: Vec<bool> = of_rows().map(|values| values[0]).collect();
        Applied::Rows(places(&whole))
    }
}
