//! Elements of documents as values of the schema's types.

use iotbench_core::{Cause, Error, Value, ValueType};
use mongodb::bson::{RawBsonRef, RawDocument};

fn protocol(message: impl std::fmt::Display) -> Error {
    Error::new(Cause::Protocol, message)
}

/// An element of a document, where there is one.
pub(crate) fn element<'a>(document: &'a RawDocument, name: &str) -> Result<Option<RawBsonRef<'a>>, Error> {
    let found = document.get(name).map_err(protocol)?;
    Ok(found.filter(|value| !matches!(value, RawBsonRef::Null | RawBsonRef::Undefined)))
}

/// The device of a document; where it names none, it is the only one.
pub(crate) fn device(document: &RawDocument) -> Result<u32, Error> {
    match element(document, "device")? {
        None => Ok(0),
        Some(RawBsonRef::Int32(device)) => {
            u32::try_from(device).map_err(|_| protocol("a stored device is out of range"))
        }
        Some(other) => Err(protocol(format!("a stored device is {other:?}"))),
    }
}

/// A value of this type.
pub(crate) fn value<'a>(found: RawBsonRef<'a>, value_type: ValueType) -> Result<Option<Value<'a>>, Error> {
    Ok(match (value_type, found) {
        (_, RawBsonRef::Null) => None,
        #[expect(clippy::cast_possible_truncation, reason = "it was an f32 when it was stored")]
        (ValueType::F32, RawBsonRef::Double(v)) => Some(Value::F32(v as f32)),
        (ValueType::F64, RawBsonRef::Double(v)) => Some(Value::F64(v)),
        (ValueType::I64, RawBsonRef::Int64(v)) => Some(Value::I64(v)),
        (ValueType::U16, RawBsonRef::Int32(v)) => {
            Some(Value::U16(u16::try_from(v).map_err(|_| protocol(format!("a stored u16 is {v}")))?))
        }
        (ValueType::Text, RawBsonRef::String(text)) => Some(Value::Text(text)),
        (value_type, other) => return Err(protocol(format!("a stored {value_type:?} is {other:?}"))),
    })
}

/// A number, where the element is one.
pub(crate) fn number(document: &RawDocument, name: &str) -> Result<Option<f64>, Error> {
    match element(document, name)? {
        None => Ok(None),
        Some(RawBsonRef::Double(number)) => Ok(Some(number)),
        Some(RawBsonRef::Int32(number)) => Ok(Some(number.into())),
        #[expect(clippy::cast_precision_loss, reason = "figures are f64")]
        Some(RawBsonRef::Int64(number)) => Ok(Some(number as f64)),
        Some(other) => Err(protocol(format!("{name} is {other:?}"))),
    }
}

/// A whole number that is not negative.
pub(crate) fn integer(document: &RawDocument, name: &str) -> Result<u64, Error> {
    let found = match element(document, name)? {
        Some(RawBsonRef::Int32(number)) => u64::try_from(number).ok(),
        Some(RawBsonRef::Int64(number)) => u64::try_from(number).ok(),
        _ => None,
    };
    found.ok_or_else(|| protocol(format!("{name} is no count")))
}
