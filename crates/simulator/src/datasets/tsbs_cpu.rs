//! `tsbs_cpu`: the processors of hosts, as the Time Series Benchmark Suite has them.
//!
//! The use case `cpu-only` of TSBS (<https://github.com/timescale/tsbs>, pkg/data/usecases/devops/cpu.go): ten percentages of
//! a host each 10 s, all hosts at the same times. Each is a random walk from a random start that takes normal steps of standard
//! deviation 1 and is held between 0 and 100; its fraction is cut off. The rows differ from those that TSBS makes, because
//! any datapoint must be known without those before it: the walk is reflected just beyond its ends instead of being cut off at
//! them ([`BoundedWalk`]), and a step is at most 4.2 instead of any length. Values are as often 0 and 100 as theirs.

use crate::{
    Dataset, ParameterError,
    bounded_walk::BoundedWalk,
    clock::DeviceClock,
    config::{DEFAULT_ORIGIN_NS, DatasetInfo, Opening, typed},
    counter_hash::CounterHash,
    datasets::{clock, nanoseconds, tsbs_tags},
    simulated::{Signals, Simulated},
};
use iotbench_core::{Column, Schema, Setting, Settings, Signal, ValueType};
use jiff::SignedDuration;
use serde::Deserialize;
use std::{ops::Range, sync::Arc};

const MEASURES: [&str; 10] = [
    "usage_user",
    "usage_system",
    "usage_idle",
    "usage_nice",
    "usage_iowait",
    "usage_irq",
    "usage_softirq",
    "usage_steal",
    "usage_guest",
    "usage_guest_nice",
];
const HIGHEST: f64 = 100.0;
const DEVIATION: f64 = 1.0;

pub(crate) const INFO: DatasetInfo = DatasetInfo {
    name: "tsbs_cpu",
    summary: "hosts of TSBS's cpu-only: 10 usages as whole percentages that walk at random, each 10 s",
    parameters: PARAMETERS,
    origin_ns: DEFAULT_ORIGIN_NS,
    tags: tsbs_tags::of_host,
    is_simulated: true,
    open,
};

const PARAMETERS: &[Setting] = &[
    Setting { key: "interval", default: "10s", help: "time between two datapoints of a host" },
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
        Self { interval: SignedDuration::from_secs(10), jitter: SignedDuration::ZERO }
    }
}

fn open(parameters: &Settings, opening: Opening<'_>) -> Result<Arc<dyn Dataset>, ParameterError> {
    let parameters: Parameters = typed(parameters, PARAMETERS)?;
    let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::I64, max_text_bytes: 0 };
    Ok(Arc::new(Simulated {
        schema: Schema::new(MEASURES.map(signal).into())?,
        clock: clock(opening, nanoseconds("interval", parameters.interval)?, parameters.jitter)?,
        signals: TsbsCpu { hash: CounterHash::new(opening.seed).derive(0x7473_6270) },
    }))
}

#[derive(Debug)]
struct TsbsCpu {
    hash: CounterHash,
}

impl Signals for TsbsCpu {
    const DEVICE_PREFIX: &'static str = "host_";

    fn fill(&self, device: u32, indices: Range<u64>, _: &DeviceClock, columns: &mut [Column]) {
        let hash = self.hash.derive(device.into());
        for (measure, column) in (0..).zip(columns) {
            let Column::I64(values) = column else { return };
            let hash = hash.derive(measure);
            let walk = BoundedWalk::new(hash, 0.0, HIGHEST, DEVIATION, HIGHEST * hash.unit(0));
            #[expect(clippy::cast_possible_truncation, reason = "from 0 to 100; the fraction is cut off")]
            walk.values(indices.clone(), |usage| values.push(usage as i64));
        }
    }
}
