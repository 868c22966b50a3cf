//! An object a line.

use super::{encoder::Encoder, text};
use iotbench_core::{Batch, Value};
use iotbench_simulator::Dataset;
use std::sync::Arc;

/// `{"time_ns":…,"device":"…","signal":value,…}`; the device stands there when there are several.
pub(super) struct Json {
    dataset: Arc<dyn Dataset>,
    names_device: bool,
    /// `,"abscissa":` of every signal.
    keys: Vec<String>,
    /// `,"device":"…"` of the device at hand.
    device: Vec<u8>,
}

impl Json {
    pub(super) fn new(dataset: Arc<dyn Dataset>, devices: u32) -> Self {
        let keys = dataset.schema().signals().iter().map(|s| format!(",\"{}\":", s.name)).collect();
        Self { dataset, names_device: devices > 1, keys, device: Vec::new() }
    }

    fn set_device(&mut self, device: u32) {
        self.device.clear();
        if self.names_device {
            let mut name = String::new();
            self.dataset.device_name(device, &mut name);
            self.device.extend_from_slice(b",\"device\":");
            push_text(&name, &mut self.device);
        }
    }
}

impl Encoder for Json {
    fn head(&mut self, _out: &mut Vec<u8>) {}

    fn encode(&mut self, batch: &Batch, out: &mut Vec<u8>) {
        for part in batch.run_rows() {
            self.set_device(part.run.device);
            for row in part.rows {
                out.extend_from_slice(b"{\"time_ns\":");
                text::push_integer(batch.timestamps_ns().get(row).copied().unwrap_or_default(), out);
                out.extend_from_slice(&self.device);
                for (key, column) in self.keys.iter().zip(batch.columns()) {
                    out.extend_from_slice(key.as_bytes());
                    match column.get(row) {
                        Some(Value::Text(text)) => push_text(text, out),
                        Some(value) => drop(text::push_number(value, out)),
                        None => out.extend_from_slice(b"null"),
                    }
                }
                out.extend_from_slice(b"}\n");
            }
        }
    }
}

fn push_text(text: &str, out: &mut Vec<u8>) {
    // Writing a text into memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}
