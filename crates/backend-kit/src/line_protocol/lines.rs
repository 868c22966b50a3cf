//! Line protocol: `measurement,tag=value field=value time`, a line a point.

use super::names::{DEVICE, device_digits};
use iotbench_core::{Column, Run, TableSpec, TagType, TypedTag};
use std::io::Write;

/// Lines under construction, in buffers that are kept when they are emptied.
#[derive(Debug, Default)]
pub struct Lines {
    /// All lines, each with its newline.
    pub bytes: Vec<u8>,
    /// Where each line ends. A text may hold newlines too.
    pub ends: Vec<usize>,
}

impl Lines {
    /// Empties the buffers and keeps them.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Ends a line.
    pub fn end(&mut self, time: &str) {
        self.bytes.push(b' ');
        self.bytes.extend_from_slice(time.as_bytes());
        self.bytes.push(b'\n');
        self.ends.push(self.bytes.len());
    }
}

/// Appends `measurement`, the device where the table has several, and its tags as they are at its first datapoint of a run.
/// Those of another type than text are left to [`push_typed_tags`] where they are fields.
pub fn push_series(out: &mut Vec<u8>, table: &TableSpec, Run { device, first, .. }: Run, has_typed_fields: bool) {
    out.extend_from_slice(table.name.as_str().as_bytes());
    if table.has_device_column() {
        let width = device_digits(table);
        // Writing to a Vec cannot fail.
        let _ = write!(out, ",{DEVICE}={device:0width$}");
    }
    for (tag, value) in table.schema.tags().at(device, first) {
        if has_typed_fields && tag.values.tag_type() != TagType::Text {
            continue;
        }
        out.push(b',');
        out.extend_from_slice(tag.name.as_bytes());
        out.push(b'=');
        value.push(out);
    }
}

/// Appends the tags of another type than text, as they are at the first datapoint of a run, as fields behind others.
pub fn push_typed_tags(out: &mut Vec<u8>, table: &TableSpec, Run { device, first, .. }: Run) {
    for (tag, value) in table.schema.tags().at(device, first) {
        let typed = value.typed(tag.values.tag_type());
        if !matches!(typed, TypedTag::Text(_)) {
            out.push(b',');
            out.extend_from_slice(tag.name.as_bytes());
            out.push(b'=');
        }
        match typed {
            TypedTag::Text(_) => {}
            TypedTag::Integer(whole) => push_integer(out, whole),
            TypedTag::Number(number) => push_float(out, number),
            TypedTag::Truth(truth) => out.push(if truth { b't' } else { b'f' }),
        }
    }
}

/// Appends the value of a row: floats in the shortest decimal form of their 64-bit value, integers with `i`, texts in
/// quotes. Taken from the column itself: a value that is put together and taken apart again costs as much as its
/// digits.
#[inline]
pub fn push_value(out: &mut Vec<u8>, column: &Column, row: usize, escapes_newlines: bool) {
    match column {
        Column::F32(values) => push_float(out, f64::from(values[row])),
        Column::F64(values) => push_float(out, values[row]),
        Column::I64(values) => push_integer(out, values[row]),
        Column::U16(values) => push_integer(out, i64::from(values[row])),
        Column::Text(values) => push_text(out, values.get(row).unwrap_or_default(), escapes_newlines),
    }
}

fn push_float(out: &mut Vec<u8>, value: f64) {
    out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
}

fn push_integer(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    out.push(b'i');
}

fn push_text(out: &mut Vec<u8>, text: &str, escapes_newlines: bool) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    let is_escaped = |byte: &u8| matches!(byte, b'"' | b'\\') || escapes_newlines && *byte == b'\n';
    while let Some(place) = rest.iter().position(is_escaped) {
        out.extend_from_slice(&rest[..place]);
        out.extend_from_slice(&[b'\\', rest[place]]);
        rest = &rest[place + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Value, ValueType};
    use proptest::prelude::*;

    fn shown(value: Value<'_>) -> String {
        let value_type = match value {
            Value::F32(_) => ValueType::F32,
            Value::F64(_) => ValueType::F64,
            Value::I64(_) => ValueType::I64,
            Value::U16(_) => ValueType::U16,
            Value::Text(_) => ValueType::Text,
        };
        let mut column = Column::new(value_type);
        assert!(column.push(value));
        let mut out = Vec::new();
        push_value(&mut out, &column, 0, false);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_written_as_the_protocol_says() {
        for (value, text) in [
            (Value::F64(1.0), "1.0"),
            (Value::F64(-0.0), "-0.0"),
            (Value::F32(0.1), "0.10000000149011612"),
            (Value::I64(i64::MIN), "-9223372036854775808i"),
            (Value::U16(65535), "65535i"),
            (Value::Text(""), "\"\""),
            (Value::Text("a\"b\\"), "\"a\\\"b\\\\\""),
            (Value::Text("ü\n,= "), "\"ü\n,= \""),
        ] {
            assert_eq!(shown(value), text);
        }
    }

    proptest! {
        #[test]
        fn a_text_ends_at_its_own_quote(text in any::<String>()) {
            let written = shown(Value::Text(&text));
            let inner = written.strip_prefix('"').and_then(|w| w.strip_suffix('"')).unwrap();
            let mut back = String::new();
            let mut characters = inner.chars();
            while let Some(c) = characters.next() {
                prop_assert_ne!(c, '"');
                back.push(if c == '\\' { characters.next().unwrap() } else { c });
            }
            prop_assert_eq!(back, text);
        }
    }
}
