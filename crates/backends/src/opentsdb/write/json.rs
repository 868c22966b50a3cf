//! Rows of a batch as JSON: an object a value.

use iotbench_backend_kit::metrics::{DEVICE, NS_PER_MS, metric, push_value};
use iotbench_core::{Batch, SignalId, TableSpec};
use std::ops::Range;

/// Encodes batches. Nothing is allocated per datapoint once the buffer has its size.
pub(crate) struct JsonEncoder {
    /// What the object of each signal begins with, up to the time.
    heads: Vec<Vec<u8>>,
    /// What it ends with, up to the device's number.
    tail: Vec<u8>,
}

impl JsonEncoder {
    pub(crate) fn new(table: &TableSpec) -> Self {
        let signals = (0..).take(table.schema.width());
        let head = |signal: SignalId| format!(r#"{{"metric":"{}","timestamp":"#, metric(table, signal)).into_bytes();
        Self { heads: signals.map(head).collect(), tail: format!(r#","tags":{{"{DEVICE}":""#).into_bytes() }
    }

    /// Puts the rows from `first` on in the place of what `out` holds, as many whole ones as `most_bytes` take. Gives those
    /// rows: none where the first one alone is longer.
    pub(crate) fn encode(&self, batch: &Batch, first: usize, most_bytes: usize, out: &mut Vec<u8>) -> Range<usize> {
        let mut digits = itoa::Buffer::new();
        out.clear();
        out.push(b'[');
        for run_rows in batch.run_rows().filter(|run_rows| run_rows.rows.end > first) {
            for row in run_rows.rows.start.max(first)..run_rows.rows.end {
                let before = out.len();
                self.push_row(batch, run_rows.run.device, row, &mut digits, out);
                if out.len() > most_bytes {
                    out.truncate(before);
                    close(out);
                    return first..row;
                }
            }
        }
        close(out);
        first..batch.len()
    }

    fn push_row(&self, batch: &Batch, device: u32, row: usize, digits: &mut itoa::Buffer, out: &mut Vec<u8>) {
        for (head, column) in self.heads.iter().zip(batch.columns()) {
            out.extend_from_slice(head);
            out.extend_from_slice(digits.format(batch.timestamps_ns()[row] / NS_PER_MS).as_bytes());
            out.extend_from_slice(br#","value":"#);
            push_value(out, column, row);
            out.extend_from_slice(&self.tail);
            out.extend_from_slice(digits.format(device).as_bytes());
            out.extend_from_slice(br#""}},"#);
        }
    }
}

/// Ends the list: the comma after its last object gives way.
fn close(out: &mut Vec<u8>) {
    if out.last() == Some(&b',') {
        out.pop();
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Layout, Marker, Name, Run, Schema, Signal, Value, ValueType};

    fn table() -> TableSpec {
        let signal = |name: &str, value_type| Signal { name: name.into(), value_type, max_text_bytes: 0 };
        let types = [("a", ValueType::F64), ("b", ValueType::I64)];
        TableSpec {
            name: Name::new("t").unwrap(),
            layout: Layout::Wide,
            schema: Schema::new(types.map(|(name, value_type)| signal(name, value_type)).into()).unwrap(),
            devices: 12,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        }
    }

    fn batch(table: &TableSpec, points: u32) -> Batch {
        let mut batch = Batch::new(&table.schema);
        for device in [0, 11] {
            let run = Run { device, first: 0, count: points };
            batch.append(run, |times, columns| {
                for index in run.indices() {
                    times.push((1_700_000_000_000 + i64::try_from(index).unwrap()) * NS_PER_MS);
                    assert!(columns[0].push(Value::F64(1.0)) && columns[1].push(Value::I64(i64::MIN)));
                }
            });
        }
        batch
    }

    #[test]
    fn each_value_has_an_object() {
        let table = table();
        let mut out = b"what was there before".to_vec();
        let rows = JsonEncoder::new(&table).encode(&batch(&table, 2), 0, usize::MAX, &mut out);
        assert_eq!(rows, 0..4);
        let objects: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(objects.as_array().unwrap().len(), 8);
        assert!(out.starts_with(
            br#"[{"metric":"iotbench_t.a","timestamp":1700000000000,"value":1.0,"tags":{"device":"0"}},"#
        ));
        let last = serde_json::json!({
            "metric": "iotbench_t.b", "timestamp": 1_700_000_000_001_i64, "value": i64::MIN, "tags": {"device": "11"},
        });
        assert_eq!(objects[7], last);
    }

    #[test]
    fn requests_of_any_length_hold_each_row_once() {
        let table = table();
        let (encoder, batch) = (JsonEncoder::new(&table), batch(&table, 20));
        let (mut whole, mut out) = (Vec::new(), Vec::new());
        encoder.encode(&batch, 0, usize::MAX, &mut whole);
        for most_bytes in [210, 211, 500, 1000, whole.len() - 1, whole.len()] {
            let (mut first, mut pieces) = (0, Vec::new());
            while first < batch.len() {
                let rows = encoder.encode(&batch, first, most_bytes, &mut out);
                assert!(rows.start == first && !rows.is_empty() && out.len() <= most_bytes, "{most_bytes}: {rows:?}");
                pieces.push(String::from_utf8(out[1..out.len() - 1].to_vec()).unwrap());
                first = rows.end;
            }
            assert_eq!(format!("[{}]", pieces.join(",")).as_bytes(), whole, "{most_bytes}");
            assert_eq!(pieces.len() == 1, most_bytes == whole.len(), "{most_bytes}");
        }
        assert!(encoder.encode(&batch, 0, 100, &mut out).is_empty(), "a row is longer");
    }

    #[test]
    fn a_warm_encoder_allocates_nothing() {
        let table = table();
        let (encoder, batch) = (JsonEncoder::new(&table), batch(&table, 500));
        let mut out = Vec::new();
        encoder.encode(&batch, 0, usize::MAX, &mut out);
        let counted = allocation_counter::measure(|| {
            encoder.encode(&batch, 0, usize::MAX, &mut out);
        });
        assert_eq!(counted.count_total, 0);
    }
}
