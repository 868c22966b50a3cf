//! Values that a dataset generates, to be held against recorded ones, in bounded memory.

use crate::Dataset;
use iotbench_core::{Batch, Run, Schema, Value};

/// Rows that are generated, where they are few numbers.
const MAX_ROWS: u64 = 1 << 16;
/// Values of all signals together, and bytes of all texts.
const MAX_VALUES: u64 = 1 << 21;
const MAX_TEXT_BYTES: u64 = 1 << 27;
/// Bytes of the texts that are generated at once.
const MAX_TEXT_BYTES_AT_ONCE: u64 = 1 << 23;
/// Rows of many devices at least, and for each that was recorded.
const LEAST_ROWS: u64 = 1 << 13;
const ROWS_FOR_A_ROW: u64 = 16;
/// Generated of one device in a row.
const STRETCH: u64 = 64;
/// From the first datapoint of a stretch to that of the next device's.
const BETWEEN_STRETCHES: u64 = 100_003;

/// Values that a dataset generates.
pub struct Generated<'a> {
    dataset: &'a dyn Dataset,
    batch: Batch,
    runs: Vec<Run>,
    rows_at_once: u32,
    /// For each signal its values, of texts their lengths.
    pub values: Vec<Vec<f64>>,
    /// The times between datapoints of a device that follow each other.
    pub between_ns: Vec<f64>,
}

impl<'a> Generated<'a> {
    fn none(dataset: &'a dyn Dataset) -> Self {
        let schema = dataset.schema();
        let at_once = (MAX_TEXT_BYTES_AT_ONCE / text_bytes(schema).max(1)).clamp(1, STRETCH);
        Self {
            dataset,
            batch: Batch::new(schema),
            runs: Vec::new(),
            rows_at_once: u32::try_from(at_once).unwrap_or(1),
            values: vec![Vec::new(); schema.width()],
            between_ns: Vec::new(),
        }
    }

    /// Of devices with so many datapoints each, stretches over all of them, as they are sent.
    pub fn of_devices(dataset: &'a dyn Dataset, rows: &[u64]) -> Self {
        let mut generated = Self::none(dataset);
        let total: u64 = rows.iter().sum::<u64>().max(1);
        let stretches = (most_rows(dataset.schema()).min(total) / STRETCH).max(1);
        // At equal distances in all rows, device after device.
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
            generated.runs.clear();
            dataset.sending_order(u32::try_from(device).unwrap_or(0), first, count, &mut generated.runs);
            generated.fill();
        }
        generated
    }

    /// Of many devices, each at another time: the distribution, and not the chance of a few.
    pub fn of_many_devices(dataset: &'a dyn Dataset, recorded_rows: u64) -> Self {
        let mut generated = Self::none(dataset);
        let rows = recorded_rows.saturating_mul(ROWS_FOR_A_ROW).max(LEAST_ROWS).min(most_rows(dataset.schema()));
        let devices = u32::try_from(rows / STRETCH).unwrap_or(1).max(1);
        let count = u32::try_from(STRETCH).unwrap_or(1);
        for device in 0..devices {
            generated.runs.clear();
            generated.runs.push(Run { device, first: u64::from(device) * BETWEEN_STRETCHES, count });
            generated.fill();
        }
        generated
    }

    /// Takes the values of a stretch.
    fn fill(&mut self) {
        let mut newest = None;
        for &run in &self.runs {
            let (mut first, mut left) = (run.first, run.count);
            while left > 0 {
                let count = left.min(self.rows_at_once);
                self.batch.clear();
                self.dataset.fill(Run { first, count, ..run }, &mut self.batch);
                (first, left) = (first + u64::from(count), left - count);
                for (values, column) in self.values.iter_mut().zip(self.batch.columns()) {
                    values.extend((0..column.len()).filter_map(|row| column.get(row)).map(number));
                }
                for &time_ns in self.batch.timestamps_ns() {
                    if let Some(after_ns) = newest.map(|newest| time_ns - newest).filter(|after_ns| *after_ns > 0) {
                        self.between_ns.push(nanoseconds(after_ns));
                    }
                    newest = newest.max(Some(time_ns));
                }
            }
        }
    }
}

fn most_rows(schema: &Schema) -> u64 {
    let most = (MAX_VALUES / schema.width().max(1) as u64).min(MAX_TEXT_BYTES / text_bytes(schema).max(1));
    most.clamp(STRETCH, MAX_ROWS)
}

fn text_bytes(schema: &Schema) -> u64 {
    schema.signals().iter().map(|signal| u64::from(signal.max_text_bytes)).sum()
}

/// A number, or the length of a text.
fn number(value: Value<'_>) -> f64 {
    match value {
        Value::Text(text) => nanoseconds(i64::try_from(text.len()).unwrap_or(i64::MAX)),
        number => number.as_f64().unwrap_or(0.0),
    }
}

#[expect(clippy::cast_precision_loss, reason = "times and lengths to a part in 2^53")]
fn nanoseconds(ns: i64) -> f64 {
    ns as f64
}
