//! What is kept of the values of all signals.

use super::{
    numbers::{MAX_KEPT, Numbers},
    texts::Texts,
    timing::Placed,
};
use crate::{counter_hash::CounterHash, recording::Row};
use iotbench_core::{Schema, Signal, Value, ValueType};
use serde_json::{Map, Value as Json};

/// Values that are kept of all signals together.
const MAX_VALUES: usize = 1 << 24;
/// More of the variance between devices than this is told.
const MUCH_BETWEEN: f64 = 0.2;

/// What is kept of the values of all signals.
#[derive(Debug)]
pub struct Sketches {
    signals: Vec<Signal>,
    sketches: Vec<Sketch>,
    devices: Vec<OfDevice>,
}

/// What is kept of the values of a signal.
#[derive(Debug)]
pub enum Sketch {
    /// Of numbers.
    Numbers(Box<Numbers>),
    /// Of texts.
    Texts(Box<Texts>),
}

impl Sketch {
    /// Whether the signal is a counter.
    pub fn grows(&self) -> bool {
        matches!(self, Self::Numbers(numbers) if numbers.counter().is_some())
    }
}

/// A device's newest values, as bits or hashes, and the sums of all.
#[derive(Clone, Debug, Default)]
struct OfDevice {
    rows: u64,
    newest: Vec<u64>,
    sums: Vec<f64>,
}

impl Sketches {
    /// Of nothing yet.
    pub fn new(schema: &Schema, hash: CounterHash) -> Self {
        let most = (MAX_VALUES / schema.width().max(1)).clamp(1, MAX_KEPT);
        let sketch = |(place, signal): (u64, &Signal)| match signal.value_type {
            ValueType::Text => Sketch::Texts(Box::new(Texts::new(hash.derive(place)))),
            _ => Sketch::Numbers(Box::new(Numbers::new(most, hash.derive(place)))),
        };
        let sketches = (0..).zip(schema.signals()).map(sketch).collect();
        Self { signals: schema.signals().to_vec(), sketches, devices: Vec::new() }
    }

    /// Takes the values of a row, in which there is one for each signal, and which is so many periods after the newest.
    pub fn take(&mut self, row: &Row, placed: Placed, periods: u64) {
        let device = row.device as usize;
        if self.devices.len() <= device {
            self.devices.resize(device + 1, OfDevice::default());
        }
        let of_device = &mut self.devices[device];
        let is_in_order = matches!(placed, Placed::First | Placed::After(_));
        of_device.rows += 1;
        of_device.newest.resize(self.signals.len(), 0);
        of_device.sums.resize(self.signals.len(), 0.0);
        let has_before = matches!(placed, Placed::After(_));
        for (place, (signal, sketch)) in self.signals.iter().zip(&mut self.sketches).enumerate() {
            let Ok(value) = row.value(place, &signal.name, signal.value_type) else { continue };
            let before = has_before.then_some(of_device.newest[place]);
            let bits = match (sketch, value) {
                (Sketch::Texts(texts), Value::Text(text)) => {
                    let hash = text_hash(text);
                    texts.take(text, hash, before.filter(|_| periods == 1));
                    hash
                }
                (Sketch::Numbers(numbers), value) => {
                    let number = value.as_f64().unwrap_or(0.0);
                    of_device.sums[place] += number;
                    numbers.take(number, before.map(f64::from_bits), periods);
                    number.to_bits()
                }
                _ => 0,
            };
            if is_in_order {
                of_device.newest[place] = bits;
            }
        }
    }

    /// What the devices take in memory.
    pub fn taken_bytes(&self) -> u64 {
        self.devices.len() as u64 * (64 + 16 * self.signals.len() as u64)
    }

    /// Datapoints of each device.
    pub fn rows(&self) -> impl Iterator<Item = u64> {
        self.devices.iter().map(|device| device.rows).filter(|&rows| rows > 0)
    }

    /// The signals with what is kept of them.
    pub fn each(&self) -> impl Iterator<Item = (&Signal, &Sketch)> {
        self.signals.iter().zip(&self.sketches)
    }

    /// The signals of the dataset `custom`, and what they do not tell.
    pub fn signals(&self, keep_values: bool, hash: CounterHash) -> (Vec<Json>, Option<String>) {
        let (mut shapes, mut apart) = (Vec::new(), Vec::new());
        for (place, (signal, sketch)) in self.each().enumerate() {
            let keys: Map<String, Json> = match sketch {
                Sketch::Numbers(numbers) => {
                    numbers.shape(&signal.name, signal.value_type, keep_values, self.signals.len())
                }
                Sketch::Texts(texts) => texts.shape(&signal.name, keep_values, hash.derive(place as u64)),
            };
            let is_table = keys.get("shape").and_then(Json::as_str) == Some("quantiles");
            shapes.push(keys.into());
            let between = self.between_devices(place, sketch);
            if is_table && between > MUCH_BETWEEN {
                apart.push(format!("{} {:.0} %", signal.name, 100.0 * between));
            }
        }
        let untold = (!apart.is_empty()).then(|| {
            format!(
                "devices have levels of their own, which the profile has not; their part of the variance: {}",
                apart.join(", ")
            )
        });
        (shapes, untold)
    }

    /// The part of a signal's variance that is between the means of devices.
    #[expect(clippy::cast_precision_loss, reason = "counts of datapoints")]
    fn between_devices(&self, place: usize, sketch: &Sketch) -> f64 {
        let Sketch::Numbers(numbers) = sketch else { return 0.0 };
        let values = numbers.sorted();
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len().max(1) as f64;
        let devices = || self.devices.iter().filter(|device| device.rows > 0);
        if devices().count() < 2 || variance <= 0.0 {
            return 0.0;
        }
        let rows: f64 = devices().map(|device| device.rows as f64).sum();
        let off = |device: &OfDevice| device.sums.get(place).map_or(0.0, |sum| sum / device.rows as f64 - mean);
        devices().map(|device| device.rows as f64 * off(device).powi(2)).sum::<f64>() / rows / variance
    }
}

/// FNV-1a of 64 bits (Fowler, Noll, Vo), the same on any machine.
fn text_hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
