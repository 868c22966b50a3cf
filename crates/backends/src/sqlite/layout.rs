//! The tables and indexes of each layout.

use super::config::Indexes;
use iotbench_core::{Layout, Signal, TableSpec, ValueType};

/// The name of the table's one index.
pub(crate) fn index_name(table: &TableSpec) -> String {
    format!("{}_time", table.name)
}

/// A name that may be a keyword, quoted. Names hold nothing but `[a-z0-9_]`.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// The statements that create the table and its index. No key is unique: equal timestamps are kept.
pub(crate) fn create_sql(table: &TableSpec, indexes: Indexes) -> String {
    let (columns, index_columns) = match table.layout {
        Layout::Wide => {
            let signals = table.schema.first_signals().iter().map(column);
            (format!("ts INTEGER NOT NULL, {}", signals.collect::<Vec<_>>().join(", ")), "ts")
        }
        // Table I of the Hof study. Without one type for all signals a column keeps what it is given.
        Layout::Narrow => {
            let measurement = table.schema.uniform_type().map_or("", declared_type);
            let columns = "second INTEGER NOT NULL, nanosecond INTEGER NOT NULL, number INTEGER NOT NULL, measurement";
            (format!("{columns} {measurement}"), "second, nanosecond")
        }
        Layout::Document => ("ts INTEGER NOT NULL, doc TEXT NOT NULL".into(), "ts"),
        // Table II of the Hof study; `size` is the length of the text in bytes.
        Layout::Bulk => ("second INTEGER NOT NULL, size INTEGER NOT NULL, measurements TEXT NOT NULL".into(), "second"),
    };
    let (device, device_index) =
        if table.has_device_column() { ("device INTEGER NOT NULL, ", "device, ") } else { ("", "") };
    let (name, index) = (&table.name, index_name(table));
    let index = match indexes {
        Indexes::Time => format!(" CREATE INDEX {index} ON {name} ({device_index}{index_columns});"),
        Indexes::None => String::new(),
    };
    format!("CREATE TABLE {name} ({device}{columns});{index}")
}

/// The statements that add the columns of the signals that are added.
pub(crate) fn add_sql(table: &TableSpec) -> String {
    let add = |signal: &Signal| format!("ALTER TABLE {} ADD COLUMN {};", table.name, column(signal));
    table.schema.added_signals().iter().map(add).collect()
}

fn column(signal: &Signal) -> String {
    format!("{} {}", quoted(&signal.name), declared_type(signal.value_type))
}

fn declared_type(value_type: ValueType) -> &'static str {
    match value_type {
        ValueType::F32 | ValueType::F64 => "REAL",
        ValueType::I64 | ValueType::U16 => "INTEGER",
        ValueType::Text => "TEXT",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Marker, Name, Schema};

    fn table(layout: Layout, devices: u32) -> TableSpec {
        let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::U16, max_text_bytes: 0 };
        TableSpec {
            name: Name::new("t").unwrap(),
            layout,
            schema: Schema::new(vec![signal("a"), signal("select")]).unwrap(),
            devices,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        }
    }

    #[test]
    fn the_tables_are_those_of_the_studies() {
        let shown = |layout, devices| create_sql(&table(layout, devices), Indexes::Time).replace(" NOT NULL", "");
        assert_eq!(
            shown(Layout::Wide, 2),
            "CREATE TABLE t (device INTEGER, ts INTEGER, \"a\" INTEGER, \"select\" INTEGER); \
             CREATE INDEX t_time ON t (device, ts);"
        );
        assert_eq!(
            shown(Layout::Narrow, 1),
            "CREATE TABLE t (second INTEGER, nanosecond INTEGER, number INTEGER, measurement INTEGER); \
             CREATE INDEX t_time ON t (second, nanosecond);"
        );
        assert_eq!(shown(Layout::Document, 1), "CREATE TABLE t (ts INTEGER, doc TEXT); CREATE INDEX t_time ON t (ts);");
        assert_eq!(
            shown(Layout::Bulk, 2),
            "CREATE TABLE t (device INTEGER, second INTEGER, size INTEGER, measurements TEXT); \
             CREATE INDEX t_time ON t (device, second);"
        );
        let bare = create_sql(&table(Layout::Document, 1), Indexes::None);
        assert_eq!(bare, "CREATE TABLE t (ts INTEGER NOT NULL, doc TEXT NOT NULL);");
    }
}
