//! One signal of the user's: a shape with a type.

use super::{number::NumberShape, text::TextShape};
use crate::{ParameterError, counter_hash::CounterHash, datasets::rounded};
use iotbench_core::{Column, Run, Setting, Settings, Signal, ValueType, closest};
use serde_json::{Map, Value};

/// The keys that every signal takes.
pub const COMMON: [Setting; 5] = [
    Setting { key: "name", default: "", help: "lower-case letters, digits and _" },
    Setting { key: "shape", default: "", help: "how its values come about" },
    Setting {
        key: "type",
        default: "",
        help: "f32, f64, i64, u16 or text; unset: f64, or text where the shape gives texts",
    },
    Setting { key: "decimals", default: "", help: "digits after the point to which numbers are rounded, 0 to 9" },
    Setting {
        key: "copies",
        default: "",
        help: "so many signals like it, each with values of its own: NAME0, NAME1, …; 1 to 10000",
    },
];

const MAX_COPIES: u64 = 10_000;

/// A signal with everything that decides its values but the device.
#[derive(Debug)]
pub struct CustomSignal {
    name: String,
    value_type: ValueType,
    shape: Shape,
    /// Power of ten of the decimals that stay.
    decimals: Option<f64>,
    hash: CounterHash,
}

#[derive(Debug)]
enum Shape {
    Number(NumberShape),
    Text(TextShape),
}

/// What a shape needs besides its own keys.
#[derive(Clone, Copy, Debug)]
pub struct ShapeContext {
    /// Time between two datapoints.
    pub period_ns: i64,
    /// The signal's own random numbers.
    pub hash: CounterHash,
}

impl CustomSignal {
    /// The signals at this place of the list, as written: one, or as many as its `copies`.
    ///
    /// # Errors
    /// An unknown shape, a key that it does not take, or a value that does not fit; the key is `signals[place].key`.
    pub fn copies(
        place: u64,
        table: Map<String, Value>,
        period_ns: i64,
        hash: CounterHash,
    ) -> Result<Vec<Self>, ParameterError> {
        let context = ShapeContext { period_ns, hash: hash.derive(place) };
        Self::read_copies(table, context).map_err(|error| at(place, error))
    }

    /// The one signal that is written so.
    ///
    /// # Errors
    /// As [`Self::copies`]; `copies` is no key of it.
    pub fn new(
        place: u64,
        mut table: Map<String, Value>,
        period_ns: i64,
        hash: CounterHash,
    ) -> Result<Self, ParameterError> {
        Self::read(&mut table, ShapeContext { period_ns, hash: hash.derive(place) }).map_err(|error| at(place, error))
    }

    fn read_copies(mut table: Map<String, Value>, context: ShapeContext) -> Result<Vec<Self>, ParameterError> {
        let copies = match optional::<u64>(&mut table, "copies")? {
            None => return Self::read(&mut table, context).map(|signal| vec![signal]),
            Some(copies @ 1..=MAX_COPIES) => copies,
            Some(_) => return Err(ParameterError::key("copies", "must be from 1 to 10000")),
        };
        let copy = |number: u64| {
            let context = ShapeContext { hash: context.hash.derive(1 + number), ..context };
            let signal = Self::read(&mut table.clone(), context)?;
            Ok(Self { name: format!("{}{number}", signal.name), ..signal })
        };
        (0..copies).map(copy).collect()
    }

    fn read(table: &mut Map<String, Value>, context: ShapeContext) -> Result<Self, ParameterError> {
        let name = required(table, "name")?;
        let shape_name = required(table, "shape")?;
        let value_type = optional::<ValueType>(table, "type")?;
        let decimals = optional::<u8>(table, "decimals")?;
        let settings = Settings(std::mem::take(table));
        let shape = Shape::new(&shape_name, &settings, context)?;
        let value_type = value_type.unwrap_or(match shape {
            Shape::Number(_) => ValueType::F64,
            Shape::Text(_) => ValueType::Text,
        });
        if !shape.fits(value_type) {
            return Err(ParameterError::key("type", format!("a {shape_name} cannot be of this type")));
        }
        let decimals = match decimals {
            None => None,
            Some(digits @ 0..=9) => Some((0..digits).fold(1.0, |power, _| power * 10.0)),
            Some(_) => return Err(ParameterError::key("decimals", "must be from 0 to 9")),
        };
        Ok(Self { name, value_type, shape, decimals, hash: context.hash })
    }

    /// Its place in a schema.
    #[must_use]
    pub fn signal(&self) -> Signal {
        let max_text_bytes = match &self.shape {
            Shape::Text(text) if self.value_type == ValueType::Text => text.max_bytes(),
            _ => 0,
        };
        Signal { name: self.name.clone(), value_type: self.value_type, max_text_bytes }
    }

    /// Appends the values of a run.
    pub fn fill(&self, run: Run, column: &mut Column) {
        let hash = self.hash.derive(run.device.into());
        let numbers = run.indices().map(|index| self.number(hash, index));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut off at the type's extremes")]
        match (column, &self.shape) {
            (Column::F32(values), _) => {
                values.extend(numbers.map(|v| v.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32));
            }
            (Column::F64(values), _) => values.extend(numbers),
            (Column::I64(values), _) => values.extend(numbers.map(|v| v.round() as i64)),
            (Column::U16(values), _) => values.extend(numbers.map(|v| v.round() as u16)),
            (Column::Text(texts), Shape::Text(shape)) => {
                for index in run.indices() {
                    texts.push_with(|out| shape.push(hash, index, out));
                }
            }
            (Column::Text(_), Shape::Number(_)) => {}
        }
    }

    fn number(&self, hash: CounterHash, index: u64) -> f64 {
        let value = match &self.shape {
            Shape::Number(shape) => shape.value(hash, index),
            Shape::Text(shape) => shape.number(hash, index),
        };
        self.decimals.map_or(value, |power| rounded(value, power))
    }
}

impl Shape {
    fn new(name: &str, settings: &Settings, context: ShapeContext) -> Result<Self, ParameterError> {
        if let Some((_, known, build)) = NumberShape::ALL.iter().find(|(n, ..)| *n == name) {
            let known = [&COMMON, *known].concat();
            return Ok(Self::Number(build(settings, &known, context)?));
        }
        if let Some((_, known, build)) = TextShape::ALL.iter().find(|(n, ..)| *n == name) {
            let known = [&COMMON, *known].concat();
            return Ok(Self::Text(build(settings, &known, context)?));
        }
        let names = || NumberShape::ALL.iter().map(|(n, ..)| *n).chain(TextShape::ALL.iter().map(|(n, ..)| *n));
        Err(ParameterError::Key(iotbench_core::SettingError {
            key: "shape".into(),
            message: format!("there is no shape {name:?}; known: {}", names().collect::<Vec<_>>().join(", ")),
            suggestion: closest(name, names()).map(Into::into),
        }))
    }

    fn fits(&self, value_type: ValueType) -> bool {
        match self {
            Self::Number(_) => value_type.is_number(),
            Self::Text(text) => !value_type.is_number() || text.has_numbers(),
        }
    }
}

/// The error with the place in the list before its key.
fn at(place: u64, error: ParameterError) -> ParameterError {
    match error {
        ParameterError::Key(mut e) => {
            e.key = format!("signals[{place}].{}", e.key);
            ParameterError::Key(e)
        }
        recording @ ParameterError::Recording(_) => recording,
    }
}

fn required(table: &mut Map<String, Value>, key: &str) -> Result<String, ParameterError> {
    optional(table, key)?.ok_or_else(|| ParameterError::key(key, "is missing"))
}

fn optional<T: serde::de::DeserializeOwned>(
    table: &mut Map<String, Value>,
    key: &str,
) -> Result<Option<T>, ParameterError> {
    let Some(value) = table.remove(key) else { return Ok(None) };
    serde_json::from_value(value).map(Some).map_err(|e| ParameterError::key(key, e))
}
