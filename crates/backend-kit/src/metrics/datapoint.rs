//! One value as a JSON answer tells it, `[milliseconds, value]`.

use crate::cell::{self, Cell};
use iotbench_core::Value;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use std::fmt;

/// A time in milliseconds, and a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Datapoint<'a> {
    /// Its time in milliseconds.
    pub ms: i64,
    /// Its value.
    pub cell: Cell<'a>,
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
        let cell =
            pair.next_element()?.filter(|cell| !matches!(cell, Cell::Null | Cell::Bool(_))).ok_or_else(missing)?;
        while pair.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Datapoint { ms, cell })
    }
}

/// A cell as a number; a text as the number that it reads as.
pub fn number(cell: &Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Text(text) => Value::Text(text).as_f64(),
        cell => cell::number(cell).ok().flatten(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::push;
    use iotbench_core::{ReplyColumn, ValueType};

    fn cell_of(text: &str) -> Result<Cell<'_>, serde_json::Error> {
        serde_json::from_str(text).map(|datapoint: Datapoint<'_>| datapoint.cell)
    }

    #[test]
    fn a_value_is_a_number_or_a_text() {
        assert_eq!(cell_of("[3,1.5]").unwrap(), Cell::Float(1.5));
        assert_eq!(cell_of("[3,7,\"more\"]").unwrap(), Cell::Integer(7));
        assert_eq!(cell_of("[3,\"7\"]").unwrap(), Cell::Text("7".into()));
        for none in ["[3,null]", "[3,true]", "[3]", "[]", "3"] {
            assert!(cell_of(none).is_err(), "{none}");
        }
    }

    #[test]
    fn a_text_reads_as_a_number_and_is_none() {
        let text = Cell::Text("7".into());
        assert_eq!(
            (number(&text), number(&Cell::Integer(7)), number(&Cell::Float(0.5))),
            (Some(7.0), Some(7.0), Some(0.5))
        );
        let pushed = |value_type| push(&mut [ReplyColumn::new(value_type)], &[Some(&text)], &[value_type]).is_ok();
        assert_eq!(
            [ValueType::F64, ValueType::F32, ValueType::U16, ValueType::Text].map(pushed),
            [false, false, false, true]
        );
    }
}
