//! `tsbs_iot`: trucks, as the Time Series Benchmark Suite has them.
//!
//! The use case `iot` of TSBS (<https://github.com/timescale/tsbs>, pkg/data/usecases/iot): the seven fields of its measurement
//! `readings` and the three of `diagnostics`, here together as one record each 10 s. Names, types, ranges, mean steps and decimals
//! are theirs. What differs:
//!
//! - Walks are reflected just beyond their ends instead of being cut off at them ([`BoundedWalk`]), and their steps are nearly
//!   normal, with the standard deviation of theirs, which are even: any datapoint must be known without those before it.
//! - A truck stands still for a while, in each of the cycles of 2 to 8 hours that are its own. Its velocity is 0 then; its position
//!   and fuel go on, as they have nothing to do with velocity in TSBS either. Theirs never stand for ten minutes but by rare chance, so
//!   that queries for standing trucks and driving sessions would find nothing, or all.
//! - Trucks begin with tanks that are not all full, and with a load, so that short histories have trucks with low fuel and high load.
//! - No field and no tag is null.

use crate::{
    Dataset, ParameterError,
    bounded_walk::BoundedWalk,
    clock::DeviceClock,
    config::{DEFAULT_ORIGIN_NS, DatasetInfo, Opening, typed},
    counter_hash::CounterHash,
    datasets::{clock, nanoseconds, tsbs_tags},
    random_walk::Counter,
    simulated::{Signals, Simulated},
};
use iotbench_core::{Column, Schema, Setting, Settings, Signal, ValueType};
use jiff::SignedDuration;
use serde::Deserialize;
use std::{ops::Range, sync::Arc};

const HOUR_NS: i64 = 3_600_000_000_000;
/// Most of `standing`: a stop takes at most three times this share of its cycle.
const MOST_STANDING: f64 = 0.33;
/// Mean part of a tank that is used up from datapoint to datapoint.
const FUEL_PER_STEP: f64 = 0.0005;
const MOST_LOAD: u64 = 5000;
/// In one of so many datapoints the load changes; at the latest after `LOAD_HOLD`, so that the last change is soon found.
const LOAD_CHANGE: u64 = 20;
const LOAD_HOLD: u64 = 1024;

pub(crate) const INFO: DatasetInfo = DatasetInfo {
    name: "tsbs_iot",
    summary: "trucks of TSBS's iot: 7 readings and 3 diagnostics as one record, with stops, each 10 s",
    parameters: PARAMETERS,
    origin_ns: DEFAULT_ORIGIN_NS,
    tags: tsbs_tags::of_truck,
    is_simulated: true,
    open,
};

const PARAMETERS: &[Setting] = &[
    Setting { key: "interval", default: "10s", help: "time between two datapoints of a truck" },
    Setting {
        key: "standing",
        default: "0.3",
        help: "mean share of the time that trucks stand still, 0 to 0.33; a truck's own is from 0 to twice it",
    },
    Setting { key: "jitter", default: "0s", help: "timestamps are late by up to this" },
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    interval: SignedDuration,
    standing: f64,
    jitter: SignedDuration,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { interval: SignedDuration::from_secs(10), standing: 0.3, jitter: SignedDuration::ZERO }
    }
}

/// A walk of one of the readings.
struct Reading {
    name: &'static str,
    low: f64,
    high: f64,
    /// TSBS's steps are even from minus to plus this.
    step: f64,
    /// Its starts are even between these.
    start: Range<f64>,
    /// Of its decimals, as a power of ten.
    power: f64,
}

const READINGS: [Reading; 7] = [
    Reading { name: "latitude", low: -90.0, high: 90.0, step: 0.005, start: 0.0..90.0, power: 1e5 },
    Reading { name: "longitude", low: -180.0, high: 180.0, step: 0.005, start: 0.0..180.0, power: 1e5 },
    Reading { name: "elevation", low: 0.0, high: 5000.0, step: 10.0, start: 0.0..500.0, power: 1.0 },
    Reading { name: VELOCITY, low: 0.0, high: 100.0, step: 10.0, start: 0.0..0.0, power: 1.0 },
    Reading { name: "heading", low: 0.0, high: 360.0, step: 5.0, start: 0.0..360.0, power: 1.0 },
    Reading { name: "grade", low: 0.0, high: 100.0, step: 5.0, start: 0.0..0.0, power: 1.0 },
    Reading { name: "fuel_consumption", low: 0.0, high: 50.0, step: 5.0, start: 25.0..25.0, power: 10.0 },
];
const VELOCITY: &str = "velocity";

fn open(parameters: &Settings, opening: Opening<'_>) -> Result<Arc<dyn Dataset>, ParameterError> {
    let parameters: Parameters = typed(parameters, PARAMETERS)?;
    if !(0.0..=MOST_STANDING).contains(&parameters.standing) {
        return Err(ParameterError::key("standing", format!("must be from 0 to {MOST_STANDING}")));
    }
    let period_ns = nanoseconds("interval", parameters.interval)?;
    let signal = |name: &str, value_type| Signal { name: name.into(), value_type, max_text_bytes: 0 };
    let mut signals: Vec<Signal> = READINGS.iter().map(|reading| signal(reading.name, ValueType::F64)).collect();
    signals.push(signal("fuel_state", ValueType::F64));
    signals.push(signal("current_load", ValueType::F64));
    signals.push(signal("status", ValueType::I64));
    Ok(Arc::new(Simulated {
        schema: Schema::new(signals)?,
        clock: clock(opening, period_ns, parameters.jitter)?,
        signals: TsbsIot {
            hash: CounterHash::new(opening.seed).derive(0x0074_7275_636b),
            standing: parameters.standing,
            period_ns,
        },
    }))
}

#[derive(Debug)]
struct TsbsIot {
    hash: CounterHash,
    standing: f64,
    period_ns: i64,
}

impl Signals for TsbsIot {
    const DEVICE_PREFIX: &'static str = "truck_";

    fn fill(&self, device: u32, indices: Range<u64>, _: &DeviceClock, columns: &mut [Column]) {
        let hash = self.hash.derive(device.into());
        let [readings @ .., Column::F64(fuel_states), Column::F64(loads), Column::I64(statuses)] = columns else {
            return;
        };
        for ((part, reading), column) in (0..).zip(&READINGS).zip(readings) {
            let Column::F64(values) = column else { return };
            let first = values.len();
            reading.fill(hash.derive(part), indices.clone(), values);
            if reading.name == VELOCITY {
                let stops = Stops::new(hash.derive(100), self.standing, self.period_ns);
                for (index, velocity) in indices.clone().zip(&mut values[first..]) {
                    if stops.has(index) {
                        *velocity = 0.0;
                    }
                }
            }
        }
        fill_fuel(hash.derive(101), indices.clone(), fuel_states);
        fill_load(hash.derive(102), indices.clone(), loads);
        let status = BoundedWalk::new(hash.derive(103), 0.0, 5.0, 1.0, 0.0);
        #[expect(clippy::cast_possible_truncation, reason = "from 0 to 5; the fraction is cut off")]
        status.values(indices, |status| statuses.push(status as i64));
    }
}

impl Reading {
    fn fill(&self, hash: CounterHash, indices: Range<u64>, values: &mut Vec<f64>) {
        /// The standard deviation of a number that is even from -1 to 1: 1/√3.
        const EVEN: f64 = 0.577_350_269_189_625_8;
        let start = self.start.start + (self.start.end - self.start.start) * hash.unit(0);
        let walk = BoundedWalk::new(hash, self.low, self.high, self.step * EVEN, start);
        walk.values(indices, |value| values.push(cut(value, self.power)));
    }
}

/// Without the decimals beyond these.
fn cut(value: f64, power: f64) -> f64 {
    (value * power).trunc() / power
}

/// When a truck stands still: once in each of its cycles, from a random moment on.
struct Stops {
    hash: CounterHash,
    /// The length of a cycle in datapoints.
    cycle: u64,
    /// The mean length of a stop, as a share of the cycle.
    share: f64,
}

impl Stops {
    fn new(hash: CounterHash, standing: f64, period_ns: i64) -> Self {
        let cycle_ns = 2 * HOUR_NS + hash.derive(0).below(0, (6 * HOUR_NS).unsigned_abs()).cast_signed();
        let cycle = (cycle_ns / period_ns).max(1).unsigned_abs();
        Self { hash: hash.derive(1), cycle, share: 2.0 * standing * hash.derive(0).unit(1) }
    }

    fn has(&self, index: u64) -> bool {
        let (number, within) = (index / self.cycle, index % self.cycle);
        #[expect(clippy::cast_precision_loss, reason = "a cycle has far fewer than 2^53 datapoints")]
        let part = within as f64 / self.cycle as f64;
        let hash = self.hash.derive(number);
        let length = self.share * (0.5 + hash.unit(0));
        let start = (1.0 - length) * hash.unit(1);
        (start..start + length).contains(&part)
    }
}

/// A tank that empties and is filled up again.
fn fill_fuel(hash: CounterHash, indices: Range<u64>, values: &mut Vec<f64>) {
    #[expect(clippy::cast_precision_loss, reason = "the nearest will do")]
    let (per_unit, start) = (FUEL_PER_STEP / Counter::MEAN as f64, hash.unit(0));
    Counter::new(hash).values(indices, |used| {
        #[expect(clippy::cast_precision_loss, reason = "the nearest will do")]
        let tanks = start + used as f64 * per_unit;
        values.push(cut(1.0 - tanks.fract(), 10.0));
    });
}

/// A load that stays until it changes.
fn fill_load(hash: CounterHash, indices: Range<u64>, values: &mut Vec<f64>) {
    let changes = |index: u64| index.is_multiple_of(LOAD_HOLD) || hash.below(index, LOAD_CHANGE) == 0;
    #[expect(clippy::cast_precision_loss, reason = "below 5000")]
    let load = |index| hash.derive(0).below(index, MOST_LOAD) as f64;
    let mut current = load((0..=indices.start).rev().find(|&index| changes(index)).unwrap_or_default());
    for index in indices {
        if changes(index) {
            current = load(index);
        }
        values.push(current);
    }
}
