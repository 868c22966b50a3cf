//! `InfluxDB`'s line protocol.

use crate::Dataset;
use iotbench_core::{Batch, Column};
use std::sync::Arc;

/// Writes batches in `InfluxDB`'s line protocol: one line a datapoint, fields of their own type (`i` after integers,
/// text quoted), timestamps in nanoseconds, a tag `device` when there is more than one.
#[derive(Debug)]
pub struct InfluxEncoder {
    dataset: Arc<dyn Dataset>,
    names_device: bool,
    measurement: String,
    /// ` abscissa=`, `,channel_1=`, …
    fields: Vec<String>,
    /// Measurement and tags of the device at hand.
    head: String,
    device: String,
}

impl InfluxEncoder {
    /// An encoder for batches of a dataset with so many devices.
    #[must_use]
    pub fn new(measurement: &str, dataset: Arc<dyn Dataset>, devices: u32) -> Self {
        let mut escaped = String::new();
        escape(measurement, &[',', ' '], &mut escaped);
        let separators = [' '].into_iter().chain(std::iter::repeat(','));
        let fields =
            separators.zip(dataset.schema().signals()).map(|(before, s)| format!("{before}{}=", s.name)).collect();
        let (head, device) = (String::new(), String::new());
        Self { dataset, names_device: devices > 1, measurement: escaped, fields, head, device }
    }

    /// Appends all datapoints of a batch.
    pub fn encode(&mut self, batch: &Batch, out: &mut Vec<u8>) {
        for part in batch.run_rows() {
            self.set_head(part.run.device);
            for row in part.rows {
                out.extend_from_slice(self.head.as_bytes());
                for (field, column) in self.fields.iter().zip(batch.columns()) {
                    out.extend_from_slice(field.as_bytes());
                    push_value(column, row, out);
                }
                out.push(b' ');
                let timestamp_ns = batch.timestamps_ns().get(row).copied().unwrap_or_default();
                out.extend_from_slice(itoa::Buffer::new().format(timestamp_ns).as_bytes());
                out.push(b'\n');
            }
        }
    }

    fn set_head(&mut self, device: u32) {
        self.head.clear();
        self.head.push_str(&self.measurement);
        if self.names_device {
            self.device.clear();
            self.dataset.device_name(device, &mut self.device);
            self.head.push_str(",device=");
            escape(&self.device, &[',', ' ', '='], &mut self.head);
        }
    }
}

#[inline]
fn push_value(column: &Column, row: usize, out: &mut Vec<u8>) {
    match column {
        Column::F32(values) => out.extend_from_slice(zmij::Buffer::new().format_finite(values[row]).as_bytes()),
        Column::F64(values) => out.extend_from_slice(zmij::Buffer::new().format_finite(values[row]).as_bytes()),
        Column::I64(values) => push_integer(values[row], out),
        Column::U16(values) => push_integer(values[row], out),
        Column::Text(texts) => push_quoted(texts.get(row).unwrap_or_default(), out),
    }
}

fn push_integer(value: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    out.push(b'i');
}

/// A string field: quotes and backslashes are escaped, all else (line ends too) stands as it is.
fn push_quoted(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for piece in text.split_inclusive(['"', '\\']) {
        match piece.as_bytes().split_last() {
            Some((&last @ (b'"' | b'\\'), rest)) => {
                out.extend_from_slice(rest);
                out.extend_from_slice(&[b'\\', last]);
            }
            _ => out.extend_from_slice(piece.as_bytes()),
        }
    }
    out.push(b'"');
}

/// A measurement or tag value: a backslash before each special character; line ends, which the protocol cannot carry
/// there, become spaces.
fn escape(text: &str, special: &[char], out: &mut String) {
    for c in text.chars() {
        let c = if c.is_control() { ' ' } else { c };
        if special.contains(&c) {
            out.push('\\');
        }
        out.push(c);
    }
}
