//! CSV after RFC 4180, but with a bare line feed at line ends.

use super::{push_float, push_integer};
use crate::recording::TAG_COLUMN;
use iotbench_core::{Batch, Column, Schema, Tags};
use std::ops::Range;

#[derive(Debug)]
pub(super) struct CsvLines {
    names: Vec<String>,
}

impl CsvLines {
    pub(super) fn new(schema: &Schema) -> Self {
        Self { names: schema.signals().iter().map(|s| s.name.clone()).collect() }
    }

    pub(super) fn header(&self, tags: &Tags, out: &mut Vec<u8>) {
        out.extend_from_slice(b"time,device");
        for tag in tags.as_slice() {
            out.push(b',');
            out.extend_from_slice(TAG_COLUMN.as_bytes());
            out.extend_from_slice(tag.name.as_bytes());
        }
        for name in &self.names {
            out.push(b',');
            out.extend_from_slice(name.as_bytes());
        }
        out.push(b'\n');
    }

    pub(super) fn encode(
        &mut self,
        (device, tags): (&str, &[u8]),
        batch: &Batch,
        rows: Range<usize>,
        out: &mut Vec<u8>,
    ) {
        for row in rows {
            push_integer(batch.timestamps_ns()[row], out);
            out.push(b',');
            push_text(device, out);
            out.extend_from_slice(tags);
            for column in batch.columns() {
                out.push(b',');
                match column {
                    Column::F32(values) => push_float(values[row], out),
                    Column::F64(values) => push_float(values[row], out),
                    Column::I64(values) => push_integer(values[row], out),
                    Column::U16(values) => push_integer(values[row], out),
                    Column::Text(texts) => push_text(texts.get(row).unwrap_or_default(), out),
                }
            }
            out.push(b'\n');
        }
    }
}

/// Quoted where it has to be; quotes inside are doubled.
fn push_text(text: &str, out: &mut Vec<u8>) {
    if !text.contains(['"', ',', '\r', '\n']) {
        return out.extend_from_slice(text.as_bytes());
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
    fn only_what_needs_quotes_has_them() {
        for (text, expected) in [("a b", "a b"), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("a\nb", "\"a\nb\"")] {
            let mut out = Vec::new();
            push_text(text, &mut out);
            assert_eq!(out, expected.as_bytes());
        }
    }
}
