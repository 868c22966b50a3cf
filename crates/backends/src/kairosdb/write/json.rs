//! A batch as JSON: for each run of a device and each signal one object with all its values.

use iotbench_backend_kit::metrics::{DEVICE, NS_PER_MS, metric, push_value};
use iotbench_core::{Batch, SignalId, TableSpec, Tags, ValueType};

/// Encodes batches. Nothing is allocated per datapoint once the buffer has its size.
pub(crate) struct JsonEncoder {
    /// What the object of each signal begins with, up to the device's number.
    heads: Vec<Vec<u8>>,
    tags: Tags,
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
        Self { heads: signals.map(head).collect(), tags: table.schema.tags().clone() }
    }

    /// Puts a batch in the place of what `out` holds.
    pub(crate) fn encode(&self, batch: &Batch, out: &mut Vec<u8>) {
        let mut digits = itoa::Buffer::new();
        out.clear();
        out.push(b'[');
        for run_rows in batch.tagged_rows(&self.tags) {
            for (head, column) in self.heads.iter().zip(batch.columns()) {
                out.extend_from_slice(head);
                out.extend_from_slice(digits.format(run_rows.run.device).as_bytes());
                for (tag, value) in self.tags.at(run_rows.run.device, run_rows.run.first) {
                    out.extend_from_slice(br#"",""#);
                    out.extend_from_slice(tag.name.as_bytes());
                    out.extend_from_slice(br#"":""#);
                    value.push(out);
                }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::with_tags::with_tags;
    use iotbench_core::{Layout, Marker, Name, Run, Schema, Signal, Value};

    fn table() -> TableSpec {
        let signal = |name: &str, value_type| Signal { name: name.into(), value_type, max_text_bytes: 9 };
        let types = [("a", ValueType::F64), ("b", ValueType::I64), ("c", ValueType::Text)];
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
                    times.push(i64::try_from(index).unwrap() * NS_PER_MS);
                    let values = [Value::F64(1e300), Value::I64(i64::MIN), Value::Text("ü\"\\\n")];
                    for (column, value) in columns.iter_mut().zip(values) {
                        assert!(column.push(value));
                    }
                }
            });
        }
        batch
    }

    #[test]
    fn each_run_and_signal_has_an_object_with_its_values() {
        let table = table();
        let mut out = b"what was there before".to_vec();
        JsonEncoder::new(&table).encode(&batch(&table, 2), &mut out);
        let objects: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(objects.as_array().unwrap().len(), 6);
        let text = serde_json::json!({
            "name": "iotbench_t.c", "type": "string", "tags": {"device": "11"},
            "datapoints": [[0, "ü\"\\\n"], [1, "ü\"\\\n"]],
        });
        assert_eq!(objects[5], text);
        assert_eq!(objects[3]["datapoints"][1], serde_json::json!([1, 1e300]));
        assert_eq!(objects[1]["datapoints"][0], serde_json::json!([0, i64::MIN]));
        JsonEncoder::new(&table).encode(&Batch::new(&table.schema), &mut out);
        assert_eq!(out, b"[]");
    }

    #[test]
    fn a_device_is_told_with_its_tags() {
        let table = with_tags(table());
        let mut out = Vec::new();
        JsonEncoder::new(&table).encode(&batch(&table, 1), &mut out);
        let objects: serde_json::Value = serde_json::from_slice(&out).unwrap();
        for (object, device) in [(&objects[0], 0), (&objects[3], 11)] {
            let (_, site) = table.schema.tags().of(device).next().unwrap();
            assert_eq!(object["tags"], serde_json::json!({ "device": device.to_string(), "site": site.to_string() }));
        }
    }

    #[test]
    fn a_warm_encoder_allocates_nothing() {
        let table = table();
        let (encoder, batch) = (JsonEncoder::new(&table), batch(&table, 500));
        let mut out = Vec::new();
        encoder.encode(&batch, &mut out);
        let counted = allocation_counter::measure(|| encoder.encode(&batch, &mut out));
        assert_eq!(counted.count_total, 0);
    }
}
