//! Pieces of SQL that all layouts share.

use iotbench_core::ValueType;

/// A name that may be a keyword, quoted. Names hold nothing but `[a-z0-9_]`.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// The declared type of a column.
pub(crate) fn column_of(value_type: ValueType) -> &'static str {
    match value_type {
        ValueType::F32 | ValueType::F64 => "REAL",
        ValueType::I64 | ValueType::U16 => "INTEGER",
        ValueType::Text => "TEXT",
    }
}
