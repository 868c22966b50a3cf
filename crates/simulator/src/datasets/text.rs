//! `text`: records of text, exactly 1 KB each.
//!
//! After the energy-monitoring study (LiteMe). The characters are drawn evenly from 64 printable ones, 6 random bits to
//! the 8 of a byte: no compressor gets below 75 % of the size.

use crate::{
    Dataset, ParameterError,
    clock::DeviceClock,
    config::{DEFAULT_ORIGIN_NS, DatasetInfo, Opening, typed},
    counter_hash::CounterHash,
    datasets::{clock, nanoseconds},
    random_text::push_random_text,
    simulated::{Signals, Simulated},
};
use iotbench_core::{Column, Schema, Setting, Settings, Signal, ValueType};
use jiff::SignedDuration;
use serde::Deserialize;
use std::{ops::Range, sync::Arc};

const MAX_BYTES: u32 = 1 << 20;

pub(crate) const INFO: DatasetInfo = DatasetInfo {
    name: "text",
    summary: "records of exactly 1024 bytes of printable text that compresses to 75 % at best",
    parameters: PARAMETERS,
    origin_ns: DEFAULT_ORIGIN_NS,
    tags: Vec::new,
    is_simulated: true,
    open,
};

const PARAMETERS: &[Setting] = &[
    Setting { key: "bytes", default: "1024", help: "length of a record, 1 to 1048576" },
    Setting { key: "interval", default: "1ms", help: "time between two records of a device" },
    Setting { key: "jitter", default: "0s", help: "timestamps are late by up to this" },
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    bytes: u32,
    interval: SignedDuration,
    jitter: SignedDuration,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { bytes: 1024, interval: SignedDuration::from_millis(1), jitter: SignedDuration::ZERO }
    }
}

fn open(parameters: &Settings, opening: Opening<'_>) -> Result<Arc<dyn Dataset>, ParameterError> {
    let parameters: Parameters = typed(parameters, PARAMETERS)?;
    if !(1..=MAX_BYTES).contains(&parameters.bytes) {
        return Err(ParameterError::key("bytes", format!("must be from 1 to {MAX_BYTES}")));
    }
    let record = Signal { name: "record".into(), value_type: ValueType::Text, max_text_bytes: parameters.bytes };
    Ok(Arc::new(Simulated {
        schema: Schema::new(vec![record])?,
        clock: clock(opening, nanoseconds("interval", parameters.interval)?, parameters.jitter)?,
        signals: Text { hash: CounterHash::new(opening.seed).derive(0x7465_7874), bytes: parameters.bytes },
    }))
}

#[derive(Debug)]
struct Text {
    hash: CounterHash,
    bytes: u32,
}

impl Signals for Text {
    const DEVICE_PREFIX: &'static str = "writer-";

    fn fill(&self, device: u32, indices: Range<u64>, _: &DeviceClock, columns: &mut [Column]) {
        let [Column::Text(texts)] = columns else { return };
        let hash = self.hash.derive(device.into());
        for index in indices {
            texts.push_with(|out| push_random_text(hash.derive(index), self.bytes, out));
        }
    }
}
