//! The table and its index in each layout.

use super::config::{Config, Indexes};
use iotbench_backend_kit::marker::comment;
use iotbench_core::{Layout, Schema, Signal, TableSpec, ValueType};

/// Texts of at most this many bytes, in all columns together, stand in the row; longer ones beside it.
const MAX_BYTES_IN_ROW: u32 = 16_000;

/// A name as SQL: in backticks, which are doubled within.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// The table with its database.
pub(crate) fn qualified(database: &str, table: &TableSpec) -> String {
    format!("{}.{}", quoted(database), quoted(table.name.as_str()))
}

/// The name of the table's one index.
pub(crate) fn index_name(table: &TableSpec) -> String {
    format!("{}_time", table.name)
}

/// The statement that creates the table with its marker and its index. No key is unique: equal timestamps are kept.
pub(crate) fn create_sql(database: &str, table: &TableSpec, config: &Config) -> String {
    let (columns, index_columns) = match table.layout {
        Layout::Wide => {
            let signals = table.schema.first_signals().iter();
            let signals = signals.map(|s| format!("{} NOT NULL", column(&table.schema, s)));
            (format!("`ts` BIGINT NOT NULL, {}", signals.collect::<Vec<_>>().join(", ")), "`ts`")
        }
        // Table I of the Hof study.
        Layout::Narrow => {
            let signals = table.schema.signals();
            let value_type = table.schema.uniform_type().unwrap_or(ValueType::Text);
            let longest = signals.iter().map(|s| s.max_text_bytes).max().unwrap_or(0);
            let measurement = declared_type(value_type, longest, longest <= MAX_BYTES_IN_ROW);
            let columns = "`second` BIGINT NOT NULL, `nanosecond` INT NOT NULL, `number` SMALLINT UNSIGNED NOT NULL, `measurement`";
            (format!("{columns} {measurement} NOT NULL"), "`second`, `nanosecond`")
        }
        Layout::Document => ("`ts` BIGINT NOT NULL, `doc` JSON NOT NULL".into(), "`ts`"),
        // Table II of the Hof study; `size` is the length of the text in bytes.
        Layout::Bulk => {
            ("`second` BIGINT NOT NULL, `size` INT UNSIGNED NOT NULL, `measurements` JSON NOT NULL".into(), "`second`")
        }
    };
    let (device, device_index) =
        if table.has_device_column() { ("`device` INT UNSIGNED NOT NULL, ", "`device`, ") } else { ("", "") };
    let index = match config.indexes {
        Indexes::Time => format!(", KEY {} ({device_index}{index_columns})", quoted(&index_name(table))),
        Indexes::None => String::new(),
    };
    let first_of_time = if matches!(table.layout, Layout::Wide | Layout::Document) { "`ts`" } else { "`second`" };
    let partitions = match config.partitions {
        1 => String::new(),
        n => {
            let key = if table.has_device_column() { "`device`" } else { first_of_time };
            format!(" PARTITION BY HASH ({key}) PARTITIONS {n}")
        }
    };
    format!(
        "CREATE TABLE {} ({device}{columns}{index}) ENGINE={} DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin \
         COMMENT='{}'{partitions}",
        qualified(database, table),
        config.engine.sql(),
        comment(&table.marker)
    )
}

/// The statement that adds the columns of the signals that are added. Rows that are there have no value in them.
pub(crate) fn add_sql(database: &str, table: &TableSpec) -> String {
    let add = |signal| format!("ADD COLUMN {}", column(&table.schema, signal));
    let added: Vec<_> = table.schema.added_signals().iter().map(add).collect();
    format!("ALTER TABLE {} {}", qualified(database, table), added.join(", "))
}

fn column(schema: &Schema, signal: &Signal) -> String {
    let in_row = texts_fit_in_row(schema);
    format!("{} {}", quoted(&signal.name), declared_type(signal.value_type, signal.max_text_bytes, in_row))
}

/// Whether all texts may be VARCHAR: a row takes 65,535 bytes, of which a character may need four.
fn texts_fit_in_row(schema: &Schema) -> bool {
    schema.signals().iter().map(|s| u64::from(s.max_text_bytes)).sum::<u64>() <= u64::from(MAX_BYTES_IN_ROW)
}

fn declared_type(value_type: ValueType, most_bytes: u32, in_row: bool) -> String {
    match value_type {
        ValueType::F32 => "FLOAT".into(),
        ValueType::F64 => "DOUBLE".into(),
        ValueType::I64 => "BIGINT".into(),
        ValueType::U16 => "SMALLINT UNSIGNED".into(),
        // As many characters as bytes: enough for texts of any script.
        ValueType::Text if in_row && most_bytes > 0 => format!("VARCHAR({most_bytes})"),
        ValueType::Text if most_bytes <= 65_535 && most_bytes > 0 => "TEXT".into(),
        ValueType::Text => "LONGTEXT".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Marker, Name};

    fn table(layout: Layout, devices: u32, types: &[(ValueType, u32)]) -> TableSpec {
        let signals = types.iter().zip(["a", "select", "c"]);
        let signals = signals.map(|(&(value_type, max_text_bytes), name)| Signal {
            name: name.into(),
            value_type,
            max_text_bytes,
        });
        TableSpec {
            name: Name::new("t").unwrap(),
            layout,
            schema: Schema::new(signals.collect()).unwrap(),
            devices,
            marker: Marker { run_id: "r 1".into(), fingerprint: "f".into() },
        }
    }

    fn shown(layout: Layout, devices: u32, types: &[(ValueType, u32)]) -> String {
        let sql = create_sql("d", &table(layout, devices, types), &Config::default());
        let sql = sql.strip_prefix("CREATE TABLE `d`.`t` (").unwrap();
        let options = ") ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin \
                       COMMENT='iotbench run=r%201 fingerprint=f'";
        sql.strip_suffix(options).unwrap().replace(" NOT NULL", "")
    }

    #[test]
    fn the_tables_are_those_of_the_studies() {
        let two = [(ValueType::U16, 0), (ValueType::U16, 0)];
        assert_eq!(
            shown(Layout::Wide, 2, &two),
            "`device` INT UNSIGNED, `ts` BIGINT, `a` SMALLINT UNSIGNED, `select` SMALLINT UNSIGNED, \
             KEY `t_time` (`device`, `ts`)"
        );
        assert_eq!(
            shown(Layout::Narrow, 1, &two),
            "`second` BIGINT, `nanosecond` INT, `number` SMALLINT UNSIGNED, `measurement` SMALLINT UNSIGNED, \
             KEY `t_time` (`second`, `nanosecond`)"
        );
        assert_eq!(shown(Layout::Document, 1, &two), "`ts` BIGINT, `doc` JSON, KEY `t_time` (`ts`)");
        assert_eq!(
            shown(Layout::Bulk, 2, &two),
            "`device` INT UNSIGNED, `second` BIGINT, `size` INT UNSIGNED, `measurements` JSON, \
             KEY `t_time` (`device`, `second`)"
        );
    }

    #[test]
    fn columns_of_added_signals_come_later_and_may_be_empty() {
        let mut table = table(Layout::Wide, 1, &[(ValueType::F32, 0), (ValueType::Text, 9)]);
        table.schema = table.schema.with_added(1).unwrap();
        let created = create_sql("d", &table, &Config::default());
        assert!(created.contains("(`ts` BIGINT NOT NULL, `a` FLOAT NOT NULL, KEY"), "{created}");
        assert_eq!(add_sql("d", &table), "ALTER TABLE `d`.`t` ADD COLUMN `select` VARCHAR(9)");
    }

    #[test]
    fn each_type_has_a_column_that_holds_it() {
        let types = [(ValueType::F32, 0), (ValueType::F64, 0), (ValueType::I64, 0)];
        assert!(shown(Layout::Wide, 1, &types).contains("`a` FLOAT, `select` DOUBLE, `c` BIGINT"));
        let texts = [(ValueType::Text, 1024), (ValueType::Text, 16)];
        assert!(shown(Layout::Wide, 1, &texts).contains("`a` VARCHAR(1024), `select` VARCHAR(16)"));
        let long = [(ValueType::Text, 20_000), (ValueType::Text, 100_000)];
        assert!(shown(Layout::Wide, 1, &long).contains("`a` TEXT, `select` LONGTEXT"));
    }

    #[test]
    fn names_are_quoted_whatever_they_hold() {
        assert_eq!(quoted("größe`; DROP TABLE x; --"), "`größe``; DROP TABLE x; --`");
    }

    #[test]
    fn without_an_index_there_is_none() {
        let config = Config { indexes: Indexes::None, ..Config::default() };
        let sql = create_sql("d", &table(Layout::Document, 1, &[(ValueType::U16, 0)]), &config);
        assert!(!sql.contains("KEY"), "{sql}");
    }
}
