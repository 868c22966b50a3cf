//! `compressor`: an industrial compressor with accelerometers on a radio network.
//!
//! After Gkamas, Karaiskos and Kontogiannis (2022): 23 attributes, of which the tag is the device and the others are the
//! signals here. About 1,000 tags share a table; a tag's position and gateway stay, its readings vary.

use crate::{
    Dataset, ParameterError,
    clock::DeviceClock,
    config::{DEFAULT_ORIGIN_NS, DatasetInfo, Opening, typed},
    counter_hash::CounterHash,
    datasets::{clock, nanoseconds, rounded},
    noise,
    simulated::{Signals, Simulated},
};
use iotbench_core::{Column, Schema, Setting, Settings, Signal, ValueType};
use jiff::SignedDuration;
use serde::Deserialize;
use std::{ops::Range, sync::Arc};

const RECORD_ID_BYTES: u32 = 24;
const GATEWAY_BYTES: u32 = 16;
const GATEWAYS: u64 = 10;

pub(crate) const INFO: DatasetInfo = DatasetInfo {
    name: "compressor",
    summary: "industrial compressor: record and radio attributes, speed, temperatures and 12 vibrations, each second",
    parameters: PARAMETERS,
    origin_ns: DEFAULT_ORIGIN_NS,
    tags: Vec::new,
    is_simulated: true,
    open,
};

const PARAMETERS: &[Setting] = &[
    Setting { key: "interval", default: "1s", help: "time between two records of a tag" },
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
        Self { interval: SignedDuration::from_secs(1), jitter: SignedDuration::ZERO }
    }
}

/// The measured attributes: mean, standard deviation and power of ten of the decimals.
const READINGS: [(&str, f64, f64, f64); 15] = [
    ("data_rpm", 2950.0, 15.0, 1.0),
    ("data_shaft_temperature", 68.0, 1.5, 100.0),
    ("data_frame_temperature", 54.0, 1.0, 100.0),
    ("data_nw_x", 0.0, 2.5, 10_000.0),
    ("data_nw_y", 0.0, 2.5, 10_000.0),
    ("data_nw_z", 9.81, 1.5, 10_000.0),
    ("data_ne_x", 0.0, 2.5, 10_000.0),
    ("data_ne_y", 0.0, 2.5, 10_000.0),
    ("data_ne_z", 9.81, 1.5, 10_000.0),
    ("data_sw_x", 0.0, 2.5, 10_000.0),
    ("data_sw_y", 0.0, 2.5, 10_000.0),
    ("data_sw_z", 9.81, 1.5, 10_000.0),
    ("data_se_x", 0.0, 2.5, 10_000.0),
    ("data_se_y", 0.0, 2.5, 10_000.0),
    ("data_se_z", 9.81, 1.5, 10_000.0),
];

fn open(parameters: &Settings, opening: Opening<'_>) -> Result<Arc<dyn Dataset>, ParameterError> {
    let parameters: Parameters = typed(parameters, PARAMETERS)?;
    Ok(Arc::new(Simulated {
        schema: schema()?,
        clock: clock(opening, nanoseconds("interval", parameters.interval)?, parameters.jitter)?,
        signals: Compressor { hash: CounterHash::new(opening.seed).derive(0x636f_6d70) },
    }))
}

fn schema() -> Result<Schema, ParameterError> {
    let signal = |name: &str, value_type, max_text_bytes| Signal { name: name.into(), value_type, max_text_bytes };
    let mut signals = vec![
        signal("record_id", ValueType::Text, RECORD_ID_BYTES),
        signal("rxinfo_rssi", ValueType::I64, 0),
        signal("rxinfo_latitude", ValueType::F64, 0),
        signal("rxinfo_longitude", ValueType::F64, 0),
        signal("rxinfo_altitude", ValueType::F64, 0),
        signal("rxinfo_gateway", ValueType::Text, GATEWAY_BYTES),
        signal("rxinfo_received_ms", ValueType::I64, 0),
    ];
    signals.extend(READINGS.iter().map(|(name, ..)| signal(name, ValueType::F64, 0)));
    Ok(Schema::new(signals)?)
}

#[derive(Debug)]
struct Compressor {
    hash: CounterHash,
}

impl Signals for Compressor {
    const DEVICE_PREFIX: &'static str = "tag-";

    fn fill(&self, device: u32, indices: Range<u64>, clock: &DeviceClock, columns: &mut [Column]) {
        let hash = self.hash.derive(device.into());
        let [
            Column::Text(ids),
            Column::I64(rssi),
            Column::F64(latitudes),
            Column::F64(longitudes),
            Column::F64(altitudes),
            Column::Text(gateways),
            Column::I64(received_ms),
            readings @ ..,
        ] = columns
        else {
            return;
        };
        for index in indices.clone() {
            ids.push_with(|out| push_record_id(self.hash.derive(u64::MAX), device, index, out));
            gateways.push_with(|out| push_hex(self.hash.derive(u64::MAX - 1).at(hash.below(3, GATEWAYS)), out));
            rssi.push(-40 - hash.derive(0).below(index, 70).cast_signed());
            let delay_ms = 20 + hash.derive(1).below(index, 180).cast_signed();
            received_ms.push(clock.timestamp_ns(index) / 1_000_000 + delay_ms);
        }
        let same = |value: f64| indices.clone().map(move |_| value);
        latitudes.extend(same(rounded(39.0 + hash.unit(0), 1e6)));
        longitudes.extend(same(rounded(20.0 + hash.unit(1), 1e6)));
        altitudes.extend(same(rounded(400.0 + 200.0 * hash.unit(2), 10.0)));
        for ((part, column), &(_, mean, deviation, power)) in (2..).zip(readings).zip(&READINGS) {
            let Column::F64(values) = column else { return };
            let hash = hash.derive(part);
            values
                .extend(indices.clone().map(|index| rounded(mean + deviation * noise::normal_at(hash, index), power)));
        }
    }
}

/// 24 hexadecimal digits, as a document database's object identifier; the device and a bijection of the index make it
/// unique.
fn push_record_id(hash: CounterHash, device: u32, index: u64, out: &mut String) {
    push_digits(device.into(), 8, out);
    push_hex(hash.derive(device.into()).at(index), out);
}

fn push_hex(bits: u64, out: &mut String) {
    push_digits(bits, 16, out);
}

fn push_digits(bits: u64, digits: u32, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for digit in (0..digits).rev() {
        out.push(char::from(DIGITS[usize::from((bits >> (4 * digit)).to_le_bytes()[0] & 15)]));
    }
}
