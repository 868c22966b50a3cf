//! The tables and indexes of each layout.

use super::sql::{column_of, quoted};
use iotbench_core::{Layout, TableSpec};

/// The name of the table's one index.
pub(crate) fn index_name(table: &TableSpec) -> String {
    format!("{}_time", table.name)
}

/// The statements that create the table and its index.
pub(crate) fn create_sql(table: &TableSpec) -> String {
    let device = if table.has_device_column() { "device INTEGER NOT NULL, " } else { "" };
    let (columns, key) = match table.layout {
        Layout::Wide => {
            let signals = table.schema.signals().iter();
            let signals = signals.map(|s| format!("{} {}", quoted(&s.name), column_of(s.value_type)));
            (format!("ts INTEGER NOT NULL, {}", signals.collect::<Vec<_>>().join(", ")), "ts")
        }
        Layout::Narrow | Layout::Document | Layout::Bulk => todo!(),
    };
    let device_key = if table.has_device_column() { "device, " } else { "" };
    let (name, index) = (&table.name, index_name(table));
    format!("CREATE TABLE {name} ({device}{columns}); CREATE INDEX {index} ON {name} ({device_key}{key});")
}
