//! `greenhouse`: soil moisture, temperature and an irrigation valve.
//!
//! 7 moisture sensors, 1 temperature and 1 servo-valve state each 30 s, after Asiminidis, Kokkonis and Kontogiannis
//! (2018). The soil dries for hours and is watered for a few minutes while the valve is open.

use crate::{
    Dataset, ParameterError,
    clock::DeviceClock,
    config::{DEFAULT_ORIGIN_NS, DatasetInfo, Opening, typed},
    counter_hash::CounterHash,
    datasets::{DAY_NS, clock, nanoseconds, rounded, wave},
    noise,
    oscillator::Oscillator,
    simulated::{Signals, Simulated},
};
use iotbench_core::{Column, Schema, Setting, Settings, Signal, ValueType};
use jiff::SignedDuration;
use serde::Deserialize;
use std::{ops::Range, sync::Arc};

const MOISTURE_SENSORS: u64 = 7;
/// Part of an irrigation cycle in which the valve is open.
const WATERING: f64 = 0.05;
const IRRIGATION_NS: i64 = DAY_NS / 4;

pub(crate) const INFO: DatasetInfo = DatasetInfo {
    name: "greenhouse",
    summary: "greenhouse: 7 soil moistures (%), temperature (°C) and valve state (0 or 1), each 30 s",
    parameters: PARAMETERS,
    origin_ns: DEFAULT_ORIGIN_NS,
    tags: Vec::new,
    is_simulated: true,
    open,
};

const PARAMETERS: &[Setting] = &[
    Setting { key: "interval", default: "30s", help: "time between two datapoints" },
    Setting { key: "jitter", default: "0s", help: "timestamps are late by up to this" },
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    interval: SignedDuration,
    jitter: SignedDuration,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { interval: SignedDuration::from_secs(30), jitter: SignedDuration::ZERO }
    }
}

fn open(parameters: &Settings, opening: Opening<'_>) -> Result<Arc<dyn Dataset>, ParameterError> {
    let parameters: Parameters = typed(parameters, PARAMETERS)?;
    let period_ns = nanoseconds("interval", parameters.interval)?;
    let moistures = (1..=MOISTURE_SENSORS).map(|n| format!("moisture_{n}"));
    let names = moistures.chain(["temperature".into(), "valve".into()]);
    let signal = |name| Signal { name, value_type: ValueType::F64, max_text_bytes: 0 };
    Ok(Arc::new(Simulated {
        schema: Schema::new(names.map(signal).collect())?,
        clock: clock(opening, period_ns, parameters.jitter)?,
        signals: Greenhouse { hash: CounterHash::new(opening.seed).derive(0x6772_656e), period_ns },
    }))
}

#[derive(Debug)]
struct Greenhouse {
    hash: CounterHash,
    period_ns: i64,
}

impl Signals for Greenhouse {
    const DEVICE_PREFIX: &'static str = "greenhouse-";

    fn fill(&self, device: u32, indices: Range<u64>, _: &DeviceClock, columns: &mut [Column]) {
        let hash = self.hash.derive(device.into());
        let irrigation = wave(IRRIGATION_NS, self.period_ns, hash.at(0));
        let [moistures @ .., Column::F64(temperatures), Column::F64(valves)] = columns else { return };
        for (sensor, column) in (0..).zip(moistures) {
            let Column::F64(values) = column else { return };
            let hash = hash.derive(sensor);
            let (dry, wet) = (25.0 + 10.0 * hash.unit(0), 55.0 + 10.0 * hash.unit(1));
            values.extend(indices.clone().map(|index| {
                let moisture = dry + (wet - dry) * wetness(irrigation, index);
                rounded(moisture + 0.3 * noise::normal_at(hash.derive(0), index), 100.0)
            }));
        }
        let (day, hash) = (wave(DAY_NS, self.period_ns, hash.at(1)), hash.derive(MOISTURE_SENSORS));
        temperatures.extend(
            indices
                .clone()
                .map(|index| rounded(24.0 + 6.0 * day.sine(index) + 0.1 * noise::normal_at(hash, index), 100.0)),
        );
        valves.extend(indices.map(|index| if part(irrigation, index) < WATERING { 1.0 } else { 0.0 }));
    }
}

/// How far an irrigation cycle has come, 0 to 1.
fn part(irrigation: Oscillator, index: u64) -> f64 {
    crate::counter_hash::unit(irrigation.phase(index))
}

/// From 0 (dry) to 1: rises while the valve is open, then falls.
fn wetness(irrigation: Oscillator, index: u64) -> f64 {
    let part = part(irrigation, index);
    if part < WATERING { part / WATERING } else { (1.0 - part) / (1.0 - WATERING) }
}
