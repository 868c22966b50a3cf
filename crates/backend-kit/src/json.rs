//! Datapoints as JSON text and back, bit for bit: numbers by their shortest decimal form that reads back the same.

mod object;

pub use object::read_object;

use iotbench_core::{Chunk, Column, ReplyColumn, Schema, SignalId, Value, ValueType};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Appends the value of a row as JSON.
#[inline]
pub fn push_value(text: &mut Vec<u8>, column: &Column, row: usize) {
    match column {
        Column::F32(values) => text.extend_from_slice(zmij::Buffer::new().format_finite(values[row]).as_bytes()),
        Column::F64(values) => text.extend_from_slice(zmij::Buffer::new().format_finite(values[row]).as_bytes()),
        Column::I64(values) => text.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes()),
        Column::U16(values) => text.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes()),
        Column::Text(values) => push_text(text, values.get(row).unwrap_or_default()),
    }
}

/// Appends a text as JSON.
fn push_text(json: &mut Vec<u8>, text: &str) {
    #[expect(clippy::expect_used, reason = "a vector takes all that is written to it, and a text is always JSON")]
    serde_json::to_writer(json, text).expect("a text becomes JSON");
}

/// Writes datapoints as objects: `{"a":1.5,"b":"x"}`.
#[derive(Clone, Debug)]
pub struct ObjectWriter {
    /// What stands before each value: `{"a":`, `,"b":`.
    openings: Vec<Vec<u8>>,
}

impl ObjectWriter {
    /// A writer of datapoints of this schema.
    pub fn new(schema: &Schema) -> Self {
        let signals = schema.signals().iter().enumerate();
        let openings = signals.map(|(i, s)| format!("{}\"{}\":", if i == 0 { '{' } else { ',' }, s.name).into_bytes());
        Self { openings: openings.collect() }
    }

    /// Appends the datapoint of a row.
    pub fn push(&self, json: &mut Vec<u8>, columns: &[Column], row: usize) {
        for (opening, column) in self.openings.iter().zip(columns) {
            json.extend_from_slice(opening);
            push_value(json, column, row);
        }
        json.push(b'}');
    }
}

/// Appends datapoints of one second: `{"measurements":[{"ns":1,"m":[1,2]},{"ns":2,"m":[3,4]}]}` (Hof study, Listing 2).
pub fn push_second(json: &mut Vec<u8>, columns: &[Column], rows: impl Iterator<Item = (u32, usize)>) {
    json.extend_from_slice(b"{\"measurements\":[");
    for (i, (nanosecond, row)) in rows.enumerate() {
        json.extend_from_slice(if i == 0 { b"{\"ns\":" } else { b",{\"ns\":" });
        json.extend_from_slice(itoa::Buffer::new().format(nanosecond).as_bytes());
        json.extend_from_slice(b",\"m\":");
        for (i, column) in columns.iter().enumerate() {
            json.push(if i == 0 { b'[' } else { b',' });
            push_value(json, column, row);
        }
        json.extend_from_slice(b"]}");
    }
    json.extend_from_slice(b"]}");
}

/// Appends the datapoints of a text of [`push_second`] to `chunk`: nanoseconds of the second as timestamps, and the
/// columns of `signals`, ascending.
pub fn read_second(json: &[u8], signals: &[SignalId], chunk: &mut Chunk) -> serde_json::Result<()> {
    read(json, SecondSeed { signals, chunk })
}

fn read<'de, S: DeserializeSeed<'de, Value = ()>>(json: &'de [u8], seed: S) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    seed.deserialize(&mut deserializer)?;
    deserializer.end()
}

/// Reads one value to the end of a column; `null` is none.
struct ValueSeed<'c>(&'c mut ReplyColumn);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        use serde::Deserialize;
        let value = match self.0.value_type() {
            ValueType::F32 => Option::deserialize(from)?.map(Value::F32),
            ValueType::F64 => Option::deserialize(from)?.map(Value::F64),
            ValueType::I64 => Option::deserialize(from)?.map(Value::I64),
            ValueType::U16 => Option::deserialize(from)?.map(Value::U16),
            ValueType::Text => return from.deserialize_any(self),
        };
        self.0.push(value).map_err(de::Error::custom)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or null")
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        self.0.push(Some(Value::Text(text))).map_err(de::Error::custom)
    }
    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.0.push(None).map_err(de::Error::custom)
    }
}

/// A key without escapes, borrowed from the text.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] std::borrow::Cow<'a, str>);

struct SecondSeed<'a> {
    signals: &'a [SignalId],
    chunk: &'a mut Chunk,
}

impl<'de> DeserializeSeed<'de> for SecondSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for SecondSeed<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with measurements")
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Key<'de>>()? {
            if key.0 == "measurements" {
                map.next_value_seed(Measurements(&mut self))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct Measurements<'s, 'a>(&'s mut SecondSeed<'a>);

impl<'de> DeserializeSeed<'de> for Measurements<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Measurements<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of measurements")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Measurement(self.0))?.is_some() {}
        Ok(())
    }
}

/// One `{"ns":1,"m":[1,2]}`.
struct Measurement<'s, 'a>(&'s mut SecondSeed<'a>);

impl<'de> DeserializeSeed<'de> for Measurement<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Measurement<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with ns and m")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let (mut nanosecond, mut has_values) = (None, false);
        while let Some(key) = map.next_key::<Key<'de>>()? {
            match key.0.as_ref() {
                "ns" if nanosecond.is_none() => nanosecond = Some(map.next_value::<u32>()?),
                "m" if !has_values => {
                    map.next_value_seed(Values(self.0))?;
                    has_values = true;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if !has_values {
            self.0.chunk.columns.iter_mut().try_for_each(|c| c.push(None)).map_err(de::Error::custom)?;
        }
        let nanosecond = nanosecond.ok_or_else(|| de::Error::missing_field("ns"))?;
        self.0.chunk.timestamps_ns.push(nanosecond.into());
        Ok(())
    }
}

/// One `[1,2]`: the value of each signal.
struct Values<'s, 'a>(&'s mut SecondSeed<'a>);

impl<'de> DeserializeSeed<'de> for Values<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Values<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of values")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut wanted = self.0.signals.iter().zip(&mut self.0.chunk.columns).peekable();
        for place in 0_usize.. {
            match wanted.peek_mut() {
                Some((signal, column)) if usize::from(**signal) == place => {
                    if seq.next_element_seed(ValueSeed(column))?.is_none() {
                        break;
                    }
                    wanted.next();
                }
                _ => {
                    if seq.next_element::<IgnoredAny>()?.is_none() {
                        break;
                    }
                }
            }
        }
        for (_, column) in wanted {
            column.push(None).map_err(de::Error::custom)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Batch, Run, Signal};
    use proptest::prelude::*;

    fn schema() -> Schema {
        let signals = ValueType::ALL.iter().enumerate();
        let signals = signals.map(|(i, &value_type)| Signal { name: format!("s{i}"), value_type, max_text_bytes: 0 });
        Schema::new(signals.collect()).unwrap()
    }

    #[test]
    fn more_values_than_signals_can_be_are_passed_over() {
        let mut chunk = Chunk::new([ValueType::F64]);
        let json = format!(r#"{{"measurements":[{{"ns":1,"m":[0.5{}]}}]}}"#, ",7".repeat(70_000));
        read_second(json.as_bytes(), &[0], &mut chunk).unwrap();
        assert_eq!((chunk.timestamps_ns.as_slice(), chunk.columns[0].len()), ([1].as_slice(), 1));
    }

    fn batch(values: &[Value<'_>]) -> Batch {
        let mut batch = Batch::new(&schema());
        batch.append(Run { device: 0, first: 0, count: 1 }, |timestamps, columns| {
            timestamps.push(0);
            for (column, value) in columns.iter_mut().zip(values) {
                assert!(column.push(*value));
            }
        });
        batch
    }

    fn bits(value: Value<'_>) -> (u64, String) {
        match value {
            Value::F32(v) => (v.to_bits().into(), String::new()),
            Value::F64(v) => (v.to_bits(), String::new()),
            Value::I64(v) => (v.cast_unsigned(), String::new()),
            Value::U16(v) => (v.into(), String::new()),
            Value::Text(v) => (0, v.into()),
        }
    }

    proptest! {
        #[test]
        fn every_value_comes_back_bit_for_bit(
            a in any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |v| v.is_finite()),
            b in any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |v| v.is_finite()),
            c in any::<i64>(), d in any::<u16>(), e in any::<String>(),
        ) {
            let values = [Value::F32(a), Value::F64(b), Value::I64(c), Value::U16(d), Value::Text(&e)];
            let batch = batch(&values);
            let mut object = Vec::new();
            ObjectWriter::new(&schema()).push(&mut object, batch.columns(), 0);
            let mut chunk = Chunk::new(ValueType::ALL);
            read_object(&object, &["s0", "s1", "s2", "s3", "s4"], &mut chunk.columns).unwrap();
            let mut second = Vec::new();
            push_second(&mut second, batch.columns(), [(999_999_999, 0)].into_iter());
            read_second(&second, &[0, 1, 2, 3, 4], &mut chunk).unwrap();
            prop_assert_eq!(&chunk.timestamps_ns, &[999_999_999]);
            for (column, value) in chunk.columns.iter().zip(values) {
                for row in 0..2 {
                    prop_assert_eq!(column.get(row).map(bits), Some(bits(value)));
                }
            }
        }
    }

    #[test]
    fn what_is_asked_for_is_taken_and_what_is_missing_shows() {
        let mut chunk = Chunk::new([ValueType::U16, ValueType::U16]);
        read_object(br#"{"a":1,"b":2,"d":4}"#, &["b", "c"], &mut chunk.columns).unwrap();
        read_object(br#"{"c":3}"#, &["b", "c"], &mut chunk.columns).unwrap();
        read_object(br#"{"c":9,"a":8,"b":7}"#, &["b", "c"], &mut chunk.columns).unwrap();
        let second = br#"{"measurements":[{"ns":5,"m":[1,2,3]},{"m":[4],"ns":6},{"ns":7}]}"#;
        read_second(second, &[0, 2], &mut chunk).unwrap();
        let rows: Vec<_> = (0..6).map(|row| [0, 1].map(|c: usize| chunk.columns[c].get(row))).collect();
        let v = |v| Some(Value::U16(v));
        assert_eq!(rows, [[v(2), None], [None, v(3)], [v(7), v(9)], [v(1), v(3)], [v(4), None], [None, None]]);
        assert_eq!(chunk.timestamps_ns, [5, 6, 7]);
    }

    #[test]
    fn what_is_no_datapoint_is_an_error() {
        let mut chunk = Chunk::new([ValueType::U16]);
        for bad in ["", "{", "[]", r#"{"a":70000}"#, r#"{"a":"x"}"#, r#"{"a":1} x"#, r#"{"a":1,"b":2,"a":1}"#] {
            assert!(read_object(bad.as_bytes(), &["a"], &mut chunk.columns).is_err(), "{bad}");
        }
        for bad in
            [r#"{"measurements":[{"m":[1]}]}"#, r#"{"measurements":[{"ns":-1,"m":[1]}]}"#, r#"{"measurements":1}"#]
        {
            assert!(read_second(bad.as_bytes(), &[0], &mut chunk).is_err(), "{bad}");
        }
    }
}
