//! An answer to a question: `{"data":[{…},…],"error":"…"}`, a row an object. What goes wrong after the first row stands in
//! the error, under the status of success.

use super::error::{improper, of_footer};
use iotbench_core::{Cause, Error, Value, ValueType};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Visitor},
};
use std::fmt;

/// The rows of an answer.
///
/// # Errors
/// Protocol for anything else, Server for what went wrong in the middle.
pub(crate) fn rows<T: DeserializeOwned>(text: &[u8]) -> Result<Vec<T>, Error> {
    #[derive(Deserialize)]
    struct Document<T> {
        data: Vec<T>,
        #[serde(default)]
        error: String,
    }
    let document: Document<T> = serde_json::from_slice(text).map_err(improper)?;
    if document.error.is_empty() { Ok(document.data) } else { Err(of_footer(&document.error)) }
}

/// A row of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(crate) struct Sample {
    pub(crate) time: Number,
    /// The server answers 2147483647 with nothing.
    #[serde(default)]
    pub(crate) value: Option<Number>,
}

/// The row of `minmaxV1`, whose time and value are missing where nothing was found.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(crate) struct Extremes {
    #[serde(default)]
    pub(crate) min: Option<Number>,
    #[serde(default, rename = "minAt")]
    pub(crate) min_at: Option<Number>,
}

/// A number, written as one or as a text: some modules do this, some that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Integer(i64),
    Float(f64),
}

impl Number {
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "the nearest f64 is what was written where it was one")]
            Self::Integer(v) => v as f64,
            Self::Float(v) => v,
        }
    }

    /// As an integer, which may be written with a point: `2147483647.0`.
    pub(crate) fn as_i64(self) -> Option<i64> {
        /// Up to here every integer is a float of its own.
        const GREATEST: f64 = 9_007_199_254_740_992.0;
        match self {
            Self::Integer(v) => Some(v),
            #[expect(clippy::cast_possible_truncation, reason = "it is whole, and within 2^53")]
            Self::Float(v) if v.fract() == 0.0 && v.abs() <= GREATEST => Some(v as i64),
            Self::Float(_) => None,
        }
    }

    /// As a value of this type.
    ///
    /// # Errors
    /// Protocol for one that the type does not have.
    pub(crate) fn value(self, value_type: ValueType) -> Result<Value<'static>, Error> {
        let unexpected = || Error::new(Cause::Protocol, format!("a {value_type:?} signal holds {self:?}"));
        Ok(match value_type {
            #[expect(clippy::cast_possible_truncation, reason = "an f32 was stored as the f64 of the same value")]
            ValueType::F32 => Value::F32(self.as_f64() as f32),
            ValueType::F64 => Value::F64(self.as_f64()),
            ValueType::I64 => Value::I64(self.as_i64().ok_or_else(unexpected)?),
            ValueType::U16 => Value::U16(self.as_i64().and_then(|v| u16::try_from(v).ok()).ok_or_else(unexpected)?),
            ValueType::Text => return Err(unexpected()),
        })
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a text that reads as one")
    }

    fn visit_i64<E>(self, v: i64) -> Result<Number, E> {
        Ok(Number::Integer(v))
    }

    #[expect(clippy::cast_precision_loss, reason = "beyond i64 only floats are written without an exponent")]
    fn visit_u64<E>(self, v: u64) -> Result<Number, E> {
        Ok(i64::try_from(v).map_or(Number::Float(v as f64), Number::Integer))
    }

    fn visit_f64<E>(self, v: f64) -> Result<Number, E> {
        Ok(Number::Float(v))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Number, E> {
        let number = text.parse().map(Number::Integer).or_else(|_| text.parse().map(Number::Float));
        match number {
            Ok(Number::Float(v)) if !v.is_finite() => Err(E::custom(format!("{text:?} is no number"))),
            Ok(number) => Ok(number),
            Err(_) => Err(E::custom(format!("{text:?} is no number"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_as_the_documentation_writes_it() {
        let text = br#"{"data":[{"time":"1","value":"162.6911"},{"time":2,"value":1E+300},
            {"time":3,"value":9223372036854775807},{"time":4,"value":2147483647.0},{"time":5,"value":null}],"error":""}"#;
        let found: Vec<Sample> = rows(text).unwrap();
        assert_eq!(found[0], Sample { time: Number::Integer(1), value: Some(Number::Float(162.6911)) });
        assert_eq!(found[1].value, Some(Number::Float(1e300)));
        assert_eq!(found[2].value.unwrap().value(ValueType::I64).unwrap(), Value::I64(i64::MAX));
        assert_eq!(found[3].value.unwrap().value(ValueType::I64).unwrap(), Value::I64(2_147_483_647));
        assert_eq!(found[4].value, None);
        let extremes = br#"{"data":[{"time":0,"min":"-1.5","minAt":"7","max":"2","maxAt":"8"}],"error":""}"#;
        let extremes: Vec<Extremes> = rows(extremes).unwrap();
        assert_eq!((extremes[0].min, extremes[0].min_at), (Some(Number::Float(-1.5)), Some(Number::Integer(7))));
    }

    #[test]
    fn an_error_in_the_middle_is_one_and_a_piece_of_an_answer_is_none() {
        let error = rows::<Sample>(br#"{"data":[{"time":1,"value":1}],"error":"class java.lang.X: no"}"#).unwrap_err();
        assert!(error.cause == Cause::Server && error.message.contains("java.lang.X"), "{error}");
        for bad in [
            &br#"{"data":[{"time":1,"value":1}"#[..],
            b"<html>",
            br#"{"data":[{"value":1}],"error":""}"#,
            br#"{"data":[{"time":"x","value":1}]}"#,
            br#"{"data":[{"time":1,"value":"NaN"}]}"#,
        ] {
            let error = rows::<Sample>(bad).unwrap_err();
            assert_eq!(error.cause, Cause::Protocol, "{}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn a_number_that_the_type_does_not_have_is_none_of_its_values() {
        for (number, value_type) in [
            (Number::Float(0.5), ValueType::I64),
            (Number::Float(1e18), ValueType::I64),
            (Number::Integer(-1), ValueType::U16),
            (Number::Integer(1), ValueType::Text),
        ] {
            assert!(number.value(value_type).is_err(), "{number:?} {value_type:?}");
        }
    }
}
