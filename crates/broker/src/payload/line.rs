//! The line protocol of InfluxDB, with the label in a comment before the lines.

use super::{
    Cursor, Malformed,
    cursor::{push_float, push_integer, push_label},
};
use iotbench_core::{Batch, Column, Label, Run, RunRows};

/// What stands before the numbers of the label.
const LABEL: [&str; 5] = ["# device=", ",sequence=", ",intended_ns=", ",published_ns=", ",operation="];
/// The datapoints of the lines in their order: `DEVICE:FIRST+COUNT`, with semicolons between them.
const RUNS: &[u8] = b",runs=";
const SERIES: &[u8] = b"iotbench,device=";

pub(super) fn encode(names: &[String], label: &Label, batch: &Batch) -> Vec<u8> {
    let mut out = Vec::new();
    push_label(&mut out, label, LABEL);
    out.extend_from_slice(RUNS);
    for (place, run) in batch.runs().iter().enumerate() {
        if place > 0 {
            out.push(b';');
        }
        push_integer(&mut out, run.device);
        out.push(b':');
        push_integer(&mut out, run.first);
        out.push(b'+');
        push_integer(&mut out, run.count);
    }
    out.push(b'\n');
    for RunRows { run, rows } in batch.run_rows() {
        for row in rows {
            out.extend_from_slice(SERIES);
            push_integer(&mut out, run.device);
            for (place, (name, column)) in names.iter().zip(batch.columns()).enumerate() {
                out.push(if place == 0 { b' ' } else { b',' });
                out.extend_from_slice(name.as_bytes());
                out.push(b'=');
                push_value(&mut out, column, row);
            }
            out.push(b' ');
            push_integer(&mut out, batch.timestamps_ns().get(row).copied().unwrap_or_default());
            out.push(b'\n');
        }
    }
    out
}

fn push_value(out: &mut Vec<u8>, column: &Column, row: usize) {
    match column {
        Column::F32(values) => push_float(out, values.get(row).copied().unwrap_or_default().into()),
        Column::F64(values) => push_float(out, values.get(row).copied().unwrap_or_default()),
        Column::I64(values) => {
            push_integer(out, values.get(row).copied().unwrap_or_default());
            out.push(b'i');
        }
        Column::U16(values) => {
            push_integer(out, values.get(row).copied().unwrap_or_default());
            out.push(b'i');
        }
        Column::Text(values) => {
            out.push(b'"');
            for &byte in values.get(row).unwrap_or_default().as_bytes() {
                if matches!(byte, b'"' | b'\\') {
                    out.push(b'\\');
                }
                out.push(byte);
            }
            out.push(b'"');
        }
    }
}

pub(super) fn decode(names: &[String], message: &[u8], batch: &mut Batch) -> Result<Label, Malformed> {
    let mut runs = Cursor::new(message);
    let label = runs.label(LABEL)?;
    runs.pass(RUNS)?;
    let head = message.iter().position(|&byte| byte == b'\n').ok_or_else(|| runs.malformed())?;
    let mut lines = Cursor::new(message.get(head + 1..).unwrap_or_default());
    let least = least_bytes(names);
    loop {
        let device = runs.count()?;
        runs.pass(b":")?;
        let first: u64 = runs.count()?;
        runs.pass(b"+")?;
        let count: u32 = runs.count()?;
        // As many lines as may be there: no number makes room for more.
        if count == 0 || count as usize > lines.rest().len() / least || first.checked_add(count.into()).is_none() {
            return Err(runs.malformed());
        }
        let run = Run { device, first, count };
        let series = |lines: &mut Cursor<'_>| {
            lines.pass(SERIES)?;
            if lines.count::<u32>()? == device { Ok(None) } else { Err(lines.malformed()) }
        };
        let time = |lines: &mut Cursor<'_>| {
            lines.pass(b" ")?;
            let time_ns = lines.number()?;
            lines.pass(b"\n").map(|()| Some(time_ns))
        };
        lines.rows(run, batch, |lines, column, place| read_value(lines, names, column, place), series, time)?;
        if !runs.takes(b";") {
            break;
        }
    }
    runs.pass(b"\n")?;
    if lines.is_at_end() { Ok(label) } else { Err(lines.malformed()) }
}

/// The shortest line: a digit each for device, values and time.
fn least_bytes(names: &[String]) -> usize {
    let values: usize = names.iter().map(|name| " =0".len() + name.len()).sum();
    SERIES.len() + "0".len() + values + " 0\n".len()
}

fn read_value(lines: &mut Cursor<'_>, names: &[String], column: &mut Column, place: usize) -> Result<(), Malformed> {
    lines.pass(if place == 0 { b" " } else { b"," })?;
    lines.pass(names.get(place).map(String::as_bytes).unwrap_or_default())?;
    lines.pass(b"=")?;
    match column {
        Column::F32(values) => values.push(lines.single()?),
        Column::F64(values) => values.push(lines.float()?),
        Column::I64(values) => {
            values.push(lines.number()?);
            lines.pass(b"i")?;
        }
        Column::U16(values) => {
            values.push(lines.number()?);
            lines.pass(b"i")?;
        }
        Column::Text(values) => {
            let text = lines.quoted()?;
            values.push_with(|out| {
                let mut characters = text.chars();
                while let Some(character) = characters.next() {
                    out.extend(if character == '\\' { characters.next() } else { Some(character) });
                }
            });
        }
    }
    Ok(())
}
