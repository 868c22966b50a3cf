//! Values as text, as all formats write them.

use iotbench_core::Value;

/// Appends an integer.
pub(super) fn push_integer(value: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a number: the shortest text that reads back the same. False for a text, of which nothing is appended.
pub(super) fn push_number(value: Value<'_>, out: &mut Vec<u8>) -> bool {
    match value {
        Value::F32(v) => out.extend_from_slice(zmij::Buffer::new().format(v).as_bytes()),
        Value::F64(v) => out.extend_from_slice(zmij::Buffer::new().format(v).as_bytes()),
        Value::I64(v) => push_integer(v, out),
        Value::U16(v) => push_integer(v, out),
        Value::Text(_) => return false,
    }
    true
}
