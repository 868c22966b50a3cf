//! `smart_meter`: an electricity meter.
//!
//! One 32-bit float, the energy so far, each 15 minutes (Goldschmidt et al. 2014, the industrial monitoring study). A
//! meter starts with a reading of its own, consumes at a mean of its own, and never runs backwards. As a 32-bit float
//! resolves 1 Wh below 16,384 kWh only, the steps become coarser as the reading grows.

use crate::{
    Dataset, ParameterError,
    clock::DeviceClock,
    config::{DEFAULT_ORIGIN_NS, DatasetInfo, Opening, typed},
    counter_hash::CounterHash,
    datasets::{clock, nanoseconds},
    random_walk::Counter,
    simulated::{Signals, Simulated},
};
use iotbench_core::{Column, Schema, Setting, Settings, Signal, ValueType};
use jiff::SignedDuration;
use serde::Deserialize;
use std::{ops::Range, sync::Arc};

const HOUR_NS: f64 = 3.6e12;

pub(crate) const INFO: DatasetInfo = DatasetInfo {
    name: "smart_meter",
    summary: "electricity meter: energy so far in kWh as a 32-bit float, each 15 minutes",
    parameters: PARAMETERS,
    origin_ns: DEFAULT_ORIGIN_NS,
    tags: Vec::new,
    is_simulated: true,
    open,
};

const PARAMETERS: &[Setting] = &[
    Setting { key: "interval", default: "15m", help: "time between two readings of a meter" },
    Setting {
        key: "power",
        default: "0.4",
        help: "mean consumption in kW; a meter's own is from half to 1.5 times it",
    },
    Setting { key: "jitter", default: "0s", help: "timestamps are late by up to this" },
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    interval: SignedDuration,
    power: f64,
    jitter: SignedDuration,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { interval: SignedDuration::from_mins(15), power: 0.4, jitter: SignedDuration::ZERO }
    }
}

fn open(parameters: &Settings, opening: Opening<'_>) -> Result<Arc<dyn Dataset>, ParameterError> {
    let parameters: Parameters = typed(parameters, PARAMETERS)?;
    if !(0.0..=1e9).contains(&parameters.power) {
        return Err(ParameterError::key("power", "must be from 0 to 1e9 kW"));
    }
    let period_ns = nanoseconds("interval", parameters.interval)?;
    let energy = Signal { name: "energy_kwh".into(), value_type: ValueType::F32, max_text_bytes: 0 };
    #[expect(clippy::cast_precision_loss, reason = "the nearest will do")]
    let mean_kwh = parameters.power * period_ns as f64 / HOUR_NS;
    Ok(Arc::new(Simulated {
        schema: Schema::new(vec![energy])?,
        clock: clock(opening, period_ns, parameters.jitter)?,
        signals: SmartMeter { hash: CounterHash::new(opening.seed).derive(0x006d_6574_6572), mean_kwh },
    }))
}

#[derive(Debug)]
struct SmartMeter {
    hash: CounterHash,
    mean_kwh: f64,
}

impl Signals for SmartMeter {
    const DEVICE_PREFIX: &'static str = "meter-";

    fn fill(&self, device: u32, indices: Range<u64>, _: &DeviceClock, columns: &mut [Column]) {
        let [Column::F32(values)] = columns else { return };
        let hash = self.hash.derive(device.into());
        let counter = Counter::new(hash.derive(0));
        let (start_kwh, own_mean_kwh) = (1000.0 * hash.unit(0), self.mean_kwh * (0.5 + hash.unit(1)));
        #[expect(clippy::cast_precision_loss, reason = "a mean of whole units, far below 2^53")]
        let kwh_per_unit = own_mean_kwh / Counter::MEAN as f64;
        values.extend(indices.map(|index| {
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                reason = "rounding keeps the order"
            )]
            let kwh = (start_kwh + counter.value(index) as f64 * kwh_per_unit) as f32;
            kwh
        }));
    }
}
