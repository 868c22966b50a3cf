//! The rows of a file in any form, one at a time.

#[cfg(feature = "parquet")]
use super::parquet::Parquet;
use super::{
    csv::Csv,
    devices::Devices,
    error::{Fault, RecordingError},
    line_protocol::LineProtocol,
    lines::{self, Bytes, Lines, Reached},
    plan::{Broken, RecordingForm, RecordingPlan},
    row::Row,
    signals::Signals,
    stop::Stop,
    tsbs::Tsbs,
};
use iotbench_core::ValueType;
use std::{io::BufRead, path::Path};

/// Looked at to know a file's form.
const FIRST_BYTES: usize = 4096;

/// A file that is being read.
pub struct RowReader {
    file: String,
    form: Form,
    /// The columns so far.
    pub signals: Signals,
    /// The devices so far.
    pub devices: Devices,
    /// How far it was read.
    pub reached: Reached,
    broken: Broken,
    skipped: u64,
    /// The first line that was skipped, and why.
    first_skipped: Option<String>,
    memory_bytes: u64,
}

enum Form {
    Csv(Box<Csv>),
    LineProtocol(LineProtocol),
    Tsbs(Tsbs),
    #[cfg(feature = "parquet")]
    Parquet(Box<Parquet>),
}

impl RowReader {
    /// Opens a file; `signals` are those that are taken, empty: all.
    ///
    /// # Errors
    /// It cannot be read, or does not begin as its form has it.
    pub fn open(plan: &RecordingPlan<'_>, signals: &[String]) -> Result<Self, RecordingError> {
        let file = plan.path.display().to_string();
        let (mut bytes, reached) =
            lines::open(plan.path).map_err(|source| RecordingError::Read { file: file.clone(), source })?;
        let form = match plan.form {
            RecordingForm::Auto => {
                let first = bytes.fill_buf().map_err(|source| RecordingError::Read { file: file.clone(), source })?;
                form_of(first, plan.path)
            }
            form => form,
        };
        let mut signals = Signals::new(signals);
        let form = Form::new(form, bytes, plan, &mut signals).map_err(|(line, stop)| match stop {
            Stop::Io(source) => RecordingError::Read { file: file.clone(), source },
            Stop::Refused(message) | Stop::Fault(Fault { message, .. }) => {
                RecordingError::Header { file: file.clone(), line, message }
            }
            Stop::TooMany(too_many) => too_large(&file, too_many.taken_bytes, plan.memory_bytes),
        })?;
        let reached = form.reached().unwrap_or(reached);
        let devices = Devices::new(plan.device_tag, plan.memory_bytes);
        let (broken, memory_bytes) = (plan.broken, plan.memory_bytes);
        Ok(Self { file, form, signals, devices, reached, broken, skipped: 0, first_skipped: None, memory_bytes })
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Reads the next row that is whole; false at the end.
    ///
    /// # Errors
    /// The file cannot be read on, or a line is broken and such are not skipped.
    #[inline]
    pub fn next(&mut self, row: &mut Row) -> Result<bool, RecordingError> {
        loop {
            let (signals, devices) = (&mut self.signals, &mut self.devices);
            let read = match &mut self.form {
                Form::Csv(csv) => csv.next(row, signals, devices),
                Form::LineProtocol(lines) => lines.next(row, signals, devices),
                Form::Tsbs(tsbs) => tsbs.next(row, devices),
                #[cfg(feature = "parquet")]
                Form::Parquet(table) => table.next(row, signals, devices),
            };
            match read {
                Ok(more) => return Ok(more),
                Err(stop) => self.stopped(stop)?,
            }
        }
    }

    fn stopped(&mut self, stop: Stop) -> Result<(), RecordingError> {
        let (file, line) = (self.file.clone(), self.line());
        match stop {
            Stop::Fault(fault) => self.fault(line, fault),
            Stop::Refused(message) => Err(RecordingError::Header { file, line, message }),
            Stop::Io(error) => {
                Err(RecordingError::Line { file, line, column: String::new(), message: error.to_string() })
            }
            Stop::TooMany(too_many) => Err(too_large(&file, too_many.taken_bytes, self.memory_bytes)),
        }
    }

    fn line(&self) -> u64 {
        match &self.form {
            Form::Csv(csv) => csv.line(),
            Form::LineProtocol(lines) => lines.line(),
            Form::Tsbs(tsbs) => tsbs.line(),
            #[cfg(feature = "parquet")]
            Form::Parquet(table) => table.line(),
        }
    }

    /// A line is broken: counts it where such are skipped.
    ///
    /// # Errors
    /// They are not.
    pub fn fault(&mut self, line: u64, fault: Fault) -> Result<(), RecordingError> {
        let Fault { column, message } = fault;
        let error = RecordingError::Line { file: self.file.clone(), line, column, message };
        if self.broken == Broken::Stop {
            return Err(error);
        }
        self.skipped += 1;
        self.first_skipped.get_or_insert_with(|| error.to_string());
        Ok(())
    }

    /// How many broken lines were skipped so far.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The first of them, and why.
    pub fn first_skipped(&self) -> Option<&str> {
        self.first_skipped.as_deref()
    }

    /// The datapoints take more memory than they may.
    ///
    /// # Errors
    /// They do.
    pub fn check_memory(&self, needed_bytes: u64) -> Result<(), RecordingError> {
        if needed_bytes > self.memory_bytes {
            return Err(too_large(&self.file, needed_bytes, self.memory_bytes));
        }
        Ok(())
    }
}

impl Form {
    fn new(
        form: RecordingForm,
        bytes: Bytes,
        plan: &RecordingPlan<'_>,
        signals: &mut Signals,
    ) -> Result<Self, (u64, Stop)> {
        match form {
            RecordingForm::LineProtocol => {
                Ok(Self::LineProtocol(LineProtocol::new(Lines::new(bytes), plan.time, plan.measurement)))
            }
            RecordingForm::Tsbs => Tsbs::new(Lines::new(bytes), plan.time, plan.measurement, signals).map(Self::Tsbs),
            #[cfg(feature = "parquet")]
            RecordingForm::Parquet => {
                let table = Parquet::open(plan.path, plan.time, plan.device_tag, signals);
                table.map(|table| Self::Parquet(Box::new(table))).map_err(|stop| (1, stop))
            }
            #[cfg(not(feature = "parquet"))]
            RecordingForm::Parquet => Err((
                1,
                Stop::Refused("is Parquet, which this program was made without: the feature parquet reads it".into()),
            )),
            RecordingForm::Csv | RecordingForm::Auto => {
                let is_text = |name: &str| plan.types.get(name) == Some(&ValueType::Text);
                Csv::new(bytes, plan.time, signals, is_text)
                    .map(|csv| Self::Csv(Box::new(csv)))
                    .map_err(|stop| (1, stop))
            }
        }
    }
}

impl Form {
    /// How far a file was read that is not read as a stream.
    fn reached(&self) -> Option<Reached> {
        match self {
            Self::Csv(_) | Self::LineProtocol(_) | Self::Tsbs(_) => None,
            #[cfg(feature = "parquet")]
            Self::Parquet(table) => Some(table.reached()),
        }
    }
}

fn too_large(file: &str, needed_bytes: u64, limit_bytes: u64) -> RecordingError {
    RecordingError::TooLarge { file: file.into(), needed_bytes, limit_bytes }
}

/// The form that a file's first bytes and its name suggest; CSV where they suggest nothing, whose error says what a first
/// line of it is.
fn form_of(first: &[u8], path: &Path) -> RecordingForm {
    let first = &first[..first.len().min(FIRST_BYTES)];
    let mut lines = first.split(|&byte| byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let line = lines.next().unwrap_or_default();
    let name = path.to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if first.starts_with(b"PAR1") {
        RecordingForm::Parquet
    } else if line.starts_with(b"tags,") && !line.contains(&b'=') {
        RecordingForm::Tsbs
    } else if line == b"time" || line.starts_with(b"time,") || ends(&[".csv"]) {
        RecordingForm::Csv
    } else if ends(&[".lp", ".line", ".influx"]) || (line.contains(&b'=') && line.contains(&b' ')) {
        RecordingForm::LineProtocol
    } else {
        RecordingForm::Csv
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_known_by_its_first_line_then_by_the_name() {
        for (first, name, expected) in [
            ("time,a\n1,2\n", "x", RecordingForm::Csv),
            ("a,time\n", "x.csv", RecordingForm::Csv),
            ("a,time\n", "x", RecordingForm::Csv),
            ("tags,hostname string\ncpu,a\n", "x.csv.gz", RecordingForm::Tsbs),
            ("tags,hostname=a b=1 2\n", "x", RecordingForm::LineProtocol),
            ("# c\n\ncpu a=1 2\n", "x", RecordingForm::LineProtocol),
            ("", "x.lp.gz", RecordingForm::LineProtocol),
            ("PAR1\u{15}\0", "x.csv", RecordingForm::Parquet),
        ] {
            assert_eq!(form_of(first.as_bytes(), Path::new(name)), expected, "{first:?} {name}");
        }
    }
}
