//! Writes layout document: one row a datapoint, its values as a JSON object.

use super::records::{Places, Records, devices_of, with_device};
use iotbench_backend_kit::json::ObjectWriter;
use iotbench_core::{Batch, TableSpec};
use sqlx::error::BoxDynError;
use std::str::Utf8Error;

/// One object a datapoint.
pub(crate) struct DocumentRecords {
    has_device: bool,
    object: ObjectWriter,
    devices: Vec<u32>,
    texts: JsonTexts,
}

impl DocumentRecords {
    pub(crate) fn new(table: &TableSpec) -> Self {
        Self {
            has_device: table.has_device_column(),
            object: ObjectWriter::new(&table.schema),
            devices: Vec::new(),
            texts: JsonTexts::default(),
        }
    }
}

impl Records for DocumentRecords {
    fn columns(&self) -> Vec<String> {
        with_device(self.has_device, &["ts", "doc"])
    }

    fn take(&mut self, batch: &Batch) -> usize {
        if self.has_device {
            devices_of(batch, &mut self.devices);
        }
        self.texts.clear();
        for row in 0..batch.len() {
            self.texts.push(|text| self.object.push(text, batch.columns(), row));
        }
        batch.len()
    }

    fn bytes(&self, _batch: &Batch, record: usize) -> usize {
        12 + self.texts.bytes(record)
    }

    fn bind(&self, batch: &Batch, record: usize, places: &mut Places) -> Result<(), BoxDynError> {
        if self.has_device {
            places.push(self.devices[record])?;
        }
        places.push(batch.timestamps_ns()[record])?;
        places.push(self.texts.get(record)?)
    }
}

/// JSON texts end to end in one buffer, which is kept from batch to batch.
#[derive(Default)]
pub(crate) struct JsonTexts {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl JsonTexts {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.text);
        self.ends.push(self.text.len());
    }

    fn range(&self, place: usize) -> std::ops::Range<usize> {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        start..self.ends[place]
    }

    /// The length of a text.
    pub(crate) fn len_of(&self, place: usize) -> usize {
        self.range(place).len()
    }

    /// The bytes of a text as it is bound, with its length before it.
    pub(crate) fn bytes(&self, place: usize) -> usize {
        self.len_of(place) + 9
    }

    /// A text. The server takes JSON in the character set of the connection only, so it is bound as text.
    pub(crate) fn get(&self, place: usize) -> Result<&str, Utf8Error> {
        std::str::from_utf8(&self.text[self.range(place)])
    }
}
