//! Recordings in CSV files: a line of names (`time`, perhaps `device`, then the signals), then a line a datapoint.

use crate::text_file::open_regular;
use iotbench_core::{Column, Schema, SchemaError, Signal, Value, ValueType, closest};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    path::Path,
};

/// Larger files are refused, since a recording is held in memory.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Read {
        /// Which file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no CSV.
    #[error("{file}: {source}")]
    Csv {
        /// Which file.
        file: String,
        /// Where and why.
        source: csv::Error,
    },
    /// The file is larger than what is held in memory.
    #[error("{file}: has {size_bytes} bytes, at most {MAX_FILE_BYTES} can be replayed: split it")]
    TooLarge {
        /// Which file.
        file: String,
        /// Its size.
        size_bytes: u64,
    },
    /// The first line does not name the columns as it should.
    #[error("{file}: line 1: {message}")]
    Header {
        /// Which file.
        file: String,
        /// What is wrong.
        message: String,
    },
    /// A cell does not hold what it should.
    #[error("{file}: line {line}, column {column}: {message}")]
    Cell {
        /// Which file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The column's name.
        column: String,
        /// What is wrong.
        message: String,
    },
    /// The file holds no datapoint.
    #[error("{file}: holds no datapoint")]
    Empty {
        /// Which file.
        file: String,
    },
}

/// In which unit a recording states its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordedTime {
    /// RFC 3339, or a whole number of nanoseconds since the Unix epoch.
    #[default]
    Auto,
    /// RFC 3339.
    Rfc3339,
    /// Nanoseconds since the Unix epoch.
    Ns,
    /// Microseconds since the Unix epoch.
    Us,
    /// Milliseconds since the Unix epoch.
    Ms,
    /// Seconds since the Unix epoch.
    S,
}

/// How a file is to be read.
#[derive(Clone, Debug)]
pub struct RecordingPlan<'a> {
    /// The file.
    pub path: &'a Path,
    /// The unit of its times.
    pub time: RecordedTime,
    /// Types of signals; those not given are inferred: `i64` if every cell is a whole number, `f64` if every cell is a
    /// number, else text.
    pub types: &'a BTreeMap<String, ValueType>,
}

/// Datapoints as recorded.
#[derive(Debug)]
pub struct Recording {
    /// The signals.
    pub schema: Schema,
    /// The devices in the order in which the file names them first.
    pub devices: Vec<RecordedDevice>,
}

/// One device's datapoints.
#[derive(Debug)]
pub struct RecordedDevice {
    /// Its name; empty where the file has no column `device`.
    pub name: String,
    /// Rising strictly.
    pub timestamps_ns: Vec<i64>,
    /// One a signal.
    pub columns: Vec<Column>,
}

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// A file that cannot be read, a cell that does not fit, times of a device that do not rise; with file, line and
    /// column.
    pub fn read(plan: &RecordingPlan<'_>) -> Result<Self, RecordingError> {
        let mut lines = Lines::open(plan)?;
        let types = lines.types(plan.types)?;
        let schema = lines.schema(&types, |_| 0)?;
        let mut recording = Self { schema, devices: Vec::new() };
        let mut places: HashMap<String, usize> = HashMap::new();
        Lines::open(plan)?.each(|lines, line| {
            let name = if lines.has_device { line.get(1).unwrap_or_default() } else { "" };
            let place = match places.get(name) {
                Some(&place) => place,
                None => {
                    places.insert(name.into(), recording.devices.len());
                    recording.devices.push(RecordedDevice::new(name, &recording.schema));
                    recording.devices.len() - 1
                }
            };
            recording.devices[place].push(lines, line, plan.time)
        })?;
        if recording.devices.is_empty() {
            return Err(RecordingError::Empty { file: lines.file });
        }
        recording.schema = lines.schema(&types, |signal| recording.longest_text_bytes(signal))?;
        Ok(recording)
    }
}

impl Recording {
    /// The length of a signal's longest text; 0 for numbers.
    fn longest_text_bytes(&self, signal: usize) -> u32 {
        let columns = self.devices.iter().filter_map(|d| d.columns.get(signal));
        let lengths = columns.flat_map(|column| match column {
            Column::Text(texts) => (0..texts.len()).filter_map(|row| texts.get(row)).map(str::len).max(),
            _ => None,
        });
        u32::try_from(lengths.max().unwrap_or(0)).unwrap_or(u32::MAX)
    }
}

impl RecordedDevice {
    fn new(name: &str, schema: &Schema) -> Self {
        let columns = schema.signals().iter().map(|s| Column::new(s.value_type)).collect();
        Self { name: name.into(), timestamps_ns: Vec::new(), columns }
    }

    fn push(&mut self, lines: &Lines, line: &csv::StringRecord, unit: RecordedTime) -> Result<(), RecordingError> {
        let cell = line.get(0).unwrap_or_default();
        let time_ns = time_ns(cell, unit).map_err(|message| lines.cell_error(line, 0, message))?;
        if self.timestamps_ns.last().is_some_and(|&last| last >= time_ns) {
            let message = format!("{cell} is not after the device's time before it: sort the file by time");
            return Err(lines.cell_error(line, 0, message));
        }
        self.timestamps_ns.push(time_ns);
        for (place, column) in (lines.first_signal()..).zip(&mut self.columns) {
            let cell = line.get(place).unwrap_or_default();
            let value = parsed(cell, column.value_type()).map_err(|m| lines.cell_error(line, place, m))?;
            if !column.push(value) {
                return Err(lines.cell_error(line, place, "is of another type".into()));
            }
        }
        Ok(())
    }
}

/// A file being read.
struct Lines {
    file: String,
    names: Vec<String>,
    has_device: bool,
    reader: csv::Reader<File>,
}

impl Lines {
    fn open(plan: &RecordingPlan<'_>) -> Result<Self, RecordingError> {
        let file = plan.path.display().to_string();
        let read = |source| RecordingError::Read { file: file.clone(), source };
        let recording = open_regular(plan.path).map_err(read)?;
        let size_bytes = recording.metadata().map_err(read)?.len();
        if size_bytes > MAX_FILE_BYTES {
            return Err(RecordingError::TooLarge { file, size_bytes });
        }
        let mut reader = csv::Reader::from_reader(recording);
        let header = reader.headers().map_err(|source| RecordingError::Csv { file: file.clone(), source })?;
        let names: Vec<String> = header.iter().map(Into::into).collect();
        if names.first().map(String::as_str) != Some("time") {
            return Err(RecordingError::Header { file, message: "the first column must be named time".into() });
        }
        let has_device = names.get(1).is_some_and(|name| name == "device");
        Ok(Self { file, names, has_device, reader })
    }

    fn first_signal(&self) -> usize {
        1 + usize::from(self.has_device)
    }

    fn signal_names(&self) -> &[String] {
        self.names.get(self.first_signal()..).unwrap_or_default()
    }

    fn each(
        mut self,
        mut take: impl FnMut(&Self, &csv::StringRecord) -> Result<(), RecordingError>,
    ) -> Result<(), RecordingError> {
        let mut line = csv::StringRecord::new();
        loop {
            match self.reader.read_record(&mut line) {
                Ok(true) => take(&self, &line)?,
                Ok(false) => return Ok(()),
                Err(source) => return Err(RecordingError::Csv { file: self.file, source }),
            }
        }
    }

    /// The given types, and those that the cells suggest for all others.
    fn types(&mut self, given: &BTreeMap<String, ValueType>) -> Result<Vec<ValueType>, RecordingError> {
        let names = self.signal_names();
        if let Some(unknown) = given.keys().find(|key| !names.contains(key)) {
            let meant = closest(unknown, names.iter().map(String::as_str)).map(|m| format!(" (did you mean {m}?)"));
            let message = format!("has no column {unknown:?} to give a type to{}", meant.unwrap_or_default());
            return Err(RecordingError::Header { file: self.file.clone(), message });
        }
        let mut types: Vec<ValueType> =
            names.iter().map(|name| given.get(name).copied().unwrap_or(ValueType::I64)).collect();
        let open: Vec<usize> = (0..names.len()).filter(|&i| !given.contains_key(&names[i])).collect();
        let mut line = csv::StringRecord::new();
        let csv = |source| RecordingError::Csv { file: self.file.clone(), source };
        while !open.is_empty() && self.reader.read_record(&mut line).map_err(csv)? {
            for &signal in &open {
                let place = 1 + usize::from(self.has_device) + signal;
                let cell = line.get(place).unwrap_or_default();
                if cell.is_empty() {
                    return Err(self.cell_error(&line, place, "is empty: every datapoint needs a value".into()));
                }
                types[signal] = widened(types[signal], cell);
            }
        }
        Ok(types)
    }

    fn schema(&self, types: &[ValueType], longest_text_bytes: impl Fn(usize) -> u32) -> Result<Schema, RecordingError> {
        let signals = self.signal_names().iter().zip(types).enumerate().map(|(place, (name, &value_type))| Signal {
            name: name.clone(),
            value_type,
            max_text_bytes: longest_text_bytes(place),
        });
        Schema::new(signals.collect())
            .map_err(|e: SchemaError| RecordingError::Header { file: self.file.clone(), message: e.to_string() })
    }

    fn cell_error(&self, line: &csv::StringRecord, place: usize, message: String) -> RecordingError {
        RecordingError::Cell {
            file: self.file.clone(),
            line: line.position().map_or(0, csv::Position::line),
            column: self.names.get(place).cloned().unwrap_or_default(),
            message,
        }
    }
}

/// The narrowest type that holds what was there before and this cell.
fn widened(so_far: ValueType, cell: &str) -> ValueType {
    match so_far {
        ValueType::I64 if cell.parse::<i64>().is_ok() => ValueType::I64,
        ValueType::I64 | ValueType::F64 if cell.parse::<f64>().is_ok_and(f64::is_finite) => ValueType::F64,
        _ => ValueType::Text,
    }
}

fn parsed(cell: &str, value_type: ValueType) -> Result<Value<'_>, String> {
    let finite = |v: f64| if v.is_finite() { Ok(v) } else { Err(format!("{cell:?} is not finite")) };
    match value_type {
        ValueType::F32 => {
            let value = cell.parse::<f32>().map_err(|e| format!("{cell:?}: {e}"))?;
            finite(value.into()).map(|_| Value::F32(value))
        }
        ValueType::F64 => cell.parse().map_err(|e| format!("{cell:?}: {e}")).and_then(finite).map(Value::F64),
        ValueType::I64 => cell.parse().map(Value::I64).map_err(|e| format!("{cell:?}: {e}")),
        ValueType::U16 => cell.parse().map(Value::U16).map_err(|e| format!("{cell:?}: {e}")),
        ValueType::Text => Ok(Value::Text(cell)),
    }
}

fn time_ns(cell: &str, unit: RecordedTime) -> Result<i64, String> {
    let unit_ns = match unit {
        RecordedTime::Auto if cell.parse::<i64>().is_ok() => 1,
        RecordedTime::Auto | RecordedTime::Rfc3339 => {
            let time: jiff::Timestamp = cell.parse().map_err(|e| format!("{cell:?} is no time of RFC 3339: {e}"))?;
            return i64::try_from(time.as_nanosecond()).map_err(|_| format!("{cell} is outside 1677 to 2262"));
        }
        RecordedTime::Ns => 1,
        RecordedTime::Us => 1_000,
        RecordedTime::Ms => 1_000_000,
        RecordedTime::S => 1_000_000_000,
    };
    let units: i64 = cell.parse().map_err(|e| format!("{cell:?} is no whole number: {e}"))?;
    units.checked_mul(unit_ns).ok_or_else(|| format!("{cell} is outside 1677 to 2262"))
}
