//! JSON lines: one object a datapoint, `{"time":…,"device":"…","signal":…}`.

use super::{push_float, push_integer};
use iotbench_core::{Batch, Column, Schema};
use std::ops::Range;

#[derive(Debug)]
pub(super) struct JsonLines {
    /// `,"signal":`
    members: Vec<String>,
}

impl JsonLines {
    pub(super) fn new(schema: &Schema) -> Self {
        Self { members: schema.signals().iter().map(|s| format!(",\"{}\":", s.name)).collect() }
    }

    pub(super) fn encode(
        &mut self,
        (device, tags): (&str, &[u8]),
        batch: &Batch,
        rows: Range<usize>,
        out: &mut Vec<u8>,
    ) {
        for row in rows {
            out.extend_from_slice(b"{\"time\":");
            push_integer(batch.timestamps_ns()[row], out);
            out.extend_from_slice(b",\"device\":");
            push_text(device, out);
            out.extend_from_slice(tags);
            for (member, column) in self.members.iter().zip(batch.columns()) {
                out.extend_from_slice(member.as_bytes());
                match column {
                    Column::F32(values) => push_float(values[row], out),
                    Column::F64(values) => push_float(values[row], out),
                    Column::I64(values) => push_integer(values[row], out),
                    Column::U16(values) => push_integer(values[row], out),
                    Column::Text(texts) => push_text(texts.get(row).unwrap_or_default(), out),
                }
            }
            out.extend_from_slice(b"}\n");
        }
    }
}

/// A string after RFC 8259.
fn push_text(text: &str, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    for &byte in text.as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            0..0x20 => {
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_parser_reads_the_same_text(text in "(?s).{0,40}") {
            let mut out = Vec::new();
            push_text(&text, &mut out);
            prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
        }
    }
}
