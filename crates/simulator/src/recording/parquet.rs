//! Parquet: a flat table with a column of times, perhaps one of devices, columns of tags, and the signals.
//! Rows are read group by group, page by page.

use super::{
    csv::TAG, devices::Devices, error::Fault, lines::Reached, plan::RecordedTime, row::Row, signals::Signals,
    stop::Stop,
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
    /// The tags of the columns that hold one.
    tags: Vec<String>,
    /// The values of the row at hand that say of which device it is and of which tags.
    head: Vec<u8>,
    unit: RecordedTime,
    reached: Reached,
    row: u64,
}

/// What a column holds.
#[derive(Clone, Copy, Debug)]
enum Column {
    Time,
    Device,
    Tag,
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
        let (mut columns, mut tags) = (Vec::new(), Vec::<String>::new());
        for (at, name) in names.iter().enumerate() {
            columns.push(match at {
                _ if at == times => Column::Time,
                _ if Some(at) == devices => Column::Device,
                _ if name.starts_with(TAG) => {
                    let tag = name.strip_prefix(TAG).unwrap_or_default();
                    if devices.is_none() || tags.iter().any(|before| before == tag) {
                        let message = format!("{name:?} must be there once, beside a column that names the device");
                        return Err(Stop::Refused(message));
                    }
                    tags.push(tag.into());
                    Column::Tag
                }
                _ => signals.place(name.as_bytes()).map_err(Stop::Refused)?.map_or(Column::NotTaken, Column::Signal),
            });
        }
        let rows = RowIter::from_file_into(Box::new(reader));
        Ok(Self { rows, columns, tags, head: Vec::new(), unit, reached, row: 0 })
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
        self.head.clear();
        let mut values = Vec::with_capacity(self.tags.len());
        for (column, (_, field)) in self.columns.iter().zip(read.get_column_iter()) {
            match *column {
                Column::NotTaken => {}
                Column::Time => {
                    let time = time_ns(field, self.unit).map_err(|message| Fault::column("time", message))?;
                    (row.time_ns, has_time) = (time, true);
                }
                Column::Device => name = text(field).ok_or_else(|| Fault::column(DEVICE, "names no device"))?,
                Column::Tag => {
                    let tag = self.tags.get(values.len()).map_or("", String::as_str);
                    let value = tag_value(field).map_err(|message| Fault::column(&format!("{TAG}{tag}"), message))?;
                    self.head.extend_from_slice(value.as_bytes());
                    self.head.push(0);
                    values.push(value);
                }
                Column::Signal(signal) => {
                    let column = signals.names().get(signal).map_or("", String::as_str);
                    set(field, signal, row).map_err(|message| Fault::column(column, message))?;
                }
            }
        }
        if !has_time {
            return Err(Fault::column("time", "is missing").into());
        }
        row.device = if values.is_empty() { devices.named(&name)? } else { self.tagged(&name, values, devices)? };
        Ok(true)
    }

    /// The device of this name and these values of tags; an empty one is no tag.
    fn tagged(&mut self, name: &str, values: Vec<String>, devices: &mut Devices) -> Result<u32, Stop> {
        self.head.extend_from_slice(name.as_bytes());
        if let Some(device) = devices.known(&self.head).flatten() {
            return Ok(device);
        }
        let pairs = self.tags.iter().cloned().zip(values).filter(|(_, value)| !value.is_empty());
        let device = devices.with_tags(name, pairs.collect(), ("row", self.row))?;
        devices.keep(&self.head, Some(device))?;
        Ok(device)
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

/// The value of a tag; empty where there is none.
fn tag_value(field: &Field) -> Result<String, String> {
    match field {
        Field::Null => Ok(String::new()),
        Field::Bool(v) => Ok(v.to_string()),
        Field::Float(v) => Ok(v.to_string()),
        Field::Double(v) => Ok(v.to_string()),
        other => text(other).ok_or_else(|| format!("{other} is of a type that no tag has")),
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

#[cfg(test)]
mod tests;
