//! A message's content: a label and datapoints, as bytes and back.
//!
//! A datapoint's values come out of a message as they went in, to the last bit: every float is written with the shortest
//! digits that mean it, and nothing else. What is read is what is stored, so that a broker that changed a message would be
//! found out when what is stored is read back.

#[cfg(test)]
mod cost;
mod cursor;
mod json64;
mod line;

use crate::address::Payload;
use cursor::Cursor;
use iotbench_core::{Batch, Label, Schema};

/// A message that is none of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message is not one of this run's, at byte {at}")]
pub(crate) struct Malformed {
    /// Where it differs.
    pub(crate) at: usize,
}

/// Writes and reads messages of one schema, with buffers that are kept.
#[derive(Debug)]
pub(crate) struct Codec {
    payload: Payload,
    names: Vec<String>,
    /// The message before Base64, or after.
    text: Vec<u8>,
}

impl Codec {
    pub(crate) fn new(payload: Payload, schema: &Schema) -> Self {
        let names = schema.signals().iter().map(|signal| signal.name.clone()).collect();
        Self { payload, names, text: Vec::new() }
    }

    /// A message.
    pub(crate) fn encode(&mut self, label: &Label, batch: &Batch) -> Vec<u8> {
        match self.payload {
            Payload::Json64 => json64::encode(&self.names, label, batch, &mut self.text),
            Payload::Line => line::encode(&self.names, label, batch),
        }
    }

    /// Reads a message into an empty batch.
    pub(crate) fn decode(&mut self, message: &[u8], batch: &mut Batch) -> Result<Label, Malformed> {
        match self.payload {
            Payload::Json64 => json64::decode(&self.names, message, batch, &mut self.text),
            Payload::Line => line::decode(&self.names, message, batch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::{Engine, engine::general_purpose::STANDARD};
    use iotbench_core::{Run, Signal, Value, ValueType};
    use iotbench_simulator::DatasetConfig;
    use proptest::prelude::*;
    use std::path::Path;

    pub(super) const LABEL: Label =
        Label { device: 3, sequence: 7, intended_ns: 1_000, published_ns: 2_000, operation: 1 };

    /// So many datapoints of the dataset `pmu`.
    pub(super) fn pmu(count: u32) -> (Schema, Batch) {
        let config: DatasetConfig = serde_json::from_value(serde_json::json!({ "name": "pmu" })).unwrap();
        let dataset = config.open(1, 0, 4, Path::new(".")).unwrap();
        let mut batch = Batch::new(dataset.schema());
        dataset.fill(Run { device: 0, first: 0, count }, &mut batch);
        (dataset.schema().clone(), batch)
    }

    fn schema() -> Schema {
        let signals = ValueType::ALL.map(|value_type| Signal {
            name: format!("{value_type:?}").to_lowercase(),
            value_type,
            max_text_bytes: if value_type == ValueType::Text { 100 } else { 0 },
        });
        Schema::new(signals.into()).unwrap()
    }

    fn batch(rows: &[(f32, f64, i64, u16, String)]) -> Batch {
        let mut batch = Batch::new(&schema());
        for (row, (a, b, c, d, e)) in rows.iter().enumerate() {
            // Every other one is of another device.
            let run = Run { device: u32::try_from(row % 3 / 2).unwrap(), first: row as u64, count: 1 };
            batch.append(run, |timestamps, columns| {
                timestamps.push(i64::try_from(row).unwrap() * 1_000 - 5);
                let values = [Value::F32(*a), Value::F64(*b), Value::I64(*c), Value::U16(*d), Value::Text(e)];
                for (column, value) in columns.iter_mut().zip(values) {
                    assert!(column.push(value));
                }
            });
        }
        batch
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(
            rows in prop::collection::vec(
                (
                    any::<f32>().prop_filter("finite", |v| v.is_finite()),
                    any::<f64>().prop_filter("finite", |v| v.is_finite()),
                    any::<i64>(),
                    any::<u16>(),
                    any::<String>(),
                ),
                1..6,
            ),
            sequence in any::<u64>(),
        ) {
            let sent = batch(&rows);
            let label = Label { sequence, ..LABEL };
            for payload in [Payload::Json64, Payload::Line] {
                let mut codec = Codec::new(payload, &schema());
                let message = codec.encode(&label, &sent);
                let mut received = Batch::new(&schema());
                prop_assert_eq!(codec.decode(&message, &mut received), Ok(label));
                prop_assert_eq!(&received, &sent, "{}", payload.name());
            }
        }

        #[test]
        fn a_damaged_message_is_refused_or_read_and_never_ends_the_program(
            at in any::<prop::sample::Index>(), byte in any::<u8>(), length in any::<prop::sample::Index>(),
        ) {
            let sent = batch(&[(0.5, -1.25, 3, 4, "a \"b\" \\\n".into()), (0.0, 1e300, -3, 0, String::new())]);
            for payload in [Payload::Json64, Payload::Line] {
                let mut codec = Codec::new(payload, &schema());
                let mut message = codec.encode(&LABEL, &sent);
                let at = at.index(message.len());
                message[at] = byte;
                message.truncate(length.index(message.len()) + 1);
                let mut received = Batch::new(&schema());
                let label = codec.decode(&message, &mut received);
                prop_assert!(label.is_err() || !received.is_empty());
            }
        }
    }

    #[test]
    fn what_is_beyond_all_numbers_is_none() {
        let sent = batch(&[(0.5, -1.25, 3, 4, String::new())]);
        for payload in [Payload::Json64, Payload::Line] {
            let mut codec = Codec::new(payload, &schema());
            let plain = match payload {
                Payload::Json64 => STANDARD.decode(codec.encode(&LABEL, &sent)).unwrap(),
                Payload::Line => codec.encode(&LABEL, &sent),
            };
            let mut read = |from: &str, to: &str| {
                let text = String::from_utf8(plain.clone()).unwrap().replacen(from, to, 1);
                let message = if payload == Payload::Json64 { STANDARD.encode(text) } else { text };
                codec.decode(message.as_bytes(), &mut Batch::new(&schema()))
            };
            assert_eq!(read("-1.25", "-1e300"), Ok(LABEL));
            for (from, to) in [("-1.25", "-1e999"), ("0.5", "1e39")] {
                assert!(read(from, to).is_err(), "{} {to}", payload.name());
            }
        }
    }

    /// A message of a megabyte would make room for a million datapoints of all signals.
    #[test]
    fn lines_that_are_not_there_take_no_memory() {
        let sent = batch(&[(0.5, -1.25, 3, 4, String::new())]);
        let message = String::from_utf8(Codec::new(Payload::Line, &schema()).encode(&LABEL, &sent)).unwrap();
        let read = |count: usize| {
            let message = message.replacen("0:0+1", &format!("0:0+{count}"), 1) + &" ".repeat(10_000);
            let mut received = Batch::new(&schema());
            assert!(Codec::new(Payload::Line, &schema()).decode(message.as_bytes(), &mut received).is_err());
            received.len()
        };
        for count in [1_000, 10_000] {
            assert!(read(count) <= 10_000 / 40, "{count}");
        }
    }

    #[test]
    fn messages_look_as_documented() {
        let sent = batch(&[(0.5, -1.25, 3, 4, "a\"b".into())]);
        let message = Codec::new(Payload::Line, &schema()).encode(&LABEL, &sent);
        assert_eq!(
            String::from_utf8(message).unwrap(),
            "# device=3,sequence=7,intended_ns=1000,published_ns=2000,operation=1,runs=0:0+1\n\
             iotbench,device=0 f32=0.5,f64=-1.25,i64=3i,u16=4i,text=\"a\\\"b\" -5\n"
        );
        let message = Codec::new(Payload::Json64, &schema()).encode(&LABEL, &sent);
        let text = STANDARD.decode(message).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let expected = serde_json::json!({
            "device": 3, "sequence": 7, "intended_ns": 1000, "published_ns": 2000, "operation": 1,
            "records": [{
                "device": 0, "index": 0, "time_ns": -5,
                "data": {"f32": 0.5, "f64": -1.25, "i64": 3, "u16": 4, "text": "a\"b"},
            }],
        });
        assert_eq!(json, expected);
    }

    #[test]
    fn every_dataset_goes_through() {
        for name in [
            "compressor",
            "pmu",
            "machine",
            "weather",
            "greenhouse",
            "text",
            "smart_meter",
            "tsbs_iot",
            "tpcx_iot",
            "iot_benchmark",
        ] {
            let config: DatasetConfig = serde_json::from_value(serde_json::json!({ "name": name })).unwrap();
            let dataset = config.open(1, 0, 4, Path::new(".")).unwrap();
            let mut sent = Batch::new(dataset.schema());
            (0..3).for_each(|device| dataset.fill(Run { device, first: 40, count: 20 }, &mut sent));
            for payload in [Payload::Json64, Payload::Line] {
                let mut codec = Codec::new(payload, dataset.schema());
                let message = codec.encode(&LABEL, &sent);
                let mut received = Batch::new(dataset.schema());
                assert_eq!(codec.decode(&message, &mut received), Ok(LABEL), "{name}");
                assert_eq!(received, sent, "{name}");
            }
        }
    }
}
