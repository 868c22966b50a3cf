//! Comma-separated values.

use super::{encoder::Encoder, text};
use iotbench_core::{Batch, Value};
use iotbench_simulator::Dataset;
use jiff::Timestamp;
use std::{io::Write, sync::Arc};

/// A line a datapoint: time, device (when there are several), signals.
pub(super) struct Csv {
    dataset: Arc<dyn Dataset>,
    names_device: bool,
    device: String,
}

impl Csv {
    pub(super) fn new(dataset: Arc<dyn Dataset>, devices: u32) -> Self {
        Self { dataset, names_device: devices > 1, device: String::new() }
    }

    fn set_device(&mut self, device: u32) {
        self.device.clear();
        if self.names_device {
            self.dataset.device_name(device, &mut self.device);
        }
    }
}

impl Encoder for Csv {
    fn head(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.names_device { b"time,device" } else { b"time" });
        for signal in self.dataset.schema().signals() {
            out.push(b',');
            out.extend_from_slice(signal.name.as_bytes());
        }
        out.push(b'\n');
    }

    fn encode(&mut self, batch: &Batch, out: &mut Vec<u8>) {
        for part in batch.run_rows() {
            self.set_device(part.run.device);
            for row in part.rows {
                push_time(batch.timestamps_ns().get(row).copied().unwrap_or_default(), out);
                if self.names_device {
                    out.push(b',');
                    push_text(&self.device, out);
                }
                for column in batch.columns() {
                    out.push(b',');
                    match column.get(row) {
                        Some(Value::Text(text)) => push_text(text, out),
                        Some(value) => drop(text::push_number(value, out)),
                        None => {}
                    }
                }
                out.push(b'\n');
            }
        }
    }
}

/// RFC 3339 in UTC with nine decimals.
fn push_time(ns: i64, out: &mut Vec<u8>) {
    let time = Timestamp::from_nanosecond(i128::from(ns)).unwrap_or(Timestamp::UNIX_EPOCH);
    // Writing into memory cannot fail.
    let _ = write!(out, "{time:.9}");
}

/// RFC 4180: quoted where it must be, quotes doubled.
fn push_text(text: &str, out: &mut Vec<u8>) {
    if !text.contains([',', '"', '\n', '\r']) {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.push(b'"');
    for piece in text.split_inclusive('"') {
        out.extend_from_slice(piece.as_bytes());
        if piece.ends_with('"') {
            out.push(b'"');
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_they_must_be() {
        for (text, csv) in [("a b", "a b"), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("", "")] {
            let mut out = Vec::new();
            push_text(text, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), csv);
        }
    }

    #[test]
    fn every_nanosecond_is_written() {
        let mut out = Vec::new();
        push_time(1_767_225_600_000_000_001, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "2026-01-01T00:00:00.000000001Z");
    }
}
