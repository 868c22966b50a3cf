//! Columns of values, kept when a batch is emptied so that nothing is allocated per datapoint.

use crate::ValueType;
use serde::{Deserialize, Serialize};

/// One value, borrowed from a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// See [`ValueType::F32`].
    F32(f32),
    /// See [`ValueType::F64`].
    F64(f64),
    /// See [`ValueType::I64`].
    I64(i64),
    /// See [`ValueType::U16`].
    U16(u16),
    /// See [`ValueType::Text`].
    Text(&'a str),
}

impl Value<'_> {
    /// The value as a number; text is read as a decimal number, as a database's cast would.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Value::F32(v) => Some(f64::from(v)),
            Value::F64(v) => Some(v),
            #[expect(clippy::cast_precision_loss, reason = "aggregates are f64 in every database")]
            Value::I64(v) => Some(v as f64),
            Value::U16(v) => Some(f64::from(v)),
            Value::Text(v) => v.trim().parse().ok(),
        }
    }
}

/// The values of one signal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Column {
    /// See [`ValueType::F32`].
    F32(Vec<f32>),
    /// See [`ValueType::F64`].
    F64(Vec<f64>),
    /// See [`ValueType::I64`].
    I64(Vec<i64>),
    /// See [`ValueType::U16`].
    U16(Vec<u16>),
    /// See [`ValueType::Text`].
    Text(TextColumn),
}

impl Column {
    /// An empty column.
    #[must_use]
    pub fn new(value_type: ValueType) -> Self {
        match value_type {
            ValueType::F32 => Self::F32(Vec::new()),
            ValueType::F64 => Self::F64(Vec::new()),
            ValueType::I64 => Self::I64(Vec::new()),
            ValueType::U16 => Self::U16(Vec::new()),
            ValueType::Text => Self::Text(TextColumn::default()),
        }
    }

    /// The type of its values.
    #[must_use]
    pub fn value_type(&self) -> ValueType {
        match self {
            Self::F32(_) => ValueType::F32,
            Self::F64(_) => ValueType::F64,
            Self::I64(_) => ValueType::I64,
            Self::U16(_) => ValueType::U16,
            Self::Text(_) => ValueType::Text,
        }
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F32(v) => v.len(),
            Self::F64(v) => v.len(),
            Self::I64(v) => v.len(),
            Self::U16(v) => v.len(),
            Self::Text(v) => v.len(),
        }
    }

    /// True when there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of this row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<Value<'_>> {
        match self {
            Self::F32(v) => v.get(row).copied().map(Value::F32),
            Self::F64(v) => v.get(row).copied().map(Value::F64),
            Self::I64(v) => v.get(row).copied().map(Value::I64),
            Self::U16(v) => v.get(row).copied().map(Value::U16),
            Self::Text(v) => v.get(row).map(Value::Text),
        }
    }

    /// Appends the values of a column of the same type; false when it is of another (nothing is appended then).
    #[must_use]
    pub fn append(&mut self, other: &Self) -> bool {
        match (self, other) {
            (Self::F32(c), Self::F32(v)) => c.extend_from_slice(v),
            (Self::F64(c), Self::F64(v)) => c.extend_from_slice(v),
            (Self::I64(c), Self::I64(v)) => c.extend_from_slice(v),
            (Self::U16(c), Self::U16(v)) => c.extend_from_slice(v),
            (Self::Text(c), Self::Text(v)) => (0..v.len()).filter_map(|row| v.get(row)).for_each(|text| c.push(text)),
            _ => return false,
        }
        true
    }

    /// Appends a value; false when its type is not this column's (nothing is appended then).
    #[must_use]
    pub fn push(&mut self, value: Value<'_>) -> bool {
        match (self, value) {
            (Self::F32(c), Value::F32(v)) => c.push(v),
            (Self::F64(c), Value::F64(v)) => c.push(v),
            (Self::I64(c), Value::I64(v)) => c.push(v),
            (Self::U16(c), Value::U16(v)) => c.push(v),
            (Self::Text(c), Value::Text(v)) => c.push(v),
            _ => return false,
        }
        true
    }

    /// Appends the type's zero, for a cell that a reply does not hold.
    pub fn push_default(&mut self) {
        match self {
            Self::F32(c) => c.push(0.0),
            Self::F64(c) => c.push(0.0),
            Self::I64(c) => c.push(0),
            Self::U16(c) => c.push(0),
            Self::Text(c) => c.push(""),
        }
    }

    /// Removes all values and keeps the memory.
    pub fn clear(&mut self) {
        match self {
            Self::F32(v) => v.clear(),
            Self::F64(v) => v.clear(),
            Self::I64(v) => v.clear(),
            Self::U16(v) => v.clear(),
            Self::Text(v) => v.clear(),
        }
    }
}

/// Texts end to end in one buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextColumn {
    text: String,
    ends: Vec<usize>,
}

impl TextColumn {
    /// The number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True when there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text of this row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&str> {
        let end = *self.ends.get(row)?;
        let start = if row == 0 { 0 } else { *self.ends.get(row - 1)? };
        self.text.get(start..end)
    }

    /// Appends a text.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// Appends a text that `write` puts together in place.
    pub fn push_with(&mut self, write: impl FnOnce(&mut String)) {
        write(&mut self.text);
        self.ends.push(self.text.len());
    }

    /// Removes all texts and keeps the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_as_they_went_in() {
        let mut column = TextColumn::default();
        for text in ["", "a", "", "größer", "b"] {
            column.push(text);
        }
        assert_eq!((0..5).filter_map(|i| column.get(i)).collect::<Vec<_>>(), ["", "a", "", "größer", "b"]);
        assert_eq!(column.get(5), None);
    }

    #[test]
    fn a_value_of_another_type_is_not_taken() {
        let mut column = Column::new(ValueType::F32);
        assert!(!column.push(Value::F64(1.0)));
        assert!(column.is_empty());
        assert!(column.push(Value::F32(1.0)));
        assert_eq!(column.get(0), Some(Value::F32(1.0)));
    }
}
