//! `weather`: a meteorological station.
//!
//! 7 fields a minute, stored as text of varying length, 48 to 128 bytes a record, after Asiminidis, Kokkonis and
//! Kontogiannis (2018); the length is that of the 7 texts together. The digits beyond a sensor's resolution are random.

use crate::{
    Dataset, ParameterError,
    clock::DeviceClock,
    config::{DEFAULT_ORIGIN_NS, DatasetInfo, Opening, typed},
    counter_hash::CounterHash,
    datasets::{DAY_NS, clock, nanoseconds, wave},
    noise,
    oscillator::Oscillator,
    simulated::{Signals, Simulated},
};
use iotbench_core::{Column, Schema, Setting, Settings, Signal, ValueType};
use jiff::SignedDuration;
use serde::Deserialize;
use std::{ops::Range, sync::Arc};

const FIELDS: [&str; 7] =
    ["temperature", "humidity", "pressure", "dew_point", "rainfall", "wind_speed", "wind_direction"];
const MIN_RECORD_BYTES: u32 = 48;
const MAX_RECORD_BYTES: u32 = 128;
/// Most decimals of a field.
const MAX_DECIMALS: u32 = 16;
/// Longest field: sign, three digits or `1013`, the point and all decimals.
const MAX_FIELD_BYTES: u32 = 5 + MAX_DECIMALS;
const YEAR_NS: i64 = 365 * DAY_NS;

pub(crate) const INFO: DatasetInfo = DatasetInfo {
    name: "weather",
    summary: "meteorological station: 7 fields as text, 48 to 128 bytes a record, each minute",
    parameters: PARAMETERS,
    origin_ns: DEFAULT_ORIGIN_NS,
    tags: Vec::new,
    is_simulated: true,
    open,
};

const PARAMETERS: &[Setting] = &[
    Setting { key: "interval", default: "1m", help: "time between two records" },
    Setting { key: "typed", default: "false", help: "64-bit floats instead of text" },
    Setting { key: "record_bytes", default: "0", help: "length of every record, 48 to 128; 0: it varies" },
    Setting { key: "jitter", default: "0s", help: "timestamps are late by up to this" },
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    interval: SignedDuration,
    typed: bool,
    record_bytes: u32,
    jitter: SignedDuration,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { interval: SignedDuration::from_mins(1), typed: false, record_bytes: 0, jitter: SignedDuration::ZERO }
    }
}

fn open(parameters: &Settings, opening: Opening<'_>) -> Result<Arc<dyn Dataset>, ParameterError> {
    let parameters: Parameters = typed(parameters, PARAMETERS)?;
    let record_bytes = match parameters.record_bytes {
        0 => MIN_RECORD_BYTES..=MAX_RECORD_BYTES,
        bytes @ MIN_RECORD_BYTES..=MAX_RECORD_BYTES => bytes..=bytes,
        _ => return Err(ParameterError::key("record_bytes", "must be 0 or from 48 to 128")),
    };
    let (value_type, max_text_bytes) =
        if parameters.typed { (ValueType::F64, 0) } else { (ValueType::Text, MAX_FIELD_BYTES) };
    let signal = |name: &str| Signal { name: name.into(), value_type, max_text_bytes };
    let period_ns = nanoseconds("interval", parameters.interval)?;
    Ok(Arc::new(Simulated {
        schema: Schema::new(FIELDS.map(signal).into())?,
        clock: clock(opening, period_ns, parameters.jitter)?,
        signals: Weather {
            hash: CounterHash::new(opening.seed).derive(0x7765_6174),
            period_ns,
            least_bytes: *record_bytes.start(),
            spread_bytes: record_bytes.end() - record_bytes.start(),
        },
    }))
}

#[derive(Debug)]
struct Weather {
    hash: CounterHash,
    period_ns: i64,
    least_bytes: u32,
    spread_bytes: u32,
}

impl Signals for Weather {
    const DEVICE_PREFIX: &'static str = "station-";

    fn fill(&self, device: u32, indices: Range<u64>, _: &DeviceClock, columns: &mut [Column]) {
        let hash = self.hash.derive(device.into());
        let station = Station::new(hash, self.period_ns);
        let lengths = hash.derive(0);
        for index in indices {
            let values = station.fields(index);
            let bytes = lengths.below(index, u64::from(self.spread_bytes) + 1);
            #[expect(clippy::cast_possible_truncation, reason = "at most 128")]
            let mut places = Places::new(&values, self.least_bytes + bytes as u32);
            for (column, value) in columns.iter_mut().zip(values) {
                match column {
                    Column::F64(values) => values.push(value),
                    Column::Text(texts) => texts.push_with(|out| push_decimal(value, places.next(), out)),
                    _ => return,
                }
            }
        }
    }
}

/// The weather at one place.
struct Station {
    year: Oscillator,
    day: Oscillator,
    front: Oscillator,
    hash: CounterHash,
}

impl Station {
    fn new(hash: CounterHash, period_ns: i64) -> Self {
        let wave = |wave_ns, n| wave(wave_ns, period_ns, hash.at(n));
        Self { year: wave(YEAR_NS, 0), day: wave(DAY_NS, 1), front: wave(11 * DAY_NS, 2), hash: hash.derive(1) }
    }

    fn fields(&self, index: u64) -> [f64; 7] {
        let noise = |n: u64| noise::normal_at(self.hash.derive(n), index);
        let (day, front) = (self.day.sine(index), self.front.sine(index));
        let temperature = (12.0 + 9.0 * self.year.sine(index) + 5.0 * day + 0.5 * noise(0)).clamp(-40.0, 50.0);
        let humidity = (68.0 - 14.0 * day - 10.0 * front + 2.0 * noise(1)).clamp(5.0, 100.0);
        let pressure = 1013.0 + 14.0 * front + 0.4 * noise(2);
        // Lawrence, "The relationship between relative humidity and the dewpoint temperature in moist air" (2005).
        let dew_point = temperature - (100.0 - humidity) / 5.0;
        let rainfall = (-4.0 * front - 2.5 + noise(3)).clamp(0.0, 50.0);
        let wind_speed = (4.0 - 3.0 * front + 1.5 * noise(4)).clamp(0.0, 60.0);
        let wind_direction = (180.0 + 120.0 * front + 12.0 * noise(5)).clamp(0.0, 359.999);
        [temperature, humidity, pressure, dew_point, rainfall, wind_speed, wind_direction]
    }
}

/// Divides the decimals of a record among its fields, so that all texts together have the length of the record.
struct Places {
    each: u32,
    one_more: u32,
}

impl Places {
    fn new(values: &[f64; 7], record_bytes: u32) -> Self {
        let decimals = record_bytes - values.iter().map(|&v| bytes_before_decimals(v)).sum::<u32>();
        Self { each: decimals / 7, one_more: decimals % 7 }
    }

    fn next(&mut self) -> u32 {
        let more = u32::from(self.one_more > 0);
        self.one_more -= more;
        self.each + more
    }
}

/// Sign, digits before the point, and the point.
fn bytes_before_decimals(value: f64) -> u32 {
    u32::from(value < 0.0) + whole(value.abs()).checked_ilog10().map_or(1, |digits| digits + 1) + 1
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, below 2000")]
fn whole(size: f64) -> u32 {
    size as u32
}

/// Appends a number of which the decimals after the given ones are cut off.
fn push_decimal(value: f64, decimals: u32, out: &mut String) {
    let size = value.abs();
    if value < 0.0 {
        out.push('-');
    }
    out.push_str(itoa::Buffer::new().format(whole(size)));
    out.push('.');
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to below 1e16")]
    let fraction = ((size - f64::from(whole(size))) * 1e16) as u64;
    let cut = fraction / 10_u64.pow(MAX_DECIMALS - decimals);
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(cut);
    for _ in digits.len()..decimals as usize {
        out.push('0');
    }
    if decimals > 0 {
        out.push_str(digits);
    }
}
