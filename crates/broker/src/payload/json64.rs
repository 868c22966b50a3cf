//! JSON in Base64, as devices of the compressor study publish it.

use super::{
    Cursor, Malformed,
    cursor::{push_float, push_integer, push_label},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use iotbench_core::{Batch, Column, Label, Run, RunRows};

/// What stands before the numbers of the label.
const LABEL: [&str; 5] =
    ["{\"device\":", ",\"sequence\":", ",\"intended_ns\":", ",\"published_ns\":", ",\"operation\":"];
const RECORDS: &[u8] = b",\"records\":[";
/// What stands before the numbers of a record.
const DEVICE: &[u8] = b"{\"device\":";
const INDEX: &[u8] = b",\"index\":";
const TIME: &[u8] = b",\"time_ns\":";
const DATA: &[u8] = b",\"data\":{";

pub(super) fn encode(names: &[String], label: &Label, batch: &Batch, text: &mut Vec<u8>) -> Vec<u8> {
    text.clear();
    push_label(text, label, LABEL);
    text.extend_from_slice(RECORDS);
    for RunRows { run, rows } in batch.run_rows() {
        for (index, row) in run.indices().zip(rows) {
            if row > 0 {
                text.push(b',');
            }
            push_record(text, names, (run.device, index), batch, row);
        }
    }
    text.extend_from_slice(b"]}");
    STANDARD.encode(text).into_bytes()
}

fn push_record(out: &mut Vec<u8>, names: &[String], (device, index): (u32, u64), batch: &Batch, row: usize) {
    out.extend_from_slice(DEVICE);
    push_integer(out, device);
    out.extend_from_slice(INDEX);
    push_integer(out, index);
    out.extend_from_slice(TIME);
    push_integer(out, batch.timestamps_ns().get(row).copied().unwrap_or_default());
    out.extend_from_slice(DATA);
    for (place, (name, column)) in names.iter().zip(batch.columns()).enumerate() {
        if place > 0 {
            out.push(b',');
        }
        out.push(b'"');
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
        push_value(out, column, row);
    }
    out.extend_from_slice(b"}}");
}

fn push_value(out: &mut Vec<u8>, column: &Column, row: usize) {
    match column {
        Column::F32(values) => push_float(out, values.get(row).copied().unwrap_or_default().into()),
        Column::F64(values) => push_float(out, values.get(row).copied().unwrap_or_default()),
        Column::I64(values) => push_integer(out, values.get(row).copied().unwrap_or_default()),
        Column::U16(values) => push_integer(out, values.get(row).copied().unwrap_or_default()),
        // Writing a text to a Vec cannot fail.
        Column::Text(values) => drop(serde_json::to_writer(out, values.get(row).unwrap_or_default())),
    }
}

pub(super) fn decode(
    names: &[String],
    message: &[u8],
    batch: &mut Batch,
    text: &mut Vec<u8>,
) -> Result<Label, Malformed> {
    text.clear();
    STANDARD.decode_vec(message, text).map_err(|_| Malformed { at: 0 })?;
    let mut cursor = Cursor::new(text);
    let label = cursor.label(LABEL)?;
    cursor.pass(RECORDS)?;
    loop {
        cursor.pass(DEVICE)?;
        let device = cursor.number()?;
        cursor.pass(INDEX)?;
        let first: u64 = cursor.number()?;
        if first == u64::MAX {
            return Err(cursor.malformed());
        }
        let run = Run { device, first, count: 1 };
        let time = |cursor: &mut Cursor<'_>| {
            cursor.pass(TIME)?;
            let time_ns = cursor.number()?;
            cursor.pass(DATA)?;
            Ok(Some(time_ns))
        };
        let end = |cursor: &mut Cursor<'_>| cursor.pass(b"}}").map(|()| None);
        cursor.rows(run, batch, |cursor, column, place| read_value(cursor, names, column, place), time, end)?;
        if !cursor.takes(b",") {
            break;
        }
    }
    cursor.pass(b"]}")?;
    if cursor.is_at_end() { Ok(label) } else { Err(cursor.malformed()) }
}

fn read_value(cursor: &mut Cursor<'_>, names: &[String], column: &mut Column, place: usize) -> Result<(), Malformed> {
    if place > 0 {
        cursor.pass(b",")?;
    }
    cursor.pass(b"\"")?;
    cursor.pass(names.get(place).map(String::as_bytes).unwrap_or_default())?;
    cursor.pass(b"\":")?;
    match column {
        Column::F32(values) => values.push(cursor.single()?),
        Column::F64(values) => values.push(cursor.float()?),
        Column::I64(values) => values.push(cursor.number()?),
        Column::U16(values) => values.push(cursor.number()?),
        Column::Text(values) => {
            let text = cursor.quoted()?;
            if text.contains('\\') {
                let unescaped: Result<String, _> = serde_json::from_str(&format!("\"{text}\""));
                values.push(&unescaped.map_err(|_| cursor.malformed())?);
            } else {
                values.push(text);
            }
        }
    }
    Ok(())
}
