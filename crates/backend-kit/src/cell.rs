//! One cell of a JSON answer, and what it is as a value of the schema's types.

use iotbench_core::{Cause, Error, ReplyColumn, TagType, Value, ValueType};
use serde::{Deserialize, Deserializer, de::Visitor};
use std::{borrow::Cow, fmt};

/// One cell. A whole number may stand in a column of floats.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// None.
    Null,
    /// True or false.
    Bool(bool),
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
            Self::Null => Cell::Null,
            Self::Bool(v) => Cell::Bool(v),
            Self::Integer(v) => Cell::Integer(v),
            Self::Float(v) => Cell::Float(v),
            Self::Text(v) => Cell::Text(Cow::Owned(v.into_owned())),
        }
    }

    /// The text that stands for a tag's value of a type; `None` where there is none. A truth may be stored as 1 or 0.
    #[must_use]
    pub fn tag(&self, tag_type: TagType) -> Option<Cow<'_, str>> {
        match (tag_type, self) {
            (_, Self::Null) => None,
            (TagType::Truth, Self::Integer(0)) => Some("false".into()),
            (TagType::Truth, Self::Integer(1)) => Some("true".into()),
            (_, Self::Text(text)) => Some(text.as_ref().into()),
            (_, other) => Some(other.to_string().into()),
        }
    }

    /// The text, where it is one.
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => Ok(()),
            Self::Bool(v) => v.fmt(f),
            Self::Integer(v) => v.fmt(f),
            Self::Float(v) => v.fmt(f),
            Self::Text(v) => f.write_str(v),
        }
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
        f.write_str("a cell")
    }

    fn visit_unit<E>(self) -> Result<Cell<'de>, E> {
        Ok(Cell::Null)
    }

    fn visit_bool<E>(self, v: bool) -> Result<Cell<'de>, E> {
        Ok(Cell::Bool(v))
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
#[inline]
pub fn value<'c>(cell: &'c Cell<'_>, value_type: ValueType) -> Result<Option<Value<'c>>, Error> {
    let unexpected = || Error::new(Cause::Protocol, format!("a {value_type:?} field holds {cell:?}"));
    Ok(Some(match (value_type, cell) {
        (_, Cell::Null) => return Ok(None),
        #[expect(clippy::cast_possible_truncation, reason = "an f32 was stored as the f64 of the same value")]
        (ValueType::F32, cell) => Value::F32(number(cell)?.ok_or_else(unexpected)? as f32),
        (ValueType::F64, cell) => Value::F64(number(cell)?.ok_or_else(unexpected)?),
        (ValueType::I64, Cell::Integer(v)) => Value::I64(*v),
        (ValueType::U16, Cell::Integer(v)) => Value::U16(u16::try_from(*v).map_err(|_| unexpected())?),
        (ValueType::Text, Cell::Text(v)) => Value::Text(v),
        _ => return Err(unexpected()),
    }))
}

/// Appends the cells of a datapoint to columns of these types.
///
/// # Errors
/// Those of [`value`] and of the columns.
pub fn push(columns: &mut [ReplyColumn], cells: &[Cell<'_>], types: &[ValueType]) -> Result<(), Error> {
    let mut columns = columns.iter_mut().zip(cells.iter().zip(types));
    columns.try_for_each(|(column, (cell, &value_type))| column.push(value(cell, value_type)?))
}

/// The number in the first cell of a row that is a number, or has no value.
#[must_use]
pub fn first_number(row: &[Cell<'_>]) -> Option<f64> {
    row.iter().find_map(|cell| number(cell).ok()).flatten()
}

/// A cell as a number.
///
/// # Errors
/// Protocol for a cell that holds none.
#[inline]
pub fn number(cell: &Cell<'_>) -> Result<Option<f64>, Error> {
    match cell {
        Cell::Null => Ok(None),
        Cell::Float(v) => Ok(Some(*v)),
        #[expect(clippy::cast_precision_loss, reason = "a float that is whole, or a figure, which is f64 everywhere")]
        Cell::Integer(v) => Ok(Some(*v as f64)),
        other => Err(Error::new(Cause::Protocol, format!("{other:?} stands where a number should"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_has_the_text_of_its_type_however_a_cell_holds_it() {
        for (cell, tag_type, expected) in [
            (Cell::Null, TagType::Integer, None),
            (Cell::Text("true".into()), TagType::Text, Some("true")),
            (Cell::Integer(-2), TagType::Integer, Some("-2")),
            (Cell::Float(1500.0), TagType::Number, Some("1500")),
            (Cell::Integer(1500), TagType::Number, Some("1500")),
            (Cell::Float(0.1), TagType::Number, Some("0.1")),
            (Cell::Bool(true), TagType::Truth, Some("true")),
            (Cell::Integer(0), TagType::Truth, Some("false")),
            (Cell::Integer(2), TagType::Truth, Some("2")),
        ] {
            assert_eq!(cell.tag(tag_type).as_deref(), expected, "{cell:?}");
        }
    }
}
