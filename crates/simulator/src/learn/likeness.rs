//! How alike generated data are to a recording.

use super::{
    generated::Generated,
    reservoir::{distance, sorted},
    sketch::{Sketch, Sketches},
    timing::Times,
};
use crate::{Dataset, recording::Row};
use flate2::{Compression, write::DeflateEncoder};
use iotbench_core::{Batch, Run, Schema, Value};
use std::io::{self, Write};

/// Rows whose compressed sizes are compared.
const MAX_COMPRESSED: usize = 100_000;
/// Distances up to this are alike.
const ALIKE: f64 = 0.05;
/// Compressed sizes within this factor are alike.
const ALIKE_SIZE: f64 = 1.1;

/// How alike generated data are to a recording.
#[derive(Clone, Debug)]
pub struct Likeness {
    /// For each signal its name and the distance of Kolmogorov and Smirnov between recorded and generated values; of texts, between
    /// their lengths.
    pub signals: Vec<(String, f64)>,
    /// The same between the times from one datapoint of a device to its next.
    pub between_datapoints: f64,
    /// The compressed size of recorded rows beside that of as many generated ones.
    pub compressed: f64,
}

impl Likeness {
    /// What is not alike, in words.
    pub fn unlike(&self) -> Vec<String> {
        let far = self.signals.iter().filter(|(_, distance)| *distance > ALIKE);
        let far: Vec<String> = far.map(|(name, distance)| format!("{name} {distance:.3}")).collect();
        let mut unlike = Vec::new();
        if !far.is_empty() {
            unlike.push(format!("values are distributed otherwise; KS distance: {}", far.join(", ")));
        }
        if self.between_datapoints > ALIKE {
            let distance = self.between_datapoints;
            unlike.push(format!("times between datapoints are distributed otherwise, KS distance {distance:.3}"));
        }
        if !(1.0 / ALIKE_SIZE..=ALIKE_SIZE).contains(&self.compressed) {
            unlike.push(format!(
                "recorded rows take {:.2} times as much as generated ones when compressed",
                self.compressed
            ));
        }
        unlike
    }
}

/// The first rows of a recording: how much they are compressed, and whose they are.
pub struct Rows {
    devices: Vec<u32>,
    compressed: Compressed,
}

impl Rows {
    /// None yet.
    pub fn new() -> Self {
        Self { devices: Vec::new(), compressed: Compressed::new() }
    }

    /// Takes a row, in which there is a value for each signal, unless there were many.
    pub fn take(&mut self, row: &Row, schema: &Schema) {
        if self.devices.len() == MAX_COMPRESSED {
            return;
        }
        self.devices.push(row.device);
        let signals = schema.signals().iter().enumerate();
        let values = signals.filter_map(|(place, signal)| row.value(place, &signal.name, signal.value_type).ok());
        self.compressed.row(row.device, row.time_ns, values);
    }
}

/// Rows as a line of text each, of which only the compressed size is kept.
struct Compressed {
    encoder: DeflateEncoder<Counted>,
    line: Vec<u8>,
}

#[derive(Default)]
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Compressed {
    fn new() -> Self {
        Self { encoder: DeflateEncoder::new(Counted::default(), Compression::default()), line: Vec::new() }
    }

    fn row<'a>(&mut self, device: u32, time_ns: i64, values: impl Iterator<Item = Value<'a>>) {
        let line = &mut self.line;
        line.clear();
        line.extend_from_slice(itoa::Buffer::new().format(device).as_bytes());
        line.push(b',');
        line.extend_from_slice(itoa::Buffer::new().format(time_ns).as_bytes());
        for value in values {
            line.push(b',');
            match value {
                Value::F32(v) => line.extend_from_slice(zmij::Buffer::new().format_finite(v).as_bytes()),
                Value::F64(v) => line.extend_from_slice(zmij::Buffer::new().format_finite(v).as_bytes()),
                Value::I64(v) => line.extend_from_slice(itoa::Buffer::new().format(v).as_bytes()),
                Value::U16(v) => line.extend_from_slice(itoa::Buffer::new().format(v).as_bytes()),
                Value::Text(text) => line.extend_from_slice(text.as_bytes()),
            }
        }
        line.push(b'\n');
        // Into memory, where nothing fails.
        let _ = self.encoder.write_all(line);
    }

    fn size_bytes(&mut self) -> u64 {
        let _ = self.encoder.try_finish();
        self.encoder.get_ref().0
    }
}

/// Holds what a dataset generates against what was recorded.
pub fn likeness(dataset: &dyn Dataset, sketches: &Sketches, times: &Times, rows: &mut Rows) -> Likeness {
    let as_long = Generated::of_devices(dataset, &sketches.rows().collect::<Vec<u64>>());
    let of_many = Generated::of_many_devices(dataset, sketches.rows().sum());
    let generated = as_long.values.iter().zip(&of_many.values);
    let distances = sketches.each().zip(generated).map(|((signal, sketch), (as_long, of_many))| {
        let far = match sketch {
            // What grows is compared over the same time.
            Sketch::Numbers(numbers) if sketch.grows() => distance(&numbers.sorted(), &sorted(as_long)),
            Sketch::Numbers(numbers) => distance(&numbers.sorted(), &sorted(of_many)),
            Sketch::Texts(texts) => distance(&texts.lengths(), &sorted(of_many)),
        };
        (signal.name.clone(), far)
    });
    Likeness {
        signals: distances.collect(),
        between_datapoints: distance(&times.between_ns(), &sorted(&as_long.between_ns)),
        compressed: compressed(dataset, rows),
    }
}

/// The compressed size of recorded rows beside that of generated ones, of the same devices in the same order.
#[expect(clippy::cast_precision_loss, reason = "sizes")]
fn compressed(dataset: &dyn Dataset, rows: &mut Rows) -> f64 {
    let mut generated = Compressed::new();
    let (mut batch, mut runs) = (Batch::new(dataset.schema()), Vec::new());
    let mut positions = vec![0_u64; rows.devices.iter().max().map_or(0, |&device| device as usize + 1)];
    for &device in &rows.devices {
        let position = &mut positions[device as usize];
        runs.clear();
        batch.clear();
        dataset.sending_order(device, *position, 1, &mut runs);
        *position += 1;
        runs.iter().for_each(|&run: &Run| dataset.fill(run, &mut batch));
        let values = (0..batch.columns().len()).filter_map(|signal| batch.value(signal, 0));
        generated.row(device, batch.timestamps_ns().first().copied().unwrap_or(0), values);
    }
    rows.compressed.size_bytes() as f64 / generated.size_bytes().max(1) as f64
}
