//! Rows as ClickHouse takes them: `RowBinary`, the columns of the table in their order, numbers little-endian, a text after its
//! length. Source: <https://clickhouse.com/docs/en/interfaces/formats#rowbinary>.

use iotbench_backend_kit::{http::writer::EncodeBody, refuse::refuse};
use iotbench_core::{Batch, Column, Error, Layout, Run, RunRows, SignalId, TableSpec, TypedTag};
use std::sync::Arc;

/// The rows of one batch after the other; nothing is allocated per datapoint once the buffers have their size.
#[derive(Debug)]
pub(crate) struct RowBinary {
    table: Arc<TableSpec>,
    bytes: Vec<u8>,
    /// What stands behind the time in each row of the present device: its number and its tags.
    device: Vec<u8>,
    value: Vec<u8>,
}

impl RowBinary {
    pub(crate) fn new(table: Arc<TableSpec>) -> Self {
        Self { table, bytes: Vec::new(), device: Vec::new(), value: Vec::new() }
    }

    fn begin_device(&mut self, Run { device, first, .. }: Run) {
        self.device.clear();
        if self.table.has_device_column() {
            self.device.extend_from_slice(&device.to_le_bytes());
        }
        for (tag, value) in self.table.schema.tags().at(device, first) {
            match value.typed(tag.values.tag_type()) {
                TypedTag::Text(value) => {
                    self.value.clear();
                    value.push(&mut self.value);
                    push_text(&mut self.device, &self.value);
                }
                TypedTag::Integer(value) => self.device.extend_from_slice(&value.to_le_bytes()),
                TypedTag::Number(value) => self.device.extend_from_slice(&value.to_le_bytes()),
                TypedTag::Truth(value) => self.device.push(value.into()),
            }
        }
    }

    fn push_run(&mut self, batch: &Batch, RunRows { run, rows }: RunRows) {
        self.begin_device(run);
        for row in rows {
            let time = batch.timestamps_ns()[row].to_le_bytes();
            if self.table.layout == Layout::Narrow {
                for (signal, column) in (0..).zip(batch.columns()) {
                    self.bytes.extend_from_slice(&time);
                    self.bytes.extend_from_slice(&self.device);
                    self.bytes.extend_from_slice(&number_of(signal).to_le_bytes());
                    push_value(&mut self.bytes, column, row);
                }
            } else {
                self.bytes.extend_from_slice(&time);
                self.bytes.extend_from_slice(&self.device);
                batch.columns().iter().for_each(|column| push_value(&mut self.bytes, column, row));
            }
        }
    }
}

/// The number that stands for a signal's name in the table.
pub(crate) fn number_of(signal: SignalId) -> i16 {
    i16::from_ne_bytes(signal.to_ne_bytes())
}

impl EncodeBody for RowBinary {
    fn encode_body(&mut self, batch: &Batch) -> Result<usize, Error> {
        refuse(batch, &self.table)?;
        self.bytes.clear();
        let table = Arc::clone(&self.table);
        batch.tagged_rows(table.schema.tags()).for_each(|rows| self.push_run(batch, rows));
        let of_point = if self.table.layout == Layout::Narrow { batch.columns().len() } else { 1 };
        Ok(batch.len() * of_point)
    }

    fn body(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

#[inline]
fn push_value(out: &mut Vec<u8>, column: &Column, row: usize) {
    match column {
        Column::F32(values) => out.extend_from_slice(&values[row].to_le_bytes()),
        Column::F64(values) => out.extend_from_slice(&values[row].to_le_bytes()),
        Column::I64(values) => out.extend_from_slice(&values[row].to_le_bytes()),
        Column::U16(values) => out.extend_from_slice(&values[row].to_le_bytes()),
        Column::Text(values) => push_text(out, values.get(row).unwrap_or_default().as_bytes()),
    }
}

/// A text after its length as unsigned LEB128.
fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    let mut left = text.len();
    while left >= 0x80 {
        out.push(u8::try_from(left & 0x7f).unwrap_or_default() | 0x80);
        left >>= 7;
    }
    out.push(u8::try_from(left).unwrap_or_default());
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::with_tags::{with_tags, with_typed_tags};
    use iotbench_core::{Marker, Name, Schema, Signal, Value, ValueType};

    fn table(layout: Layout, devices: u32) -> TableSpec {
        let signal = |name: &str, value_type| Signal { name: name.into(), value_type, max_text_bytes: 300 };
        let signals = match layout {
            Layout::Narrow => vec![signal("a", ValueType::U16), signal("b", ValueType::U16)],
            _ => vec![signal("a", ValueType::F32), signal("b", ValueType::I64), signal("c", ValueType::Text)],
        };
        TableSpec {
            name: Name::new("t").unwrap(),
            layout,
            schema: Schema::new(signals).unwrap(),
            devices,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        }
    }

    fn rows(table: TableSpec, device: u32, text: &str) -> (usize, Vec<u8>) {
        let mut batch = Batch::new(&table.schema);
        batch.append(Run { device, first: 0, count: 1 }, |times, columns| {
            times.push(-2);
            for column in columns {
                let value = match column.value_type() {
                    ValueType::F32 => Value::F32(1.0),
                    ValueType::I64 => Value::I64(-1),
                    ValueType::U16 => Value::U16(258),
                    _ => Value::Text(text),
                };
                assert!(column.push(value));
            }
        });
        let mut encoder = RowBinary::new(Arc::new(table));
        let count = encoder.encode_body(&batch).unwrap();
        (count, encoder.body().clone())
    }

    const TIME: [u8; 8] = [254, 255, 255, 255, 255, 255, 255, 255];

    #[test]
    fn a_wide_row_is_time_device_tags_and_values() {
        let values = [&[0, 0, 128, 63][..], &[255; 8], &[2, b'x', b'y']].concat();
        let expected = [&TIME[..], &[1, 0, 0, 0], &values].concat();
        assert_eq!(rows(table(Layout::Wide, 2), 1, "xy"), (1, expected));
        assert_eq!(rows(table(Layout::Wide, 1), 0, "xy"), (1, [&TIME[..], &values].concat()));
        let (_, tagged) = rows(with_tags(table(Layout::Wide, 2)), 1, "xy");
        assert!(tagged.starts_with(&[&TIME[..], &[1, 0, 0, 0]].concat()) && tagged.ends_with(&values));
        assert_eq!(usize::from(tagged[12]), tagged.len() - 13 - values.len(), "a tag has its length before it");
    }

    #[test]
    fn a_tag_of_a_type_stands_there_as_it() {
        let (_, bytes) = rows(with_typed_tags(table(Layout::Wide, 2)), 1, "xy");
        let floor = (-2_i64).to_le_bytes();
        let expected = [&[4][..], b"east", &floor, &0.5_f64.to_le_bytes(), &[1]].concat();
        assert_eq!(bytes[12..12 + expected.len()], expected);
    }

    #[test]
    fn a_narrow_row_is_one_signal() {
        let row = |signal| [&TIME[..], &[1, 0, 0, 0], &[signal, 0], &[2, 1]].concat();
        assert_eq!(rows(table(Layout::Narrow, 2), 1, ""), (2, [row(0), row(1)].concat()));
    }

    #[test]
    fn a_long_text_has_a_length_of_several_bytes() {
        let (_, bytes) = rows(table(Layout::Wide, 1), 0, &"x".repeat(300));
        assert_eq!(bytes[20..23], [0xac, 0x02, b'x']);
        assert_eq!(bytes.len(), 22 + 300);
    }
}
