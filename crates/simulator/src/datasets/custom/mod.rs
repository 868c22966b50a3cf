//! `custom`: signals of the user's own.
//!
//! ```toml
//! [dataset]
//! name = "custom"
//! interval = "100ms"
//! gaps = { share = 0.01, length = "5s" }
//!
//! [[dataset.signals]]
//! name = "pressure"
//! shape = "sine"
//! mean = 4.0
//! period = "10s"
//!
//! [[dataset.signals]]
//! name = "mode"
//! shape = "state"
//! states = ["idle", "run", "fault"]
//! weights = [5, 20, 1]
//! ```

mod choice;
mod number;
mod quantiles;
mod shapes;
mod signal;
mod text;

use crate::{
    Dataset, ParameterError,
    clock::{Clock, ClockPlan},
    config::{DEFAULT_ORIGIN_NS, DatasetInfo, Opening, typed},
    counter_hash::CounterHash,
    datasets::nanoseconds,
    dirty::DirtyData,
    text_file::read_regular_text,
};
use iotbench_core::{Batch, Run, Schema, Setting, Settings};
use jiff::SignedDuration;
use serde::Deserialize;
use serde_json::{Map, Value};
pub use shapes::{ShapeInfo, shapes};
pub use signal::{CustomSignal, ShapeContext};
use std::{path::Path, sync::Arc};

const MAX_FILE_BYTES: u64 = 1 << 20;

pub(crate) const INFO: DatasetInfo = DatasetInfo {
    name: "custom",
    summary: "signals of your own: shapes, types, clocks, gaps, late and scrambled datapoints",
    parameters: PARAMETERS,
    origin_ns: DEFAULT_ORIGIN_NS,
    tags: Vec::new,
    is_simulated: true,
    open,
};

const PARAMETERS: &[Setting] = &[
    Setting { key: "signals", default: "[]", help: "one table per signal: name, shape, type and the shape's own keys" },
    Setting { key: "file", default: "", help: "TOML file with these same keys; those given here take precedence" },
    Setting { key: "interval", default: "1s", help: "time between two datapoints of a device" },
    Setting { key: "jitter", default: "0s", help: "timestamps are late by up to this, at most the interval" },
    Setting { key: "clock_offset", default: "0s", help: "each device's clock is off by up to this, early or late" },
    Setting { key: "resolution", default: "", help: "grid of the timestamps; empty: the coarsest that fits" },
    Setting { key: "device_prefix", default: "device-", help: "what the devices' names begin with" },
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    signals: Vec<Map<String, Value>>,
    interval: SignedDuration,
    jitter: SignedDuration,
    clock_offset: SignedDuration,
    resolution: Option<SignedDuration>,
    device_prefix: String,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            signals: Vec::new(),
            interval: SignedDuration::from_secs(1),
            jitter: SignedDuration::ZERO,
            clock_offset: SignedDuration::ZERO,
            resolution: None,
            device_prefix: "device-".into(),
        }
    }
}

fn open(parameters: &Settings, opening: Opening<'_>) -> Result<Arc<dyn Dataset>, ParameterError> {
    let mut parameters = with_file(parameters, opening.base)?;
    let dirt = DirtyData::take(&mut parameters)?;
    dirt.of(opening.seed, |seed| clean(&parameters, Opening { seed, ..opening }))
}

/// The dataset with which nothing goes wrong.
fn clean(parameters: &Settings, opening: Opening<'_>) -> Result<Arc<dyn Dataset>, ParameterError> {
    let parameters: Parameters = typed(parameters, PARAMETERS)?;
    let period_ns = nanoseconds("interval", parameters.interval)?;
    let plan = ClockPlan {
        origin_ns: opening.origin_ns,
        period_ns,
        offset_ns: nanoseconds("clock_offset", parameters.clock_offset)?,
        jitter_ns: nanoseconds("jitter", parameters.jitter)?,
        resolution_ns: parameters.resolution.map(|r| nanoseconds("resolution", r)).transpose()?,
    };
    let clock = Clock::new(plan, opening.seed)?;
    let hash = CounterHash::new(opening.seed).derive(0x6375_7374);
    let mut signals = Vec::with_capacity(parameters.signals.len());
    for (place, table) in (0..).zip(parameters.signals) {
        signals.extend(CustomSignal::copies(place, table, period_ns, hash)?);
    }
    let schema = Schema::new(signals.iter().map(CustomSignal::signal).collect())?;
    Ok(Arc::new(Custom { schema, clock, signals, device_prefix: parameters.device_prefix }))
}

/// The parameters, completed by those in the file that they name.
fn with_file(given: &Settings, base: &Path) -> Result<Settings, ParameterError> {
    let mut given = given.clone();
    let Some(file) = given.0.remove("file") else { return Ok(given) };
    let Value::String(file) = file else { return Err(ParameterError::key("file", "must be the name of a file")) };
    let path = base.join(file);
    let fault = |message: String| ParameterError::key("file", format!("{}: {message}", path.display()));
    let text = read_regular_text(&path, MAX_FILE_BYTES).map_err(|e| fault(e.to_string()))?;
    let mut settings: Map<String, Value> = toml::from_str(&text).map_err(|e| fault(e.to_string()))?;
    settings.extend(given.0);
    Ok(Settings(settings))
}

#[derive(Debug)]
struct Custom {
    schema: Schema,
    clock: Clock,
    signals: Vec<CustomSignal>,
    device_prefix: String,
}

impl Dataset for Custom {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn origin_ns(&self) -> i64 {
        self.clock.origin_ns()
    }

    fn period_ns(&self) -> i64 {
        self.clock.period_ns()
    }

    fn resolution_ns(&self) -> i64 {
        self.clock.resolution_ns()
    }

    fn timestamp_ns(&self, device: u32, index: u64) -> i64 {
        self.clock.of(device).timestamp_ns(index)
    }

    fn index_at(&self, device: u32, timestamp_ns: i64) -> u64 {
        self.clock.of(device).index_at(timestamp_ns)
    }

    fn fill(&self, run: Run, batch: &mut Batch) {
        let clock = self.clock.of(run.device);
        batch.append(run, |timestamps_ns, columns| {
            timestamps_ns.extend(run.indices().map(|index| clock.timestamp_ns(index)));
            for (signal, column) in self.signals.iter().zip(columns) {
                signal.fill(run, column);
            }
        });
    }

    fn device_name(&self, device: u32, out: &mut String) {
        out.push_str(&self.device_prefix);
        out.push_str(itoa::Buffer::new().format(device));
    }
}
