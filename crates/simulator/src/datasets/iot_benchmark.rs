//! `iot_benchmark`: the devices of IoT-Benchmark, many sensors each, of six types.
//!
//! After <https://github.com/thulab/iot-benchmark> (`GenerateDataWorkLoad`, `Function`, `Config` of its core): sensors have types in blocks by a
//! proportion, and a function each: a sawtooth, a sine wave, a square wave, noise or a constant, by other proportions. The values of a sensor are
//! worked out once for so many consecutive steps, and device D has at step N those of step N (D + 1) modulo that number. So it is here. Limits and
//! periods are drawn from the seed within the bounds of those that its file `function.xml` lists, of which it draws one.
//!
//! A truth value is 0 or 1 and 32-bit integers are 64-bit ones: there are no such types here.

use crate::{
    Dataset, ParameterError,
    clock::DeviceClock,
    config::{DEFAULT_ORIGIN_NS, DatasetInfo, Opening, typed},
    counter_hash::CounterHash,
    datasets::{clock, nanoseconds, rounded, wave},
    random_text::push_random_text,
    simulated::{Signals, Simulated},
};
use iotbench_core::{Column, Schema, Setting, Settings, Signal, ValueType};
use jiff::SignedDuration;
use serde::Deserialize;
use std::{ops::Range, sync::Arc};

const MAX_SENSORS: u32 = 10_000;
/// Of all sensors together, kept in memory.
const MAX_VALUES: u64 = 10_000_000;
const MAX_TEXT_BYTES: u32 = 1 << 16;
const MAX_DECIMALS: u32 = 9;

pub(crate) const INFO: DatasetInfo = DatasetInfo {
    name: "iot_benchmark",
    summary: "devices of IoT-Benchmark: 200 sensors of six types, waves, noise and constants that repeat, each 5 s",
    parameters: PARAMETERS,
    origin_ns: DEFAULT_ORIGIN_NS,
    tags: Vec::new,
    is_simulated: true,
    open,
};

const PARAMETERS: &[Setting] = &[
    Setting { key: "interval", default: "5s", help: "time between two datapoints of a device (POINT_STEP)" },
    Setting { key: "sensors", default: "200", help: "sensors of a device, s_0 and so on, 1 to 10000 (SENSOR_NUMBER)" },
    Setting {
        key: "types",
        default: "1:1:1:1:1:1",
        help: "how many are truth values (0 or 1), 32-bit integers, integers, 32-bit numbers, numbers, texts, relative to one another (INSERT_DATATYPE_PROPORTION)",
    },
    Setting {
        key: "functions",
        default: "1:1:1:1:1",
        help: "how many are sawtooths, sine waves, square waves, noise, constants, relative to one another (LINE_RATIO and so on)",
    },
    Setting {
        key: "buffer",
        default: "100",
        help: "after so many datapoints a sensor's values begin again (WORKLOAD_BUFFER_SIZE)",
    },
    Setting { key: "text_bytes", default: "2", help: "length of a text, 1 to 65536 (STRING_LENGTH)" },
    Setting { key: "decimals", default: "2", help: "decimals of a number, 0 to 9 (DOUBLE_LENGTH)" },
    Setting { key: "jitter", default: "0s", help: "timestamps are late by up to this" },
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    interval: SignedDuration,
    sensors: u32,
    types: String,
    functions: String,
    buffer: u32,
    text_bytes: u32,
    decimals: u32,
    jitter: SignedDuration,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            interval: SignedDuration::from_secs(5),
            sensors: 200,
            types: "1:1:1:1:1:1".into(),
            functions: "1:1:1:1:1".into(),
            buffer: 100,
            text_bytes: 2,
            decimals: 2,
            jitter: SignedDuration::ZERO,
        }
    }
}

/// What a sensor's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Truth,
    Integer32,
    Integer64,
    Number32,
    Number64,
    Text,
}

const KINDS: [Kind; 6] = [Kind::Truth, Kind::Integer32, Kind::Integer64, Kind::Number32, Kind::Number64, Kind::Text];

impl Kind {
    fn value_type(self) -> ValueType {
        match self {
            Self::Truth => ValueType::U16,
            Self::Integer32 | Self::Integer64 => ValueType::I64,
            Self::Number32 => ValueType::F32,
            Self::Number64 => ValueType::F64,
            Self::Text => ValueType::Text,
        }
    }
}

/// How values follow one another.
#[derive(Clone, Copy)]
enum Function {
    Sawtooth,
    Sine,
    Square,
    Noise,
    Constant,
}

const FUNCTIONS: [Function; 5] =
    [Function::Sawtooth, Function::Sine, Function::Square, Function::Noise, Function::Constant];

fn open(parameters: &Settings, opening: Opening<'_>) -> Result<Arc<dyn Dataset>, ParameterError> {
    let parameters: Parameters = typed(parameters, PARAMETERS)?;
    check(&parameters)?;
    let types = proportion::<6>("types", &parameters.types)?;
    let functions = proportion::<5>("functions", &parameters.functions)?;
    let period_ns = nanoseconds("interval", parameters.interval)?;
    let kind = |sensor: u32| KINDS[block(&types, (f64::from(sensor) + 1.0) / f64::from(parameters.sensors))];
    let signal = |sensor: u32| Signal {
        name: format!("s_{sensor}"),
        value_type: kind(sensor).value_type(),
        max_text_bytes: if kind(sensor) == Kind::Text { parameters.text_bytes } else { 0 },
    };
    let schema = Schema::new((0..parameters.sensors).map(signal).collect())?;
    let clock = clock(opening, period_ns, parameters.jitter)?;
    let hash = CounterHash::new(opening.seed).derive(0x696f_7462);
    let values = |sensor: u32| {
        let hash = hash.derive(sensor.into());
        let function = FUNCTIONS[block(&functions, hash.unit(0))];
        let mut column = Column::new(kind(sensor).value_type());
        push_values(&Of { function, hash, period_ns }, &parameters, &mut column);
        column
    };
    let signals =
        IotBenchmark { values: (0..parameters.sensors).map(values).collect(), buffer: parameters.buffer.into() };
    Ok(Arc::new(Simulated { schema, clock, signals }))
}

fn check(parameters: &Parameters) -> Result<(), ParameterError> {
    let Parameters { sensors, buffer, text_bytes, decimals, .. } = *parameters;
    let bytes = u64::from(sensors) * u64::from(buffer) * u64::from(text_bytes.max(1));
    let bounds = [
        ("sensors", (1..=MAX_SENSORS).contains(&sensors), format!("must be from 1 to {MAX_SENSORS}")),
        ("buffer", buffer > 0, "must be at least 1".into()),
        ("text_bytes", (1..=MAX_TEXT_BYTES).contains(&text_bytes), format!("must be from 1 to {MAX_TEXT_BYTES}")),
        ("decimals", decimals <= MAX_DECIMALS, format!("must be at most {MAX_DECIMALS}")),
        ("buffer", bytes <= MAX_VALUES, format!("times sensors times text_bytes must be at most {MAX_VALUES}")),
    ];
    match bounds.into_iter().find(|(_, holds, _)| !holds) {
        Some((key, _, message)) => Err(ParameterError::key(key, message)),
        None => Ok(()),
    }
}

/// Numbers between colons as the upper ends of their shares of 1.
fn proportion<const N: usize>(key: &str, text: &str) -> Result<[f64; N], ParameterError> {
    let wrong =
        || ParameterError::key(key, format!("{text:?}: write {N} whole numbers between colons, not all of them 0"));
    let numbers: Vec<u32> = text.split(':').map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
    let numbers: [u32; N] = numbers.try_into().map_err(|_| wrong())?;
    let sum: f64 = numbers.into_iter().map(f64::from).sum();
    if sum <= 0.0 {
        return Err(wrong());
    }
    let mut end = 0.0;
    Ok(numbers.map(|number| {
        end += f64::from(number);
        end / sum
    }))
}

/// In which of the shares a place from 0 to 1 lies.
fn block(ends: &[f64], place: f64) -> usize {
    ends.iter().position(|end| place <= *end).unwrap_or(ends.len() - 1)
}

/// A sensor.
struct Of {
    function: Function,
    hash: CounterHash,
    period_ns: i64,
}

/// Its values at the steps after which they begin again.
fn push_values(of: &Of, parameters: &Parameters, column: &mut Column) {
    let hash = of.hash;
    let power = (0..parameters.decimals).fold(1.0, |power, _| power * 10.0);
    let limits = Limits::drawn(hash);
    let texts = hash.derive(2);
    for step in 0..u64::from(parameters.buffer) {
        let value = limits.low + (limits.high - limits.low) * share(of, step);
        match column {
            Column::U16(values) => values.push((value > f64::midpoint(limits.low, limits.high)).into()),
            #[expect(clippy::cast_possible_truncation, reason = "limits are below 2^53; the fraction is cut off")]
            Column::I64(values) => values.push(value as i64),
            #[expect(clippy::cast_possible_truncation, reason = "the nearest of 32 bits is meant")]
            Column::F32(values) => values.push(rounded(value, power) as f32),
            Column::F64(values) => values.push(rounded(value, power)),
            Column::Text(values) => {
                values.push_with(|out| push_random_text(texts.derive(step), parameters.text_bytes, out));
            }
        }
    }
}

/// Between which values a sensor's lie.
struct Limits {
    low: f64,
    high: f64,
}

impl Limits {
    /// From around 0 to some 10,000, a few of them below 0, some hardly apart: as those of the file `function.xml` are.
    fn drawn(hash: CounterHash) -> Self {
        const MAGNITUDES: [f64; 4] = [10.0, 100.0, 1_000.0, 30_000.0];
        let magnitude = MAGNITUDES[usize::try_from(hash.below(1, 4)).unwrap_or(0)];
        let low = magnitude * (hash.unit(2) - 0.1);
        Self { low, high: low + magnitude * (0.02 + hash.unit(3)) }
    }
}

/// How far between its limits a sensor is at a step: from 0 to 1.
fn share(of: &Of, step: u64) -> f64 {
    const SECOND_NS: f64 = 1e9;
    /// Units of phase.
    const TURN: f64 = 18_446_744_073_709_551_616.0;
    let Of { function, hash, period_ns, .. } = *of;
    let within = |shortest_s: f64, longest_s: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "at most 7000 s in nanoseconds")]
        let period_ns = ((shortest_s + (longest_s - shortest_s) * hash.unit(4)) * SECOND_NS) as i64;
        period_ns
    };
    #[expect(clippy::cast_precision_loss, reason = "the nearest will do")]
    let fraction = |wave_ns: i64| wave(wave_ns, period_ns, 0).phase(step) as f64 / TURN;
    match function {
        Function::Sawtooth => fraction(within(350.0, 7_000.0)),
        Function::Sine => f64::midpoint(wave(within(1_750.0, 1_800.0), period_ns, 0).sine(step), 1.0),
        Function::Square => f64::from(u8::from(fraction(within(180.0, 4_200.0)) < 0.5)),
        Function::Noise => hash.derive(1).unit(step),
        Function::Constant => 0.0,
    }
}

#[derive(Debug)]
struct IotBenchmark {
    /// Of each sensor those of all steps.
    values: Vec<Column>,
    buffer: u64,
}

impl Signals for IotBenchmark {
    const DEVICE_PREFIX: &'static str = "d_";

    fn fill(&self, device: u32, indices: Range<u64>, _: &DeviceClock, columns: &mut [Column]) {
        let stride = (u64::from(device) + 1) % self.buffer;
        for (values, column) in self.values.iter().zip(columns) {
            for index in indices.clone() {
                let step = usize::try_from(index % self.buffer * stride % self.buffer).unwrap_or(0);
                let taken = values.get(step).is_some_and(|value| column.push(value));
                debug_assert!(taken, "a column of the sensor's own type");
            }
        }
    }
}
