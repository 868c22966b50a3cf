//! `InfluxDB`'s line protocol: fields of their own type (`i` after integers, text quoted), times in nanoseconds.

use super::{push_float, push_integer};
use iotbench_core::{Batch, Column, Schema};
use std::ops::Range;

#[derive(Debug)]
pub(super) struct InfluxLines {
    measurement: String,
    /// ` first=`, `,second=`, …
    fields: Vec<String>,
    /// Measurement and tags of the device at hand.
    head: String,
}

impl InfluxLines {
    pub(super) fn new(measurement: &str, schema: &Schema) -> Self {
        let mut escaped = String::new();
        push_escaped(measurement, &[',', ' '], &mut escaped);
        let separators = [' '].into_iter().chain(std::iter::repeat(','));
        let fields = separators.zip(schema.signals()).map(|(before, s)| format!("{before}{}=", s.name)).collect();
        Self { measurement: escaped, fields, head: String::new() }
    }

    pub(super) fn encode(
        &mut self,
        (device, tags): (&str, &[u8]),
        batch: &Batch,
        rows: Range<usize>,
        out: &mut Vec<u8>,
    ) {
        self.head.clear();
        self.head.push_str(&self.measurement);
        self.head.push_str(",device=");
        push_escaped(device, &[',', ' ', '='], &mut self.head);
        for row in rows {
            out.extend_from_slice(self.head.as_bytes());
            out.extend_from_slice(tags);
            for (field, column) in self.fields.iter().zip(batch.columns()) {
                out.extend_from_slice(field.as_bytes());
                push_value(column, row, out);
            }
            out.push(b' ');
            push_integer(batch.timestamps_ns()[row], out);
            out.push(b'\n');
        }
    }
}

#[inline]
fn push_value(column: &Column, row: usize, out: &mut Vec<u8>) {
    match column {
        Column::F32(values) => push_float(values[row], out),
        Column::F64(values) => push_float(values[row], out),
        Column::I64(values) => {
            push_integer(values[row], out);
            out.push(b'i');
        }
        Column::U16(values) => {
            push_integer(values[row], out);
            out.push(b'i');
        }
        Column::Text(texts) => push_quoted(texts.get(row).unwrap_or_default(), out),
    }
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

/// A measurement or tag value: a backslash before each special character. Line ends, which the protocol cannot carry
/// there, and a backslash, which would escape what follows, become `_`.
fn push_escaped(text: &str, special: &[char], out: &mut String) {
    for c in text.chars() {
        if special.contains(&c) {
            out.push('\\');
        }
        out.push(if c.is_control() || c == '\\' { '_' } else { c });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted_and_names_are_escaped() {
        let mut out = Vec::new();
        push_quoted(r#"a "b" \ c"#, &mut out);
        assert_eq!(out, br#""a \"b\" \\ c""#);
        let mut name = String::new();
        push_escaped("a b,c=d\\\n", &[',', ' ', '='], &mut name);
        assert_eq!(name, r"a\ b\,c\=d__");
    }
}
