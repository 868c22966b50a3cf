//! `machine`: a machine tool with cyclic movement.
//!
//! 5 channels of 12 bits, 1000 times a second, after Arnst, Herpich, Plenk and Wöltche (Hof University, 2019): channel 0
//! is the abscissa, a sawtooth of about 3 machine cycles a second; channels 1 to 4 are sine waves; noise is on all.

use crate::{
    Dataset, ParameterError,
    clock::DeviceClock,
    config::{DEFAULT_ORIGIN_NS, DatasetInfo, Opening, typed},
    counter_hash::CounterHash,
    datasets::{clock, period_ns, share},
    noise,
    oscillator::Oscillator,
    simulated::{Signals, Simulated},
};
use iotbench_core::{Column, Schema, Setting, Settings, Signal, ValueType};
use jiff::SignedDuration;
use serde::Deserialize;
use std::{ops::Range, sync::Arc};

/// The largest value of a channel, and the height of the sawtooth without noise.
pub const MACHINE_AMPLITUDE: u16 = 4095;
/// With more noise than this, a reader could mistake noise for a flank of the sawtooth.
const MAX_NOISE: f64 = 0.025;
/// With more jitter than this, cycles could become arbitrarily short.
const MAX_CYCLE_JITTER: f64 = 0.5;
/// With fewer datapoints in a cycle, the sawtooth is too steep to be searched.
const MIN_CYCLE_DATAPOINTS: f64 = 64.0;

pub(crate) const INFO: DatasetInfo = DatasetInfo {
    name: "machine",
    summary: "machine tool: sawtooth abscissa and 4 sine channels of 12 bits, 3 cycles/s, 1000 datapoints/s",
    parameters: PARAMETERS,
    origin_ns: DEFAULT_ORIGIN_NS,
    tags: Vec::new,
    is_simulated: true,
    open,
};

const PARAMETERS: &[Setting] = &[
    Setting { key: "rate", default: "1000", help: "datapoints per second of a device" },
    Setting { key: "cycles", default: "3", help: "machine cycles per second; a cycle has at least 64 datapoints" },
    Setting {
        key: "cycle_jitter",
        default: "0.1",
        help: "by which share of its length the start of a cycle varies around the grid, 0 to 0.5",
    },
    Setting {
        key: "noise",
        default: "0.005",
        help: "standard deviation of the noise, as a share of the amplitude, 0 to 0.025",
    },
    Setting { key: "jitter", default: "100us", help: "timestamps are late by up to this" },
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    rate: f64,
    cycles: f64,
    cycle_jitter: f64,
    noise: f64,
    jitter: SignedDuration,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { rate: 1000.0, cycles: 3.0, cycle_jitter: 0.1, noise: 0.005, jitter: SignedDuration::from_micros(100) }
    }
}

fn open(parameters: &Settings, opening: Opening<'_>) -> Result<Arc<dyn Dataset>, ParameterError> {
    let parameters: Parameters = typed(parameters, PARAMETERS)?;
    if share("noise", parameters.noise)? > MAX_NOISE {
        return Err(ParameterError::key(
            "noise",
            format!("must be at most {MAX_NOISE}, or cycles cannot be told apart"),
        ));
    }
    Ok(Arc::new(Simulated {
        schema: schema()?,
        clock: clock(opening, period_ns(parameters.rate)?, parameters.jitter)?,
        signals: Machine {
            hash: CounterHash::new(opening.seed).derive(0x6d61_6368),
            cycles: MachineCycles::new(parameters.rate, parameters.cycles, parameters.cycle_jitter, opening.seed)?,
            turns_per_index: parameters.cycles / parameters.rate,
            noise: parameters.noise * f64::from(MACHINE_AMPLITUDE),
        },
    }))
}

fn schema() -> Result<Schema, ParameterError> {
    let names = ["abscissa", "channel_1", "channel_2", "channel_3", "channel_4"];
    let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::U16, max_text_bytes: 0 };
    Ok(Schema::new(names.map(signal).into())?)
}

#[derive(Debug)]
struct Machine {
    hash: CounterHash,
    cycles: MachineCycles,
    turns_per_index: f64,
    noise: f64,
}

impl Signals for Machine {
    const DEVICE_PREFIX: &'static str = "machine-";

    fn fill(&self, device: u32, indices: Range<u64>, _: &DeviceClock, columns: &mut [Column]) {
        let hash = self.hash.derive(device.into());
        let Some((Column::U16(abscissa), waves)) = columns.split_first_mut() else { return };
        self.fill_abscissa(device, hash.derive(0), indices.clone(), abscissa);
        for (channel, column) in (1_u32..).zip(waves) {
            let Column::U16(values) = column else { return };
            let hash = hash.derive(channel.into());
            let wave = Oscillator::new(self.turns_per_index * f64::from(channel) % 1.0, hash.derive(0).at(0));
            values.extend(indices.clone().map(|index| {
                let middle = f64::from(MACHINE_AMPLITUDE) / 2.0;
                twelve_bits(middle + 0.9 * middle * wave.sine(index) + self.noise * noise::normal_at(hash, index))
            }));
        }
    }
}

impl Machine {
    fn fill_abscissa(&self, device: u32, hash: CounterHash, indices: Range<u64>, values: &mut Vec<u16>) {
        let mut number = self.cycles.number_at(device, indices.start);
        let mut from = indices.start;
        while from < indices.end {
            let cycle = self.cycles.cycle(device, number);
            let to = indices.end.min(u64::try_from(cycle.end).unwrap_or(from));
            #[expect(clippy::cast_precision_loss, reason = "a cycle has far fewer than 2^53 datapoints")]
            let (rise, done) = (
                f64::from(MACHINE_AMPLITUDE) / (cycle.end - cycle.start) as f64,
                (i128::from(from) - i128::from(cycle.start)) as f64,
            );
            values.extend((from..to).zip(0_u32..).map(|(index, step)| {
                twelve_bits(rise * (done + f64::from(step)) + self.noise * noise::normal_at(hash, index))
            }));
            from = to.max(from);
            number += 1;
        }
    }
}

/// The nearest value that 12 bits can hold.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast cuts off at 0 and 65535")]
fn twelve_bits(value: f64) -> u16 {
    ((value + 0.5) as u16).min(MACHINE_AMPLITUDE)
}

/// The true cycles of the dataset `machine`, to judge what a search for cycles finds.
///
/// Cycle k starts at `k × length`, moved by a random part of the cycle jitter: each start is anchored to a grid, so that
/// it follows from k alone and errors do not add up.
#[derive(Clone, Debug)]
pub struct MachineCycles {
    /// Mean length in datapoints, times 2^32.
    length: i128,
    /// By how much starts vary, times 2^32.
    jitter: u64,
    hash: CounterHash,
}

impl MachineCycles {
    /// The cycles at this rate (datapoints/s), so many cycles per second and this cycle jitter (a share).
    ///
    /// # Errors
    /// Jitter above one half, or cycles of fewer than 64 datapoints.
    pub fn new(rate: f64, cycles: f64, cycle_jitter: f64, seed: u64) -> Result<Self, ParameterError> {
        const FRACTION: f64 = 4_294_967_296.0;
        let mean = rate / cycles;
        if !(0.0..=MAX_CYCLE_JITTER).contains(&cycle_jitter) {
            return Err(ParameterError::key("cycle_jitter", format!("must be from 0 to {MAX_CYCLE_JITTER}")));
        }
        if !(MIN_CYCLE_DATAPOINTS..=1e9).contains(&mean) {
            let message = format!("a cycle would have {mean} datapoints: it needs from {MIN_CYCLE_DATAPOINTS} to 1e9");
            return Err(ParameterError::key("cycles", message));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, below 2^62")]
        let (length, jitter) = ((mean * FRACTION) as i128, (mean * cycle_jitter * FRACTION) as u64);
        Ok(Self { length, jitter, hash: CounterHash::new(seed).derive(0x6379_636c) })
    }

    /// The indices of the datapoints in a cycle. Cycle 0 starts near index 0, possibly before it.
    #[must_use]
    pub fn cycle(&self, device: u32, number: i64) -> Range<i64> {
        self.start(device, number)..self.start(device, number + 1)
    }

    /// The number of the cycle that an index lies in.
    #[must_use]
    pub fn number_at(&self, device: u32, index: u64) -> i64 {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        let near = i64::try_from((i128::from(index) << 32) / self.length).unwrap_or(i64::MAX - 1);
        if index < self.start(device, near) {
            near - 1
        } else if index >= self.start(device, near + 1) {
            near + 1
        } else {
            near
        }
    }

    fn start(&self, device: u32, number: i64) -> i64 {
        let moved = self.hash.derive(device.into()).below(number.cast_unsigned(), self.jitter + 1);
        let start = self.length * i128::from(number) + i128::from(moved) - i128::from(self.jitter / 2);
        i64::try_from(start >> 32).unwrap_or(i64::MAX)
    }
}
