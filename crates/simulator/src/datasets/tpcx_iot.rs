//! `tpcx_iot`: sensors of power substations, records of 1 KB.
//!
//! After TPC Express Benchmark IoT (<https://www.tpc.org/tpcx-iot/>): a substation has 200 sensors, each of which sends 20 readings
//! a second. A record is a reading, its unit, and a padding that makes the record 1,024 bytes long, counted as: the sensor's name (the key's text),
//! 8 bytes of the timestamp, 8 bytes of the reading, the unit, the padding. How a database writes names, times and numbers is its own.
//!
//! Device N is sensor N mod `sensors` of substation N div `sensors`, so that substation 3 has the devices 600 to 799. What a sensor measures
//! follows from its number in the substation: all substations are equipped alike. The padding is random text, 6 random bits to the 8 of
//! a byte: no compressor gets it below 75 % of its size, and records, of which it is 97 %, not below about 73 %.

use crate::{
    Dataset, ParameterError,
    bounded_walk::BoundedWalk,
    clock::DeviceClock,
    config::{DEFAULT_ORIGIN_NS, DatasetInfo, Opening, typed},
    counter_hash::CounterHash,
    datasets::{clock, period_ns, rounded},
    random_text::push_random_text,
    simulated::{Signals, Simulated},
};
use iotbench_core::{Column, Schema, Setting, Settings, Signal, ValueType};
use jiff::SignedDuration;
use serde::Deserialize;
use std::{ops::Range, sync::Arc};

const PREFIX: &str = "sensor_";
/// The timestamp and the reading.
const NUMBERS_BYTES: u32 = 16;
/// Those of the longest name and unit still leave room for a padding.
const MIN_BYTES: u32 = 64;
const MAX_BYTES: u32 = 1 << 20;
const LONGEST_UNIT_BYTES: u32 = 4;

pub(crate) const INFO: DatasetInfo = DatasetInfo {
    name: "tpcx_iot",
    summary: "sensors of power substations as in TPCx-IoT: reading, unit and random padding, 1024 bytes a record, 20 a second",
    parameters: PARAMETERS,
    origin_ns: DEFAULT_ORIGIN_NS,
    tags: Vec::new,
    is_simulated: true,
    open,
};

const PARAMETERS: &[Setting] = &[
    Setting { key: "rate", default: "20", help: "readings per second of a sensor" },
    Setting {
        key: "sensors",
        default: "200",
        help: "sensors of a substation; device N is sensor N mod this of substation N div this",
    },
    Setting {
        key: "bytes",
        default: "1024",
        help: "length of a record, 64 to 1048576: name, 8 bytes of time, 8 of the reading, unit and padding",
    },
    Setting { key: "jitter", default: "0s", help: "timestamps are late by up to this" },
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    rate: f64,
    sensors: u32,
    bytes: u32,
    jitter: SignedDuration,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { rate: 20.0, sensors: 200, bytes: 1024, jitter: SignedDuration::ZERO }
    }
}

/// What a sensor measures: unit, least and greatest value, and standard deviation from reading to reading.
const KINDS: [(&str, f64, f64, f64); 8] = [
    ("kV", 105.0, 115.0, 0.05),
    ("A", 0.0, 800.0, 2.0),
    ("MW", 0.0, 120.0, 0.5),
    ("MVar", -40.0, 40.0, 0.3),
    ("Hz", 49.8, 50.2, 0.002),
    ("degC", -20.0, 95.0, 0.05),
    ("ppm", 0.0, 400.0, 0.2),
    ("bar", 4.5, 6.5, 0.005),
];

fn open(parameters: &Settings, opening: Opening<'_>) -> Result<Arc<dyn Dataset>, ParameterError> {
    let parameters: Parameters = typed(parameters, PARAMETERS)?;
    if parameters.sensors == 0 {
        return Err(ParameterError::key("sensors", "must be at least 1"));
    }
    if !(MIN_BYTES..=MAX_BYTES).contains(&parameters.bytes) {
        return Err(ParameterError::key("bytes", format!("must be from {MIN_BYTES} to {MAX_BYTES}")));
    }
    let signal = |name: &str, value_type, max_text_bytes| Signal { name: name.into(), value_type, max_text_bytes };
    let signals = vec![
        signal("reading", ValueType::F64, 0),
        signal("unit", ValueType::Text, LONGEST_UNIT_BYTES),
        signal("padding", ValueType::Text, padding_bytes(parameters.bytes, 0, 1)),
    ];
    Ok(Arc::new(Simulated {
        schema: Schema::new(signals)?,
        clock: clock(opening, period_ns(parameters.rate)?, parameters.jitter)?,
        signals: TpcxIot {
            hash: CounterHash::new(opening.seed).derive(0x7470_6378),
            sensors: parameters.sensors,
            bytes: parameters.bytes,
        },
    }))
}

/// What is left of a record for the padding of this device.
fn padding_bytes(bytes: u32, device: u32, unit_bytes: u32) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "7")]
    let name_bytes = PREFIX.len() as u32 + device.checked_ilog10().unwrap_or(0) + 1;
    bytes.saturating_sub(name_bytes + NUMBERS_BYTES + unit_bytes)
}

#[derive(Debug)]
struct TpcxIot {
    hash: CounterHash,
    sensors: u32,
    bytes: u32,
}

impl Signals for TpcxIot {
    const DEVICE_PREFIX: &'static str = PREFIX;

    fn fill(&self, device: u32, indices: Range<u64>, _: &DeviceClock, columns: &mut [Column]) {
        let [Column::F64(values), Column::Text(units), Column::Text(paddings)] = columns else { return };
        let sensor = device % self.sensors;
        #[expect(clippy::cast_possible_truncation, reason = "below 8")]
        let kind = self.hash.below(sensor.into(), KINDS.len() as u64) as usize;
        let (unit, low, high, deviation) = KINDS[kind];
        let hash = self.hash.derive(device.into());
        let walk = BoundedWalk::new(hash.derive(0), low, high, deviation, low + (high - low) * hash.unit(0));
        walk.values(indices.clone(), |value| values.push(rounded(value, 1000.0)));
        #[expect(clippy::cast_possible_truncation, reason = "at most 4")]
        let padding_bytes = padding_bytes(self.bytes, device, unit.len() as u32);
        let paddings_hash = hash.derive(1);
        for index in indices {
            units.push_with(|out| out.push_str(unit));
            paddings.push_with(|out| push_random_text(paddings_hash.derive(index), padding_bytes, out));
        }
    }
}
