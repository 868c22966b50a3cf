//! Shapes that give numbers.

use super::{
    quantiles::{QUANTILES, QuantileTable},
    signal::ShapeContext,
};
use crate::{
    ParameterError,
    config::typed,
    counter_hash::{CounterHash, unit},
    datasets::{nanoseconds, share, wave},
    noise,
    oscillator::{Oscillator, sine},
    random_walk::{Counter, RandomWalk},
};
use iotbench_core::{Setting, Settings};
use jiff::SignedDuration;
use serde::Deserialize;

/// Larger parameters could add up to infinity.
const MAX: f64 = 1e150;

type Build = fn(&Settings, &[Setting], ShapeContext) -> Result<NumberShape, ParameterError>;

/// How a number follows from a device and an index.
#[derive(Clone, Debug)]
pub enum NumberShape {
    /// The same, but for noise.
    Constant(Constant),
    /// A function of the phase of a wave, with noise.
    Periodic {
        /// The wave; each device has a phase of its own.
        wave: Oscillator,
        /// What becomes of the phase.
        form: Form,
        /// Standard deviation of the noise.
        noise: f64,
    },
    /// The sum of random steps.
    RandomWalk(Walk),
    /// Evenly distributed.
    Uniform(Uniform),
    /// Normally distributed, cut off at 3.46 standard deviations.
    Normal(Normal),
    /// Never falls.
    Counter(Increments),
    /// Distributed as recorded.
    Quantiles(QuantileTable),
}

/// The form of a wave.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// Mean and amplitude.
    Sine(f64, f64),
    /// Low, high, and the part of a period that is high, times 2^64.
    Square(f64, f64, u64),
    /// Rises from low to high, then falls at once.
    Sawtooth(f64, f64),
}

impl NumberShape {
    /// Name, keys and how each is made.
    pub const ALL: [(&'static str, &'static [Setting], Build); 9] = [
        ("constant", CONSTANT, constant),
        ("sine", SINE, sine_wave),
        ("square", SQUARE, square),
        ("sawtooth", SAWTOOTH, sawtooth),
        ("random_walk", RANDOM_WALK, random_walk),
        ("uniform", UNIFORM, uniform),
        ("normal", NORMAL, normal),
        ("counter", COUNTER, counter),
        ("quantiles", QUANTILES, quantiles),
    ];

    /// The value of a device, given its random numbers, at an index.
    #[must_use]
    pub fn value(&self, hash: CounterHash, index: u64) -> f64 {
        match *self {
            Self::Quantiles(ref table) => table.value(hash, index),
            Self::Constant(Constant { value, noise }) => value + noise * noise::normal_at(hash, index),
            Self::Periodic { wave, form, noise } => {
                let phase = wave.phase(index).wrapping_add(hash.derive(0).at(0));
                form.value(phase) + noise * noise::normal_at(hash, index)
            }
            Self::RandomWalk(walk) => walk.value(hash, index),
            Self::Uniform(Uniform { min, max }) => (min + (max - min) * hash.unit(index)).min(max),
            Self::Normal(Normal { mean, deviation }) => mean + deviation * noise::normal_at(hash, index),
            Self::Counter(Increments { start, increment }) => {
                #[expect(clippy::cast_precision_loss, reason = "rounding keeps the order")]
                let increments = Counter::new(hash).value(index) as f64 / Counter::MEAN as f64;
                start + increment * increments
            }
        }
    }
}

impl Form {
    fn value(self, phase: u64) -> f64 {
        match self {
            Self::Sine(mean, amplitude) => mean + amplitude * sine(phase),
            Self::Square(low, high, duty) => {
                if phase < duty {
                    high
                } else {
                    low
                }
            }
            Self::Sawtooth(low, high) => low + (high - low) * unit(phase),
        }
    }
}

/// The keys of `constant`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Constant {
    value: f64,
    noise: f64,
}

const NOISE: Setting = Setting { key: "noise", default: "0", help: "standard deviation of the noise" };
const PERIOD: Setting = Setting { key: "period", default: "1m", help: "time of one wave" };
const CONSTANT: &[Setting] = &[Setting { key: "value", default: "0", help: "the value" }, NOISE];

fn constant(settings: &Settings, known: &[Setting], _: ShapeContext) -> Result<NumberShape, ParameterError> {
    let keys: Constant = typed(settings, known)?;
    bounded(&[("value", keys.value), ("noise", keys.noise)])?;
    Ok(NumberShape::Constant(keys))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Sine {
    mean: f64,
    amplitude: f64,
    period: SignedDuration,
    noise: f64,
}

impl Default for Sine {
    fn default() -> Self {
        Self { mean: 0.0, amplitude: 1.0, period: SignedDuration::from_mins(1), noise: 0.0 }
    }
}

const SINE: &[Setting] = &[
    Setting { key: "mean", default: "0", help: "the middle" },
    Setting { key: "amplitude", default: "1", help: "how far it goes from the middle" },
    PERIOD,
    NOISE,
];

fn sine_wave(settings: &Settings, known: &[Setting], context: ShapeContext) -> Result<NumberShape, ParameterError> {
    let keys: Sine = typed(settings, known)?;
    bounded(&[("mean", keys.mean), ("amplitude", keys.amplitude), ("noise", keys.noise)])?;
    let wave = periodic(keys.period, context)?;
    Ok(NumberShape::Periodic { wave, form: Form::Sine(keys.mean, keys.amplitude), noise: keys.noise })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Square {
    low: f64,
    high: f64,
    duty: f64,
    period: SignedDuration,
    noise: f64,
}

impl Default for Square {
    fn default() -> Self {
        Self { low: 0.0, high: 1.0, duty: 0.5, period: SignedDuration::from_mins(1), noise: 0.0 }
    }
}

const LOW: Setting = Setting { key: "low", default: "0", help: "the lower end" };
const HIGH: Setting = Setting { key: "high", default: "1", help: "the upper end" };
const SQUARE: &[Setting] = &[
    LOW,
    HIGH,
    Setting { key: "duty", default: "0.5", help: "part of the period in which it is high, 0 to 1" },
    PERIOD,
    NOISE,
];

fn square(settings: &Settings, known: &[Setting], context: ShapeContext) -> Result<NumberShape, ParameterError> {
    let keys: Square = typed(settings, known)?;
    bounded(&[("low", keys.low), ("high", keys.high), ("noise", keys.noise)])?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1 of 2^64, cut off there")]
    let duty = (share("duty", keys.duty)? * 18_446_744_073_709_551_616.0) as u64;
    let wave = periodic(keys.period, context)?;
    Ok(NumberShape::Periodic { wave, form: Form::Square(keys.low, keys.high, duty), noise: keys.noise })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Sawtooth {
    low: f64,
    high: f64,
    period: SignedDuration,
    noise: f64,
}

impl Default for Sawtooth {
    fn default() -> Self {
        Self { low: 0.0, high: 1.0, period: SignedDuration::from_mins(1), noise: 0.0 }
    }
}

const SAWTOOTH: &[Setting] = &[LOW, HIGH, PERIOD, NOISE];

fn sawtooth(settings: &Settings, known: &[Setting], context: ShapeContext) -> Result<NumberShape, ParameterError> {
    let keys: Sawtooth = typed(settings, known)?;
    bounded(&[("low", keys.low), ("high", keys.high), ("noise", keys.noise)])?;
    let wave = periodic(keys.period, context)?;
    Ok(NumberShape::Periodic { wave, form: Form::Sawtooth(keys.low, keys.high), noise: keys.noise })
}

/// The keys of `random_walk`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Walk {
    start: f64,
    step: f64,
    min: Option<f64>,
    max: Option<f64>,
}

impl Default for Walk {
    fn default() -> Self {
        Self { start: 0.0, step: 1.0, min: None, max: None }
    }
}

const RANDOM_WALK: &[Setting] = &[
    Setting { key: "start", default: "0", help: "where it starts" },
    Setting { key: "step", default: "1", help: "standard deviation of a step" },
    Setting { key: "min", default: "", help: "it turns back here; needs max" },
    Setting { key: "max", default: "", help: "it turns back here; needs min" },
];

fn random_walk(settings: &Settings, known: &[Setting], _: ShapeContext) -> Result<NumberShape, ParameterError> {
    let keys: Walk = typed(settings, known)?;
    let (min, max) = (keys.min.unwrap_or(-MAX), keys.max.unwrap_or(MAX));
    bounded(&[("start", keys.start), ("step", keys.step), ("min", min), ("max", max)])?;
    if keys.min.is_some() != keys.max.is_some() {
        return Err(ParameterError::key("max", "min and max go together"));
    }
    if !(min < max && (min..=max).contains(&keys.start)) {
        return Err(ParameterError::key("start", "must be from min to max, and min below max"));
    }
    Ok(NumberShape::RandomWalk(keys))
}

impl Walk {
    fn value(self, hash: CounterHash, index: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "positions are below 2^53 up to index 2^70")]
        let steps = RandomWalk::new(hash).position(index) as f64 / RandomWalk::UNIT as f64;
        let free = self.start + self.step * steps;
        match (self.min, self.max) {
            (Some(min), Some(max)) => reflected(free, min, max),
            _ => free,
        }
    }
}

/// Folds the line into a range, as if both ends were mirrors.
fn reflected(value: f64, min: f64, max: f64) -> f64 {
    let width = max - min;
    let turns = (value - min) / (2.0 * width);
    let place = (turns - turns.floor()) * 2.0;
    (min + width * if place > 1.0 { 2.0 - place } else { place }).clamp(min, max)
}

/// The keys of `uniform`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Uniform {
    min: f64,
    max: f64,
}

impl Default for Uniform {
    fn default() -> Self {
        Self { min: 0.0, max: 1.0 }
    }
}

const UNIFORM: &[Setting] = &[
    Setting { key: "min", default: "0", help: "smallest value" },
    Setting { key: "max", default: "1", help: "largest value" },
];

fn uniform(settings: &Settings, known: &[Setting], _: ShapeContext) -> Result<NumberShape, ParameterError> {
    let keys: Uniform = typed(settings, known)?;
    bounded(&[("min", keys.min), ("max", keys.max)])?;
    if keys.min > keys.max {
        return Err(ParameterError::key("min", "must not be above max"));
    }
    Ok(NumberShape::Uniform(keys))
}

/// The keys of `normal`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Normal {
    mean: f64,
    deviation: f64,
}

impl Default for Normal {
    fn default() -> Self {
        Self { mean: 0.0, deviation: 1.0 }
    }
}

const NORMAL: &[Setting] = &[
    Setting { key: "mean", default: "0", help: "the mean" },
    Setting { key: "deviation", default: "1", help: "the standard deviation" },
];

fn normal(settings: &Settings, known: &[Setting], _: ShapeContext) -> Result<NumberShape, ParameterError> {
    let keys: Normal = typed(settings, known)?;
    bounded(&[("mean", keys.mean), ("deviation", keys.deviation)])?;
    Ok(NumberShape::Normal(keys))
}

/// The keys of `counter`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Increments {
    start: f64,
    increment: f64,
}

impl Default for Increments {
    fn default() -> Self {
        Self { start: 0.0, increment: 1.0 }
    }
}

const COUNTER: &[Setting] = &[
    Setting { key: "start", default: "0", help: "the value at index 0" },
    Setting {
        key: "increment",
        default: "1",
        help: "mean growth per datapoint, not negative; it varies from 0 to twice that",
    },
];

fn counter(settings: &Settings, known: &[Setting], _: ShapeContext) -> Result<NumberShape, ParameterError> {
    let keys: Increments = typed(settings, known)?;
    bounded(&[("start", keys.start), ("increment", keys.increment)])?;
    if keys.increment < 0.0 {
        return Err(ParameterError::key("increment", "must not be negative"));
    }
    Ok(NumberShape::Counter(keys))
}

fn quantiles(settings: &Settings, known: &[Setting], _: ShapeContext) -> Result<NumberShape, ParameterError> {
    let table: QuantileTable = typed(settings, known)?;
    table.check()?;
    let [min, max] = table.ends();
    bounded(&[("quantiles", min), ("quantiles", max)])?;
    Ok(NumberShape::Quantiles(table))
}

fn periodic(period: SignedDuration, context: ShapeContext) -> Result<Oscillator, ParameterError> {
    match nanoseconds("period", period)? {
        period_ns @ 1.. => Ok(wave(period_ns, context.period_ns, 0)),
        _ => Err(ParameterError::key("period", "must be positive")),
    }
}

fn bounded(values: &[(&str, f64)]) -> Result<(), ParameterError> {
    match values.iter().find(|(_, value)| !(-MAX..=MAX).contains(value)) {
        Some((key, _)) => Err(ParameterError::key(*key, format!("must be from -{MAX:e} to {MAX:e}"))),
        None => Ok(()),
    }
}
