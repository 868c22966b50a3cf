//! Values in JSON.

use iotbench_core::Column;

/// Appends the value of a row. Floats are written in the shortest decimal form of their 64-bit value, which has a point or an
/// exponent: no float is taken for an integer.
#[inline]
pub fn push_value(out: &mut Vec<u8>, column: &Column, row: usize) {
    match column {
        Column::F32(values) => {
            out.extend_from_slice(zmij::Buffer::new().format_finite(f64::from(values[row])).as_bytes());
        }
        Column::F64(values) => out.extend_from_slice(zmij::Buffer::new().format_finite(values[row]).as_bytes()),
        Column::I64(values) => out.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes()),
        Column::U16(values) => out.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes()),
        // Writing a text to a Vec cannot fail.
        Column::Text(values) => drop(serde_json::to_writer(out, values.get(row).unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Value, ValueType};

    #[test]
    fn a_float_looks_like_none_but_a_float() {
        for value in [0.0, -0.0, 1.0, -5.0, 0.1, 1e22, 1e300, 5e-324, f64::MAX] {
            let mut column = Column::new(ValueType::F64);
            assert!(column.push(Value::F64(value)));
            let mut out = Vec::new();
            push_value(&mut out, &column, 0);
            let text = String::from_utf8(out).unwrap();
            assert!(text.contains(['.', 'e']), "{text}");
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text}");
        }
    }
}
