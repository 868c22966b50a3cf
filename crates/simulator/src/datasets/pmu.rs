//! `pmu`: a phasor measurement unit.
//!
//! 14 analog signals (a 12.5 Hz sine) and 8 digital signals merged into one value,
//! 50 times a second, after Goldschmidt et al., "Scalability and robustness of time-series databases for cloud-native
//! monitoring of industrial processes" (2014). At 50/s such a sine has four distinct values only; a phase of its own and
//! a little noise for each signal keep rows apart and stop them from compressing to nothing.

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

const ANALOG_SIGNALS: usize = 14;
const FREQUENCY_HZ: f64 = 12.5;
/// How many datapoints the digital signals keep their state for: half a second at the default rate.
const DIGITAL_HOLD: u64 = 25;

pub(crate) const INFO: DatasetInfo = DatasetInfo {
    name: "pmu",
    summary: "phasor measurement unit: 14 analog and 1 merged digital signal as 32-bit floats, 50 datapoints/s",
    parameters: PARAMETERS,
    origin_ns: DEFAULT_ORIGIN_NS,
    tags: Vec::new,
    is_simulated: true,
    open,
};

const PARAMETERS: &[Setting] = &[
    Setting { key: "rate", default: "50", help: "datapoints per second of a device" },
    Setting { key: "amplitude", default: "100", help: "amplitude of the analog signals" },
    Setting { key: "noise", default: "0.001", help: "standard deviation of the noise, as a share of the amplitude" },
    Setting { key: "jitter", default: "0s", help: "timestamps are late by up to this" },
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    rate: f64,
    amplitude: f64,
    noise: f64,
    jitter: SignedDuration,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { rate: 50.0, amplitude: 100.0, noise: 0.001, jitter: SignedDuration::ZERO }
    }
}

fn open(parameters: &Settings, opening: Opening<'_>) -> Result<Arc<dyn Dataset>, ParameterError> {
    let parameters: Parameters = typed(parameters, PARAMETERS)?;
    if !(-1e30..=1e30).contains(&parameters.amplitude) {
        return Err(ParameterError::key("amplitude", "must be from -1e30 to 1e30"));
    }
    let noise = share("noise", parameters.noise)?;
    Ok(Arc::new(Simulated {
        schema: schema()?,
        clock: clock(opening, period_ns(parameters.rate)?, parameters.jitter)?,
        signals: Pmu {
            hash: CounterHash::new(opening.seed).derive(0x0070_6d75),
            turns_per_index: FREQUENCY_HZ / parameters.rate,
            amplitude: parameters.amplitude,
            noise: noise * parameters.amplitude,
        },
    }))
}

fn schema() -> Result<Schema, ParameterError> {
    let names = (1..=ANALOG_SIGNALS).map(|n| format!("analog_{n:02}")).chain(["digital".into()]);
    let signal = |name| Signal { name, value_type: ValueType::F32, max_text_bytes: 0 };
    Ok(Schema::new(names.map(signal).collect())?)
}

#[derive(Debug)]
struct Pmu {
    hash: CounterHash,
    turns_per_index: f64,
    amplitude: f64,
    noise: f64,
}

impl Signals for Pmu {
    const DEVICE_PREFIX: &'static str = "pmu-";

    fn fill(&self, device: u32, indices: Range<u64>, _: &DeviceClock, columns: &mut [Column]) {
        let hash = self.hash.derive(device.into());
        let Some((digital, analog)) = columns.split_last_mut() else { return };
        for (signal, column) in (0..).zip(analog) {
            let Column::F32(values) = column else { return };
            let hash = hash.derive(signal);
            let wave = Oscillator::new(self.turns_per_index, hash.derive(0).at(0));
            values.extend(indices.clone().map(|index| {
                let value = self.amplitude * wave.sine(index) + self.noise * noise::normal_at(hash, index);
                #[expect(clippy::cast_possible_truncation, reason = "the signal is a 32-bit float")]
                let value = value as f32;
                value
            }));
        }
        let Column::F32(values) = digital else { return };
        let hash = hash.derive(u64::MAX);
        values.extend(indices.map(|index| f32::from(hash.at(index / DIGITAL_HOLD).to_le_bytes()[0])));
    }
}
