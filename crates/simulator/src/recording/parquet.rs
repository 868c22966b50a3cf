//! Parquet: a flat table with a column of times, perhaps one of devices, and the signals. Rows are read group by group, page by page.

use super::{
    devices::Devices, error::Fault, lines::Reached, plan::RecordedTime, row::Row, signals::Signals, stop::Stop,
};
use crate::text_file::open_regular;
use parquet::{
    basic::{LogicalType, TimeUnit},
    errors::ParquetError,
    file::reader::{FileReader, SerializedFileReader},
    record::{Field, reader::RowIter},
};
use std::{
    io::{Error, ErrorKind},
    path::Path,
};

/// Columns that are taken for the times, the first of them that there is.
const TIMES: [&str; 4] = ["time", "timestamp", "ts", "_time"];
const DEVICE: &str = "device";

/// A file of Parquet.
pub struct Parquet {
    rows: RowIter<'static>,
    columns: Vec<Column>,
    unit: RecordedTime,
    reached: Reached,
    row: u64,
}

/// What a column holds.
#[derive(Clone, Copy, Debug)]
enum Column {
    Time,
    Device,
    Signal(usize),
    NotTaken,
}

impl Parquet {
    /// Reads the description of a table. `device` is the column that names the device; empty: `device`, if there is one.
    pub fn open(path: &Path, time: RecordedTime, device: &str, signals: &mut Signals) -> Result<Self, Stop> {
        let file = open_regular(path)?;
        let reader = SerializedFileReader::new(file).map_err(|e| Stop::Refused(e.to_string()))?;
        let metadata = reader.metadata().file_metadata();
        let reached = Reached::of(u64::try_from(metadata.num_rows()).unwrap_or(0));
        let described = metadata.schema_descr();
        let names: Vec<String> = described.columns().iter().map(|column| column.path().string()).collect();
        if let Some(nested) = described.columns().iter().find(|c| c.path().parts().len() != 1 || c.max_rep_level() > 0)
        {
            return Err(Stop::Refused(format!("the column {} is nested: a recording is a flat table", nested.path())));
        }
        let place = |name: &str| names.iter().position(|column| column == name);
        let times = TIMES.iter().find_map(|name| place(name));
        let times =
            times.ok_or_else(|| Stop::Refused(format!("has no column of times: name it {}", TIMES.join(" or "))))?;
        let devices = if device.is_empty() { place(DEVICE) } else { place(device) };
        if devices.is_none() && !device.is_empty() {
            return Err(Stop::Refused(format!("has no column {device}, which device_tag names")));
        }
        let unit = match described.column(times).logical_type_ref() {
            Some(LogicalType::Timestamp(stated)) if time == RecordedTime::Auto => match stated.unit {
                TimeUnit::MILLIS => RecordedTime::Ms,
                TimeUnit::MICROS => RecordedTime::Us,
                TimeUnit::NANOS => RecordedTime::Ns,
            },
            _ => time,
        };
        let mut columns = Vec::new();
        for (at, name) in names.iter().enumerate() {
            columns.push(match at {
                _ if at == times => Column::Time,
                _ if Some(at) == devices => Column::Device,
                _ => signals.place(name.as_bytes()).map_err(Stop::Refused)?.map_or(Column::NotTaken, Column::Signal),
            });
        }
        Ok(Self { rows: RowIter::from_file_into(Box::new(reader)), columns, unit, reached, row: 0 })
    }

    /// The row that was read last, from 1.
    pub fn line(&self) -> u64 {
        self.row
    }

    /// How far the file was read.
    pub fn reached(&self) -> Reached {
        self.reached.clone()
    }

    /// Reads the next row; false at the end.
    pub fn next(&mut self, row: &mut Row, signals: &Signals, devices: &mut Devices) -> Result<bool, Stop> {
        let Some(read) = self.rows.next() else { return Ok(false) };
        self.row += 1;
        self.reached.set(self.row);
        let read = read.map_err(unreadable)?;
        row.clear();
        row.line = self.row;
        let (mut has_time, mut name) = (false, String::new());
        for (column, (_, field)) in self.columns.iter().zip(read.get_column_iter()) {
            match *column {
                Column::NotTaken => {}
                Column::Time => {
                    let time = time_ns(field, self.unit).map_err(|message| Fault::column("time", message))?;
                    (row.time_ns, has_time) = (time, true);
                }
                Column::Device => name = text(field).ok_or_else(|| Fault::column(DEVICE, "names no device"))?,
                Column::Signal(signal) => {
                    let column = signals.names().get(signal).map_or("", String::as_str);
                    set(field, signal, row).map_err(|message| Fault::column(column, message))?;
                }
            }
        }
        if !has_time {
            return Err(Fault::column("time", "is missing").into());
        }
        row.device = devices.named(&name)?;
        Ok(true)
    }
}

fn unreadable(error: ParquetError) -> Stop {
    Stop::Io(Error::new(ErrorKind::InvalidData, error))
}

fn time_ns(field: &Field, unit: RecordedTime) -> Result<i64, String> {
    match field {
        Field::TimestampMillis(time) => RecordedTime::Ms.whole_ns(*time),
        Field::TimestampMicros(time) => RecordedTime::Us.whole_ns(*time),
        Field::Long(time) => unit.whole_ns(*time),
        Field::Int(time) => unit.whole_ns((*time).into()),
        Field::Str(time) => unit.time_ns(time),
        Field::Null => Err("is missing".into()),
        other => Err(format!("{other} is no time")),
    }
}

/// A value that names a device.
fn text(field: &Field) -> Option<String> {
    match field {
        Field::Str(text) => Some(text.clone()),
        Field::Bytes(bytes) => std::str::from_utf8(bytes.data()).ok().map(Into::into),
        Field::Byte(_) | Field::Short(_) | Field::Int(_) | Field::Long(_) => Some(field.to_string()),
        Field::UByte(_) | Field::UShort(_) | Field::UInt(_) | Field::ULong(_) => Some(field.to_string()),
        _ => None,
    }
}

/// Sets a signal's value; nothing where there is none.
fn set(field: &Field, signal: usize, row: &mut Row) -> Result<(), String> {
    let number = |number: f64| if number.is_finite() { Ok(number) } else { Err(format!("{number} is not finite")) };
    // A column is there once in a row, so that no value is set twice.
    let _ = match field {
        Field::Null => true,
        Field::Bool(v) => row.set_i64(signal, i64::from(*v)),
        Field::Byte(v) => row.set_i64(signal, i64::from(*v)),
        Field::Short(v) => row.set_i64(signal, i64::from(*v)),
        Field::Int(v) | Field::Date(v) | Field::TimeMillis(v) => row.set_i64(signal, i64::from(*v)),
        Field::Long(v) | Field::TimeMicros(v) | Field::TimestampMillis(v) | Field::TimestampMicros(v) => {
            row.set_i64(signal, *v)
        }
        Field::UByte(v) => row.set_i64(signal, i64::from(*v)),
        Field::UShort(v) => row.set_i64(signal, i64::from(*v)),
        Field::UInt(v) => row.set_i64(signal, i64::from(*v)),
        Field::ULong(v) => {
            row.set_i64(signal, i64::try_from(*v).map_err(|_| format!("{v} is above 9223372036854775807"))?)
        }
        // As it is written in decimals, which is the same number of 32 bits.
        Field::Float(v) => row.set_f64(signal, number(v.to_string().parse().map_err(|e| format!("{v}: {e}"))?)?),
        Field::Double(v) => row.set_f64(signal, number(*v)?),
        Field::Str(text) => row.set_text(signal, |out| out.push_str(text)),
        Field::Bytes(bytes) => {
            let text = std::str::from_utf8(bytes.data()).map_err(|_| "is no UTF-8 text")?;
            row.set_text(signal, |out| out.push_str(text))
        }
        other => return Err(format!("{other} is of a type that no signal has")),
    };
    Ok(())
}
