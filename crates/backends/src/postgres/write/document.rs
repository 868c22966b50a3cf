//! Writes layout document: one row a datapoint, its values as a JSONB object.

use super::{
    Layout,
    records::{Records, put_devices},
};
use iotbench_backend_kit::json::ObjectWriter;
use iotbench_core::{Batch, Schema};

/// One object a datapoint.
pub(crate) struct DocumentRecords {
    has_device: bool,
    object: ObjectWriter,
    text: Vec<u8>,
}

impl DocumentRecords {
    pub(crate) fn new(schema: &Schema, has_device: bool) -> Self {
        Self { has_device, object: ObjectWriter::new(schema), text: Vec::new() }
    }
}

impl Layout for DocumentRecords {
    fn encode(&mut self, batch: &Batch, records: &mut Records) {
        records.count = batch.len();
        let (device, columns) = records.split_device(self.has_device);
        put_devices(device, batch, 1);
        let [times, documents] = columns else { return };
        for (row, &time_ns) in batch.timestamps_ns().iter().enumerate() {
            self.text.clear();
            self.object.push(&mut self.text, batch.columns(), row);
            times.put_bigint(time_ns);
            documents.put_jsonb(&self.text);
        }
    }
}
