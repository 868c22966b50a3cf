//! One value as a JSON answer tells it, `[milliseconds, value]`, and what it is as a value of the schema's types.

use iotbench_core::{Cause, Error, Value, ValueType};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use std::{borrow::Cow, fmt};

/// A time in milliseconds, and a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Datapoint<'a> {
    /// Its time in milliseconds.
    pub ms: i64,
    /// Its value.
    pub cell: Cell<'a>,
}

/// A value as it is written. A float that is whole is written as an integer.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(Cow<'a, str>),
}

impl Cell<'_> {
    /// The same cell without the document.
    pub fn into_owned(self) -> Cell<'static> {
        match self {
            Self::Integer(v) => Cell::Integer(v),
            Self::Float(v) => Cell::Float(v),
            Self::Text(v) => Cell::Text(Cow::Owned(v.into_owned())),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Datapoint<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(DatapointVisitor)
    }
}

struct DatapointVisitor;

impl<'de> Visitor<'de> for DatapointVisitor {
    type Value = Datapoint<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time and a value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Datapoint<'de>, A::Error> {
        let missing = || serde::de::Error::custom("a datapoint without a value");
        let ms = pair.next_element()?.ok_or_else(missing)?;
        let cell = pair.next_element()?.ok_or_else(missing)?;
        while pair.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Datapoint { ms, cell })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Cell<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CellVisitor)
    }
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = Cell<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or a text")
    }

    fn visit_i64<E>(self, v: i64) -> Result<Cell<'de>, E> {
        Ok(Cell::Integer(v))
    }

    #[expect(clippy::cast_precision_loss, reason = "beyond i64 only floats are written without an exponent")]
    fn visit_u64<E>(self, v: u64) -> Result<Cell<'de>, E> {
        Ok(i64::try_from(v).map_or(Cell::Float(v as f64), Cell::Integer))
    }

    fn visit_f64<E>(self, v: f64) -> Result<Cell<'de>, E> {
        Ok(Cell::Float(v))
    }

    fn visit_borrowed_str<E>(self, v: &'de str) -> Result<Cell<'de>, E> {
        Ok(Cell::Text(Cow::Borrowed(v)))
    }

    fn visit_str<E>(self, v: &str) -> Result<Cell<'de>, E> {
        Ok(Cell::Text(Cow::Owned(v.to_owned())))
    }
}

/// A cell as a value of this type.
///
/// # Errors
/// Protocol for a cell that holds anything else.
pub fn value<'c>(cell: &'c Cell<'_>, value_type: ValueType) -> Result<Value<'c>, Error> {
    let unexpected = || Error::new(Cause::Protocol, format!("a {value_type:?} signal holds {cell:?}"));
    Ok(match (value_type, cell) {
        #[expect(clippy::cast_possible_truncation, reason = "an f32 was stored as the f64 of the same value")]
        (ValueType::F32, cell) => Value::F32(number(cell).ok_or_else(unexpected)? as f32),
        (ValueType::F64, cell) => Value::F64(number(cell).ok_or_else(unexpected)?),
        (ValueType::I64, Cell::Integer(v)) => Value::I64(*v),
        (ValueType::U16, Cell::Integer(v)) => Value::U16(u16::try_from(*v).map_err(|_| unexpected())?),
        (ValueType::Text, Cell::Text(v)) => Value::Text(v),
        _ => return Err(unexpected()),
    })
}

/// A cell as a number; a text as the number that it reads as.
pub fn number(cell: &Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Float(v) => Some(*v),
        #[expect(clippy::cast_precision_loss, reason = "a float that is whole, or a figure, which is f64 everywhere")]
        Cell::Integer(v) => Some(*v as f64),
        Cell::Text(text) => Value::Text(text).as_f64(),
    }
}
