//! What a broker delivers as bytes, for the fuzz targets alone: read as a subscriber reads it, and written again. No part of the
//! interface.

use crate::{Payload, payload::Codec};
use iotbench_core::{Batch, Label, Schema};

/// Reads and writes messages of one schema.
#[derive(Debug)]
pub struct Messages {
    codec: Codec,
    schema: Schema,
}

impl Messages {
    /// Messages of this schema, as `--via` says.
    #[must_use]
    pub fn new(payload: Payload, schema: Schema) -> Self {
        Self { codec: Codec::new(payload, &schema), schema }
    }

    /// What a message says; `None`: it is none of ours.
    pub fn read(&mut self, message: &[u8]) -> Option<(Label, Batch)> {
        let mut batch = Batch::new(&self.schema);
        let label = self.codec.decode(message, &mut batch).ok()?;
        Some((label, batch))
    }

    /// A message that says this.
    pub fn write(&mut self, label: &Label, batch: &Batch) -> Vec<u8> {
        self.codec.encode(label, batch)
    }
}
