//! Batches as text: CSV, JSON lines and `InfluxDB`'s line protocol.

mod csv;
mod influx;
mod json;

use crate::Dataset;
use iotbench_core::{Batch, TagType, Tags, closest};
use std::{str::FromStr, sync::Arc};

/// A text format for datapoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// RFC 4180: a line of names, then a line a datapoint, which the dataset `replay` reads.
    Csv,
    /// One JSON object a line.
    Json,
    /// `InfluxDB`'s line protocol.
    Influx,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Csv, Self::Json, Self::Influx];

    /// The word on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Influx => "influx",
        }
    }
}

/// A format that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no format {name:?}{}; known: csv, json, influx", suggestion.map(|s| format!(" (did you mean {s}?)")).unwrap_or_default())]
pub struct UnknownFormat {
    /// What was asked for.
    pub name: String,
    /// What was probably meant.
    pub suggestion: Option<&'static str>,
}

impl FromStr for Format {
    type Err = UnknownFormat;
    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|f| f.name() == name)
            .ok_or_else(|| UnknownFormat { name: name.into(), suggestion: closest(name, Self::ALL.map(Self::name)) })
    }
}

/// Appends batches as text to a buffer. Times are whole nanoseconds since the Unix epoch; every line names its
/// device; the buffer apart, nothing is allocated per datapoint.
#[derive(Debug)]
pub struct Encoder {
    dataset: Arc<dyn Dataset>,
    /// The name of the device at hand.
    device: String,
    tags: Tags,
    /// The tags of the device at hand, as they stand behind its name.
    of_device: Vec<u8>,
    lines: Lines,
}

/// How one line is written.
#[derive(Debug)]
enum Lines {
    Csv(csv::CsvLines),
    Json(json::JsonLines),
    Influx(influx::InfluxLines),
}

impl Encoder {
    /// An encoder for batches of a dataset. `name` is the measurement in the line protocol.
    #[must_use]
    pub fn new(format: Format, name: &str, dataset: Arc<dyn Dataset>) -> Self {
        let schema = dataset.schema();
        let lines = match format {
            Format::Csv => Lines::Csv(csv::CsvLines::new(schema)),
            Format::Json => Lines::Json(json::JsonLines::new(schema)),
            Format::Influx => Lines::Influx(influx::InfluxLines::new(name, schema)),
        };
        Self { dataset, device: String::new(), tags: Tags::default(), of_device: Vec::new(), lines }
    }

    /// The same with the tags of its devices: columns `tag:NAME` behind the device in CSV, an object `tags` in JSON, where those of a type
    /// are of it. In line protocol each is a tag, and so a text.
    #[must_use]
    pub fn with_tags(self, tags: Tags) -> Self {
        Self { tags, ..self }
    }

    /// Appends what stands once before all datapoints: the names in CSV, nothing elsewhere.
    pub fn header(&self, out: &mut Vec<u8>) {
        if let Lines::Csv(lines) = &self.lines {
            lines.header(&self.tags, out);
        }
    }

    /// Appends all datapoints of a batch.
    pub fn encode(&mut self, batch: &Batch, out: &mut Vec<u8>) {
        for part in batch.tagged_rows(&self.tags) {
            self.device.clear();
            self.dataset.device_name(part.run.device, &mut self.device);
            self.of_device.clear();
            for (place, (tag, value)) in self.tags.at(part.run.device, part.run.first).enumerate() {
                let is_text = tag.values.tag_type() == TagType::Text;
                let (before, between, after) = match &self.lines {
                    Lines::Csv(_) => (",", "", ""),
                    Lines::Json(_) => {
                        let (between, after) = if is_text { ("\":\"", "\"") } else { ("\":", "") };
                        (if place == 0 { ",\"tags\":{\"" } else { ",\"" }, between, after)
                    }
                    Lines::Influx(_) => (",", "=", ""),
                };
                let name = if matches!(self.lines, Lines::Csv(_)) { "" } else { tag.name.as_str() };
                // Of names and values none needs an escape.
                [before, name, between].iter().for_each(|text| self.of_device.extend_from_slice(text.as_bytes()));
                value.push(&mut self.of_device);
                self.of_device.extend_from_slice(after.as_bytes());
            }
            if matches!(self.lines, Lines::Json(_)) && !self.of_device.is_empty() {
                self.of_device.push(b'}');
            }
            let device = (self.device.as_str(), self.of_device.as_slice());
            match &mut self.lines {
                Lines::Csv(lines) => lines.encode(device, batch, part.rows, out),
                Lines::Json(lines) => lines.encode(device, batch, part.rows, out),
                Lines::Influx(lines) => lines.encode(device, batch, part.rows, out),
            }
        }
    }
}

fn push_integer(value: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// The shortest digits that give the number back.
fn push_float(value: impl zmij::Float, out: &mut Vec<u8>) {
    out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
}
