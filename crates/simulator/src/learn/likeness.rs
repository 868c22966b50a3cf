//! How alike generated data are to a recording.

use super::{
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
/// Rows that are generated to compare their values.
const MAX_GENERATED: u64 = 1 << 16;
/// Generated of one device in a row.
const STRETCH: u64 = 64;
/// From the first datapoint of a stretch to that of the next device's.
const BETWEEN_STRETCHES: u64 = 100_003;
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
    let (as_long, between_ns) = generated(dataset, &sketches.rows().collect::<Vec<u64>>());
    let of_many = of_many_devices(dataset);
    let distances = sketches.each().enumerate().map(|(place, (signal, sketch))| {
        // What grows is compared over the same time; of all else the distribution, and not the chance of a few devices.
        let batch = if sketch.grows() { &as_long } else { &of_many };
        let column = (0..batch.len()).filter_map(|row| batch.value(place, row));
        let far = match sketch {
            Sketch::Numbers(numbers) => {
                distance(&numbers.sorted(), &sorted(&column.filter_map(|value| value.as_f64()).collect::<Vec<_>>()))
            }
            Sketch::Texts(texts) => distance(&texts.lengths(), &sorted(&column.map(bytes).collect::<Vec<_>>())),
        };
        (signal.name.clone(), far)
    });
    Likeness {
        signals: distances.collect(),
        between_datapoints: distance(&times.between_ns(), &sorted(&between_ns)),
        compressed: compressed(dataset, rows),
    }
}

/// Datapoints of several devices over as long as was recorded, and the times between those that follow each other.
fn generated(dataset: &dyn Dataset, rows: &[u64]) -> (Batch, Vec<f64>) {
    let (mut batch, mut runs, mut between_ns) = (Batch::new(dataset.schema()), Vec::new(), Vec::new());
    let total: u64 = rows.iter().sum::<u64>().max(1);
    let stretches = (MAX_GENERATED.min(total) / STRETCH).max(1);
    // Stretches at equal distances in all rows, device after device.
    let (mut device, mut before) = (0, 0);
    for stretch in 0..stretches {
        let row = u64::try_from(u128::from(total) * u128::from(stretch) / u128::from(stretches)).unwrap_or(0);
        while rows.get(device).is_some_and(|rows| before + rows <= row) {
            before += rows[device];
            device += 1;
        }
        let Some(&of_device) = rows.get(device) else { break };
        let first = (row - before).min(of_device.saturating_sub(STRETCH));
        let count = u32::try_from(STRETCH.min(of_device)).unwrap_or(1);
        runs.clear();
        dataset.sending_order(u32::try_from(device).unwrap_or(0), first, count, &mut runs);
        let start = batch.len();
        runs.iter().for_each(|&run| dataset.fill(run, &mut batch));
        let mut newest = None;
        for &time_ns in batch.timestamps_ns().get(start..).unwrap_or_default() {
            if let Some(after_ns) = newest.map(|newest| time_ns - newest).filter(|after_ns| *after_ns > 0) {
                between_ns.push(nanoseconds(after_ns));
            }
            newest = newest.max(Some(time_ns));
        }
    }
    (batch, between_ns)
}

/// Stretches of many devices, each at another time.
fn of_many_devices(dataset: &dyn Dataset) -> Batch {
    let mut batch = Batch::new(dataset.schema());
    let devices = u32::try_from(MAX_GENERATED / STRETCH).unwrap_or(1);
    for device in 0..devices {
        let count = u32::try_from(STRETCH).unwrap_or(1);
        dataset.fill(Run { device, first: u64::from(device) * BETWEEN_STRETCHES, count }, &mut batch);
    }
    batch
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

fn bytes(value: Value<'_>) -> f64 {
    match value {
        Value::Text(text) => nanoseconds(i64::try_from(text.len()).unwrap_or(i64::MAX)),
        _ => 0.0,
    }
}

#[expect(clippy::cast_precision_loss, reason = "times and lengths to a part in 2^53")]
fn nanoseconds(ns: i64) -> f64 {
    ns as f64
}
