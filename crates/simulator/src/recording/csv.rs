//! CSV: a line of names (`time`, perhaps `device`, then the signals), then a line a datapoint.

use super::{
    devices::Devices,
    error::Fault,
    lines::{Bytes, MAX_LINE_BYTES, too_long},
    plan::RecordedTime,
    row::Row,
    signals::Signals,
    stop::Stop,
};
use std::io::{self, Read};

/// What the name of a column begins with that holds a tag.
pub const TAG: &str = "tag:";

/// A file of CSV.
pub struct Csv {
    reader: csv::Reader<Bounded>,
    record: csv::ByteRecord,
    time: RecordedTime,
    has_device: bool,
    /// The tags in the columns after time and device.
    tags: Vec<String>,
    /// The cells that name a device.
    head: Vec<u8>,
    /// The signal in each column after those, and whether an empty cell is a text.
    columns: Vec<(Option<usize>, bool)>,
}

impl Csv {
    /// Reads the first line. `is_text` says of which signals an empty cell is a text.
    pub fn new(
        bytes: Bytes,
        time: RecordedTime,
        signals: &mut Signals,
        is_text: impl Fn(&str) -> bool,
    ) -> Result<Self, Stop> {
        let bounded = Bounded { bytes, left: 0 };
        let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(bounded);
        let mut record = csv::ByteRecord::new();
        reader.get_mut().left = 2 * MAX_LINE_BYTES;
        reader.read_byte_record(&mut record).map_err(stopped)?;
        if record.get(0) != Some(b"time") {
            return Err(Stop::Refused("the first column must be named time".into()));
        }
        let has_device = record.get(1) == Some(b"device");
        let mut columns = Vec::new();
        let mut tags: Vec<String> = Vec::new();
        for name in record.iter().skip(1 + usize::from(has_device)) {
            let name = std::str::from_utf8(name).map_err(|_| Stop::Refused("is no UTF-8 text".into()))?;
            if let Some(tag) = name.strip_prefix(TAG) {
                if !columns.is_empty() || !has_device || tags.iter().any(|before| before == tag) {
                    let message = format!("{name:?} must stand once, behind device and before the signals");
                    return Err(Stop::Refused(message));
                }
                tags.push(tag.into());
                continue;
            }
            signals.add(name, name.into()).map_err(Stop::Refused)?;
            columns.push((signals.place(name.as_bytes()).map_err(Stop::Refused)?, is_text(name)));
        }
        Ok(Self { reader, record, time, has_device, tags, head: Vec::new(), columns })
    }

    /// The line that was read last.
    pub fn line(&self) -> u64 {
        self.record.position().map_or(1, csv::Position::line)
    }

    /// Reads the next row; false at the end.
    pub fn next(&mut self, row: &mut Row, signals: &Signals, devices: &mut Devices) -> Result<bool, Stop> {
        // It reads ahead, a buffer at a time.
        self.reader.get_mut().left = 2 * MAX_LINE_BYTES;
        if !self.reader.read_byte_record(&mut self.record).map_err(stopped)? {
            return Ok(false);
        }
        row.clear();
        row.line = self.line();
        let (has, should) =
            (self.record.len(), 1 + usize::from(self.has_device) + self.tags.len() + self.columns.len());
        if has != should {
            return Err(Fault::line(format!("has {has} cells, the first line {should}")).into());
        }
        let text = |place: usize| {
            let cell = self.record.get(place).unwrap_or_default();
            std::str::from_utf8(cell).map_err(|_| Fault::line("is no UTF-8 text"))
        };
        row.time_ns = self.time.time_ns(text(0)?).map_err(|message| Fault::column("time", message))?;
        row.device = if self.tags.is_empty() {
            devices.named(if self.has_device { text(1)? } else { "" })?
        } else {
            self.head.clear();
            for cell in self.record.iter().skip(1).take(1 + self.tags.len()) {
                self.head.extend_from_slice(cell);
                self.head.push(0);
            }
            match devices.known(&self.head).flatten() {
                Some(device) => device,
                None => {
                    let pairs =
                        self.tags.iter().zip(2..).map(|(tag, place)| Ok((tag.clone(), text(place)?.to_owned())));
                    let pairs: Result<Vec<_>, Fault> = pairs.collect();
                    let mut pairs = pairs?;
                    pairs.retain(|(_, value)| !value.is_empty());
                    let device = devices.with_tags(text(1)?, pairs, ("line", row.line))?;
                    devices.keep(&self.head, Some(device))?;
                    device
                }
            }
        };
        for (place, &(signal, empty_is_text)) in (has - self.columns.len()..).zip(&self.columns) {
            let Some(signal) = signal else { continue };
            let cell = text(place)?;
            if cell.is_empty() && !empty_is_text {
                let name = signals.names().get(signal).map_or("", String::as_str);
                return Err(Fault::column(name, "is empty: every datapoint needs a value").into());
            }
            row.set_word(signal, cell, empty_is_text);
        }
        Ok(true)
    }
}

fn stopped(error: csv::Error) -> Stop {
    let message = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Stop::Io(error),
        _ => Stop::Fault(Fault::line(message)),
    }
}

/// Bytes of which only so many are read for one line: one whose quote is not closed goes on to the end of the file.
struct Bounded {
    bytes: Bytes,
    left: u64,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(too_long)?;
        Ok(read)
    }
}
