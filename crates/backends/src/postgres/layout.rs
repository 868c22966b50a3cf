//! The table and the index of each layout.

use super::{
    citus,
    config::{Config, Division, Indexes},
    quoting::{qualified, quoted},
    timescale,
};
use iotbench_backend_kit::devices;
use iotbench_core::{Layout, TableSpec, ValueType};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnType {
    Integer,
    BigInt,
    Real,
    Double,
    Text,
    Jsonb,
}

impl ColumnType {
    /// The column type that holds values of this type; PostgreSQL has no unsigned integers.
    pub(crate) fn of(value_type: ValueType) -> Self {
        match value_type {
            ValueType::F32 => Self::Real,
            ValueType::F64 => Self::Double,
            ValueType::I64 => Self::BigInt,
            ValueType::U16 => Self::Integer,
            ValueType::Text => Self::Text,
        }
    }

    /// Its name in SQL.
    pub(crate) fn sql(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::BigInt => "bigint",
            Self::Real => "real",
            Self::Double => "double precision",
            Self::Text => "text",
            Self::Jsonb => "jsonb",
        }
    }

    /// Its object identifier, which no server changes (`pg_type.dat`).
    pub(crate) fn oid(self) -> u32 {
        match self {
            Self::Integer => 23,
            Self::BigInt => 20,
            Self::Real => 700,
            Self::Double => 701,
            Self::Text => 25,
            Self::Jsonb => 3802,
        }
    }

    /// The object identifier of arrays of it.
    pub(crate) fn array_oid(self) -> u32 {
        match self {
            Self::Integer => 1007,
            Self::BigInt => 1016,
            Self::Real => 1021,
            Self::Double => 1022,
            Self::Text => 1009,
            Self::Jsonb => 3807,
        }
    }
}

/// A column of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableColumn {
    pub(crate) name: String,
    pub(crate) column_type: ColumnType,
}

/// The table as it is created.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) spec: TableSpec,
    pub(crate) schema_name: String,
    /// Schema and name, quoted.
    pub(crate) qualified: String,
    /// The same of the table of devices, which is there where they have tags.
    pub(crate) devices: String,
    pub(crate) columns: Vec<TableColumn>,
    pub(crate) indexes: Indexes,
    pub(crate) unlogged: bool,
    pub(crate) division: Division,
    pub(crate) filled: devices::Filled,
}

impl Table {
    pub(crate) fn new(spec: TableSpec, config: &Config) -> Self {
        Self {
            schema_name: config.schema.clone(),
            qualified: qualified(&config.schema, spec.name.as_str()),
            devices: qualified(&config.schema, &devices::name(&spec.name)),
            columns: columns(&spec),
            indexes: config.indexes,
            unlogged: config.unlogged,
            division: config.division(),
            filled: devices::Filled::default(),
            spec,
        }
    }

    /// The same without the signals that are added.
    pub(crate) fn before_addition(&self) -> Self {
        let columns = self.columns.iter().take(self.columns.len() - self.added_columns().len()).cloned().collect();
        let spec = TableSpec { schema: self.spec.schema.before_addition(), ..self.spec.clone() };
        Self { columns, spec, ..self.clone() }
    }

    /// The columns of the signals that are added.
    pub(crate) fn added_columns(&self) -> &[TableColumn] {
        let added = if self.spec.layout == Layout::Wide { self.spec.schema.added() } else { 0 };
        self.columns.get(self.columns.len() - added..).unwrap_or_default()
    }

    /// The statement that adds them. Rows that are there have no value in them.
    pub(crate) fn add_sql(&self) -> String {
        let add = |c: &TableColumn| format!("ADD COLUMN IF NOT EXISTS {} {}", quoted(&c.name), c.column_type.sql());
        let added: Vec<_> = self.added_columns().iter().map(add).collect();
        format!("ALTER TABLE {} {}", self.qualified, added.join(", "))
    }

    /// The name of the table's one index.
    pub(crate) fn index_name(&self) -> String {
        format!("{}_time", self.spec.name)
    }

    /// The statements that create the table and its index. No key is unique: equal timestamps are kept.
    pub(crate) fn create_sql(&self) -> Vec<String> {
        let columns = self.columns.iter().take(self.columns.len() - self.added_columns().len());
        let columns = columns.map(|c| format!("{} {} NOT NULL", quoted(&c.name), c.column_type.sql()));
        let columns = columns.collect::<Vec<_>>().join(", ");
        let unlogged = if self.unlogged { "UNLOGGED " } else { "" };
        let time = if self.spec.layout == Layout::Narrow { "second, nanosecond" } else { self.first_of_time() };
        let names = self.partition_names();
        let mut statements = if names.is_empty() {
            vec![format!("CREATE {unlogged}TABLE {} ({columns})", self.qualified)]
        } else {
            vec![format!("CREATE TABLE {} ({columns}) PARTITION BY HASH ({})", self.qualified, self.hashed())]
        };
        // Only a partition holds rows, and so a log of them or none.
        statements.extend(names.iter().enumerate().map(|(remainder, name)| {
            let (name, modulus) = (qualified(&self.schema_name, name), names.len());
            let values = format!("FOR VALUES WITH (MODULUS {modulus}, REMAINDER {remainder})");
            format!("CREATE {unlogged}TABLE {name} PARTITION OF {} {values}", self.qualified)
        }));
        let device = if self.indexes == Indexes::Tag && self.spec.has_device_column() { "device, " } else { "" };
        if self.indexes != Indexes::None {
            let index = quoted(&self.index_name());
            statements.push(format!("CREATE INDEX {index} ON {} ({device}{time})", self.qualified));
        }
        statements.extend(match self.division {
            Division::None | Division::Partitions(_) => None,
            Division::Shards => Some(citus::distribute_sql(self)),
            Division::Chunks(seconds) => Some(timescale::chunk_sql(self, seconds)),
        });
        statements
    }

    /// The column by a hash of which rows are divided: all of one device, or else of one time, are together.
    pub(crate) fn hashed(&self) -> &'static str {
        if self.spec.has_device_column() { "device" } else { self.first_of_time() }
    }

    /// The first column of the time.
    pub(crate) fn first_of_time(&self) -> &'static str {
        match self.spec.layout {
            Layout::Wide | Layout::Document => "ts",
            Layout::Narrow | Layout::Bulk => "second",
        }
    }

    /// Whether devices have tags, and a table of their own.
    pub(crate) fn has_devices(&self) -> bool {
        !self.spec.schema.tags().is_empty()
    }

    /// A query for the bytes that it occupies, with its qualified name as argument.
    pub(crate) fn storage_sql(&self) -> &'static str {
        match self.division {
            // A partitioned table has no rows of its own.
            Division::None | Division::Partitions(_) => {
                "SELECT pg_total_relation_size($1::text::regclass) + coalesce(\
                 (SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree($1::text::regclass) \
                  WHERE relid <> $1::text::regclass), 0)::bigint"
            }
            Division::Shards => citus::STORAGE_SQL,
            Division::Chunks(_) => timescale::STORAGE_SQL,
        }
    }

    /// The same of the table of devices.
    pub(crate) fn storage_of_devices_sql(&self) -> &'static str {
        if self.division == Division::Shards {
            return citus::STORAGE_SQL;
        }
        "SELECT pg_total_relation_size($1::text::regclass)"
    }

    /// The names of the tables that hold its rows, where it is partitioned.
    pub(crate) fn partition_names(&self) -> Vec<String> {
        let count = if let Division::Partitions(count) = self.division { count } else { 0 };
        (0..count).map(|number| format!("{}_{number}", self.spec.name)).collect()
    }

    /// The columns as they stand in an INSERT or a COPY: `"ts", "a"`.
    pub(crate) fn column_list(&self) -> String {
        self.columns.iter().map(|c| quoted(&c.name)).collect::<Vec<_>>().join(", ")
    }
}

fn columns(spec: &TableSpec) -> Vec<TableColumn> {
    use ColumnType::{BigInt, Integer, Jsonb};
    let column = |name: &str, column_type| TableColumn { name: name.into(), column_type };
    let mut columns = Vec::new();
    if spec.has_device_column() {
        columns.push(column("device", Integer));
    }
    match spec.layout {
        // PostgreSQL's own timestamps hold microseconds: nanoseconds since 1970 in a BIGINT hold all.
        Layout::Wide => {
            columns.push(column("ts", BigInt));
            columns.extend(spec.schema.signals().iter().map(|s| column(&s.name, ColumnType::of(s.value_type))));
        }
        // Table I of the Hof study.
        Layout::Narrow => {
            let value_type = spec.schema.uniform_type().unwrap_or(ValueType::F64);
            columns.extend([column("second", BigInt), column("nanosecond", Integer), column("number", Integer)]);
            columns.push(column("measurement", ColumnType::of(value_type)));
        }
        Layout::Document => columns.extend([column("ts", BigInt), column("doc", Jsonb)]),
        // Table II of the Hof study; `size` is the length of the text in bytes.
        Layout::Bulk => {
            columns.extend([column("second", BigInt), column("size", Integer), column("measurements", Jsonb)]);
        }
    }
    columns
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use iotbench_core::{Marker, Name, Schema, Settings, Signal, Tag, TagValues, Tags};

    /// A table of two signals of this type.
    pub(crate) fn table(layout: Layout, devices: u32, value_type: ValueType, settings: &str) -> Table {
        let signal = |name: &str| Signal { name: name.into(), value_type, max_text_bytes: 0 };
        let spec = TableSpec {
            name: Name::new("t").unwrap(),
            layout,
            schema: Schema::new(vec![signal("a"), signal("select")]).unwrap(),
            devices,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        };
        let settings = Settings(serde_json::from_str(settings).unwrap());
        Table::new(spec, &Config::new(&settings, layout).unwrap())
    }

    /// The same, of devices with the tags `site`, which is `x` or `y`, and `order`.
    pub(crate) fn tagged(layout: Layout, devices: u32, settings: &str) -> Table {
        let values = |texts: [&str; 2]| TagValues::OneOf(texts.map(Into::into).to_vec());
        let tag = |name: &str, texts| Tag { name: name.into(), values: values(texts) };
        let tags = Tags::new(0, vec![tag("site", ["x", "y"]), tag("order", ["a", "b"])]).unwrap();
        let mut table = table(layout, devices, ValueType::F32, settings);
        table.spec.schema = table.spec.schema.clone().with_tags(tags).unwrap();
        table
    }

    #[test]
    fn columns_of_added_signals_come_later_and_may_be_empty() {
        let mut table = table(Layout::Wide, 1, ValueType::F32, r#"{"indexes": "none"}"#);
        table.spec.schema = table.spec.schema.clone().with_added(1).unwrap();
        assert_eq!(table.create_sql(), ["CREATE TABLE \"public\".\"t\" (\"ts\" bigint NOT NULL, \"a\" real NOT NULL)"]);
        assert_eq!(table.add_sql(), "ALTER TABLE \"public\".\"t\" ADD COLUMN IF NOT EXISTS \"select\" real");
        assert_eq!(table.before_addition().column_list(), "\"ts\", \"a\"");
    }

    #[test]
    fn the_tables_are_those_of_the_studies() {
        let shown = |layout, devices, value_type, settings| {
            let sql = table(layout, devices, value_type, settings).create_sql().join("; ");
            sql.replace(" NOT NULL", "").replace("\"public\".\"t\"", "t")
        };
        assert_eq!(
            shown(Layout::Wide, 2, ValueType::F32, "{}"),
            "CREATE TABLE t (\"device\" integer, \"ts\" bigint, \"a\" real, \"select\" real); \
             CREATE INDEX \"t_time\" ON t (device, ts)"
        );
        assert_eq!(
            shown(Layout::Narrow, 1, ValueType::U16, "{}"),
            "CREATE TABLE t (\"second\" bigint, \"nanosecond\" integer, \"number\" integer, \"measurement\" integer); \
             CREATE INDEX \"t_time\" ON t (second, nanosecond)"
        );
        assert_eq!(
            shown(Layout::Document, 2, ValueType::Text, r#"{"indexes": "time", "unlogged": true}"#),
            "CREATE UNLOGGED TABLE t (\"device\" integer, \"ts\" bigint, \"doc\" jsonb); CREATE INDEX \"t_time\" ON t (ts)"
        );
        assert_eq!(
            shown(Layout::Wide, 1, ValueType::F32, r#"{"indexes": "none", "unlogged": true, "partitions": 2}"#),
            "CREATE TABLE t (\"ts\" bigint, \"a\" real, \"select\" real) PARTITION BY HASH (ts); \
             CREATE UNLOGGED TABLE \"public\".\"t_0\" PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 0); \
             CREATE UNLOGGED TABLE \"public\".\"t_1\" PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 1)"
        );
        assert_eq!(
            shown(Layout::Document, 2, ValueType::F32, r#"{"indexes": "none", "citus_workers": 2}"#),
            "CREATE TABLE t (\"device\" integer, \"ts\" bigint, \"doc\" jsonb); \
             SELECT create_distributed_table('t', 'device')"
        );
        assert_eq!(
            shown(Layout::Narrow, 1, ValueType::U16, r#"{"indexes": "none", "distributed": true}"#),
            "CREATE TABLE t (\"second\" bigint, \"nanosecond\" integer, \"number\" integer, \"measurement\" integer); \
             SELECT create_distributed_table('t', 'second')"
        );
        assert_eq!(
            shown(Layout::Wide, 1, ValueType::F32, r#"{"hypertable": true, "chunk_seconds": 60}"#),
            "CREATE TABLE t (\"ts\" bigint, \"a\" real, \"select\" real); CREATE INDEX \"t_time\" ON t (ts); \
             SELECT create_hypertable('t'::regclass, 'ts', chunk_time_interval => 60000000000::bigint, \
             create_default_indexes => false)"
        );
        assert_eq!(
            shown(Layout::Bulk, 2, ValueType::I64, r#"{"indexes": "none", "hypertable": true}"#),
            "CREATE TABLE t (\"device\" integer, \"second\" bigint, \"size\" integer, \"measurements\" jsonb); \
             SELECT create_hypertable('t'::regclass, 'second', chunk_time_interval => 604800::bigint, \
             create_default_indexes => false)"
        );
        assert_eq!(
            shown(Layout::Bulk, 2, ValueType::I64, r#"{"indexes": "none"}"#),
            "CREATE TABLE t (\"device\" integer, \"second\" bigint, \"size\" integer, \"measurements\" jsonb)"
        );
    }
}
