//! A batch as JSON: for each run of a device and each signal one object with all its values.

use crate::kairosdb::names::{DEVICE, metric};
use iotbench_core::{Batch, Column, SignalId, TableSpec, ValueType};

const NS_PER_MS: i64 = 1_000_000;

/// Encodes batches. Nothing is allocated per datapoint once the buffer has its size.
pub(crate) struct JsonEncoder {
    /// What the object of each signal begins with, up to the device's number.
    heads: Vec<Vec<u8>>,
}

impl JsonEncoder {
    pub(crate) fn new(table: &TableSpec) -> Self {
        let signals = (0..).zip(table.schema.signals());
        let head = |(signal, of): (SignalId, &iotbench_core::Signal)| {
            let value_type = match of.value_type {
                ValueType::F32 | ValueType::F64 => "double",
                ValueType::I64 | ValueType::U16 => "long",
                ValueType::Text => "string",
            };
            let name = metric(table, signal);
            // The type is named: without it, 1e300 would be read as an integer.
            format!(r#"{{"name":"{name}","type":"{value_type}","tags":{{"{DEVICE}":""#).into_bytes()
        };
        Self { heads: signals.map(head).collect() }
    }

    /// Puts a batch in the place of what `out` holds.
    pub(crate) fn encode(&self, batch: &Batch, out: &mut Vec<u8>) {
        let mut digits = itoa::Buffer::new();
        out.clear();
        out.push(b'[');
        for run_rows in batch.run_rows() {
            for (head, column) in self.heads.iter().zip(batch.columns()) {
                out.extend_from_slice(head);
                out.extend_from_slice(digits.format(run_rows.run.device).as_bytes());
                out.extend_from_slice(br#""},"datapoints":["#);
                for row in run_rows.rows.clone() {
                    out.push(b'[');
                    out.extend_from_slice(digits.format(batch.timestamps_ns()[row] / NS_PER_MS).as_bytes());
                    out.push(b',');
                    push_value(out, column, row);
                    out.extend_from_slice(b"],");
                }
                close(out, b"]},");
            }
        }
        close(out, b"]");
    }
}

/// Ends a list: the comma after its last element gives way.
fn close(out: &mut Vec<u8>, end: &[u8]) {
    if out.last() == Some(&b',') {
        out.pop();
    }
    out.extend_from_slice(end);
}

/// Floats are written in the shortest decimal form of their 64-bit value.
fn push_value(out: &mut Vec<u8>, column: &Column, row: usize) {
    match column {
        Column::F32(values) => {
            out.extend_from_slice(zmij::Buffer::new().format_finite(f64::from(values[row])).as_bytes());
        }
        Column::F64(values) => out.extend_from_slice(zmij::Buffer::new().format_finite(values[row]).as_bytes()),
        Column::I64(values) => out.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes()),
        Column::U16(values) => out.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes()),
        // Writing a text to a Vec cannot fail.
        Column::Text(values) => drop(serde_json::to_writer(out, values.get(row).unwrap_or_default())),
    }
}
