//! The table of devices: a column a tag, each with an index. It is part of the table that it belongs to: the row of that one in
//! `iotbench_marker` says whose both are.

use super::error::classify;
use super::layout::quoted;
use iotbench_backend_kit::devices::{Filled, mark, name, rows, rows_of};
use iotbench_core::{Error, Name, TableSpec, Tag, TagType, TakeTags, TypedTag};
use rusqlite::{
    Connection, OptionalExtension, Row,
    types::{Value, ValueRef},
};
use std::{borrow::Cow, ops::Range};
use tokio::task::yield_now;

/// The comment by which it is known. SQLite keeps the text of a statement that creates a table with its comments, and it goes
/// with the table.
fn comment(table: &Name) -> String {
    format!("/* {} */", mark(table))
}

/// The names that it takes: its own, and that of an index a tag.
pub(crate) fn names(table: &TableSpec) -> Vec<String> {
    let (own, tags) = (name(&table.name), table.schema.tags().as_slice());
    let indexes = tags.iter().map(|tag| index_name(table, &tag.name)).collect::<Vec<_>>();
    if tags.is_empty() { Vec::new() } else { std::iter::once(own).chain(indexes).collect() }
}

fn index_name(table: &TableSpec, tag: &str) -> String {
    format!("{}_{tag}", name(&table.name))
}

/// SQLite has no truths: they are 0 and 1.
fn type_word(tag_type: TagType) -> &'static str {
    match tag_type {
        TagType::Text => "TEXT",
        TagType::Integer | TagType::Truth => "INTEGER",
        TagType::Number => "REAL",
    }
}

/// A value of a tag as an argument.
pub(crate) fn argument(value: TypedTag<'_>) -> Value {
    match value {
        TypedTag::Text(value) => Value::Text(value.to_string()),
        TypedTag::Integer(value) => Value::Integer(value),
        TypedTag::Number(value) => Value::Real(value),
        TypedTag::Truth(value) => Value::Integer(value.into()),
    }
}

/// The text that stands for the value of a tag in a column.
fn value_at<'r>(row: &'r Row<'_>, column: usize, tag_type: TagType) -> rusqlite::Result<Option<Cow<'r, str>>> {
    let stored = row.get_ref(column)?;
    Ok(match (tag_type, stored) {
        (_, ValueRef::Null) => None,
        (TagType::Text, ValueRef::Text(_)) => Some(stored.as_str()?.into()),
        (TagType::Integer, ValueRef::Integer(value)) => Some(value.to_string().into()),
        (TagType::Number, ValueRef::Real(value)) => Some(value.to_string().into()),
        (TagType::Truth, ValueRef::Integer(value @ (0 | 1))) => Some((value == 1).to_string().into()),
        (_, stored) => return Err(rusqlite::Error::InvalidColumnType(column, String::new(), stored.data_type())),
    })
}

/// The statement that creates it.
fn create_sql(table: &TableSpec) -> String {
    let tags = table.schema.tags().as_slice().iter();
    let column = |tag: &Tag| format!(", {} {} NOT NULL", quoted(&tag.name), type_word(tag.values.tag_type()));
    let columns: String = tags.map(column).collect();
    let (name, comment) = (name(&table.name), comment(&table.name));
    format!("CREATE TABLE {name} ({comment} device INTEGER PRIMARY KEY NOT NULL{columns})")
}

/// The statements that create its indexes.
fn index_sql(table: &TableSpec) -> Vec<String> {
    let index = |tag: &str| {
        let (index, name, tag) = (index_name(table, tag), name(&table.name), quoted(tag));
        format!("CREATE INDEX {index} ON {name} ({tag})")
    };
    table.schema.tags().as_slice().iter().map(|tag| index(&tag.name)).collect()
}

/// Creates and fills it, where devices have tags. Between two statements somebody else may have his turn, who may end it.
pub(crate) async fn create(connection: &mut Connection, table: &TableSpec, filled: &Filled) -> rusqlite::Result<()> {
    let tags = table.schema.tags();
    if tags.is_empty() {
        return Ok(());
    }
    connection.execute_batch(&create_sql(table))?;
    for rows in rows(tags, table.devices, filled) {
        connection.execute_batch(&format!("INSERT INTO {} VALUES {rows}", name(&table.name)))?;
        yield_now().await;
    }
    for index in index_sql(table) {
        connection.execute_batch(&index)?;
        yield_now().await;
    }
    Ok(())
}

/// Whether a table has one that is ours.
pub(crate) fn is_there(connection: &Connection, table: &Name) -> rusqlite::Result<bool> {
    let sql = "SELECT instr(sql, ?2) > 0 FROM sqlite_schema WHERE name = ?1 AND type = 'table'";
    let found = connection.query_row(sql, [name(table), comment(table)], |row| row.get(0)).optional()?;
    Ok(found.unwrap_or(false))
}

/// Drops that of a table, if it is ours.
pub(crate) fn drop(connection: &Connection, table: &Name) -> rusqlite::Result<()> {
    if is_there(connection, table)? { connection.execute_batch(&format!("DROP TABLE {}", name(table))) } else { Ok(()) }
}

/// The devices with a value of a tag, ascending. They never change while a run reads.
pub(crate) fn with_value(connection: &Connection, sql: &str, value: TypedTag<'_>) -> rusqlite::Result<Vec<u32>> {
    let ascending = format!("{sql} ORDER BY device");
    connection.prepare_cached(&ascending)?.query_map([argument(value)], |row| row.get(0))?.collect()
}

/// Gives the rows of these devices to `take`.
pub(crate) fn read(
    connection: &Connection,
    table: &TableSpec,
    devices: &Range<u32>,
    take: &mut TakeTags<'_>,
) -> Result<(), Error> {
    let (columns, condition) = rows_of(table.schema.tags(), devices, quoted);
    let sql = format!("SELECT {columns} FROM {} WHERE {condition} ORDER BY device", name(&table.name));
    let mut statement = connection.prepare_cached(&sql).map_err(|e| classify(&e))?;
    let mut rows = statement.query([]).map_err(|e| classify(&e))?;
    while let Some(row) = rows.next().map_err(|e| classify(&e))? {
        let tags = table.schema.tags().as_slice().iter().zip(1..);
        let values = tags.map(|(tag, column)| value_at(row, column, tag.values.tag_type()));
        let values = values.collect::<rusqlite::Result<Vec<_>>>().map_err(|e| classify(&e))?;
        let device = row.get(0).map_err(|e| classify(&e))?;
        take(device, &values.iter().map(Option::as_deref).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// The query for them, whose one argument is `:value`.
pub(crate) fn with_value_sql(table: &TableSpec, tag: &str) -> String {
    format!("SELECT device FROM {} WHERE {} = :value", name(&table.name), quoted(tag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        sqlite::{config::Indexes, marker::Tables},
        with_tags::with_typed_tags,
    };
    use iotbench_backend_kit::ownership::{Found, Ownership};
    use iotbench_core::{Layout, Marker, Schema, Signal, Tag, TagValues, Tags, ValueType};

    fn table() -> TableSpec {
        let signal = Signal { name: "a".into(), value_type: ValueType::F32, max_text_bytes: 0 };
        let tag = |name: &str| Tag { name: name.into(), values: TagValues::OneOf(vec!["x".into(), "y".into()]) };
        let tags = Tags::new(0, vec![tag("site"), tag("order")]).unwrap();
        TableSpec {
            name: Name::new("t").unwrap(),
            layout: Layout::Wide,
            schema: Schema::new(vec![signal]).unwrap().with_tags(tags).unwrap(),
            devices: 3,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        }
    }

    #[tokio::test]
    async fn each_tag_is_a_column_by_whose_index_devices_are_found() {
        let (mut connection, table) = (Connection::open_in_memory().unwrap(), table());
        create(&mut connection, &table, &Filled::default()).await.unwrap();
        let columns = "device INTEGER PRIMARY KEY NOT NULL, \"site\" TEXT NOT NULL, \"order\" TEXT NOT NULL";
        assert_eq!(create_sql(&table), format!("CREATE TABLE t_devices (/* iotbench devices of t */ {columns})"));
        let found = with_value_sql(&table, "order");
        assert_eq!(found, "SELECT device FROM t_devices WHERE \"order\" = :value");
        let plan = format!("EXPLAIN QUERY PLAN {found}");
        let plan: String = connection.query_row(&plan, ["x"], |row| row.get(3)).unwrap();
        assert_eq!(plan, "SEARCH t_devices USING COVERING INDEX t_devices_order (order=?)");
        assert!(is_there(&connection, &table.name).unwrap());
    }

    #[tokio::test]
    async fn a_tag_of_a_type_is_stored_as_it_found_by_it_and_told_by_its_text() {
        let (mut connection, table) = (Connection::open_in_memory().unwrap(), with_typed_tags(table()));
        create(&mut connection, &table, &Filled::default()).await.unwrap();
        let types = "SELECT typeof(site) || typeof(floor) || typeof(load) || typeof(leased) FROM t_devices";
        let types: String = connection.query_row(types, [], |row| row.get(0)).unwrap();
        assert_eq!(types, "textintegerrealinteger");
        for (tag, value) in table.schema.tags().of(0) {
            let value = value.typed(tag.values.tag_type());
            let found = with_value(&connection, &with_value_sql(&table, &tag.name), value).unwrap();
            assert_eq!(found, [0, 1, 2], "{}", tag.name);
        }
        let mut told = Vec::new();
        let mut take = |device, values: &[Option<&str>]| {
            told.push((device, values.iter().map(|value| value.map(str::to_owned)).collect::<Vec<_>>()));
            Ok(())
        };
        read(&connection, &table, &(1..2), &mut take).unwrap();
        assert_eq!(told, [(1, ["east", "-2", "0.5", "true"].map(|text| Some(text.to_owned())).to_vec())]);
        connection.execute_batch("UPDATE t_devices SET leased = 2").unwrap();
        assert!(read(&connection, &table, &(1..2), &mut |_, _| Ok(())).is_err(), "no truth");
    }

    #[tokio::test]
    async fn what_was_not_committed_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Connection::open(folder.path().join("points.sqlite")).unwrap();
        let (table, filled) = (table(), Filled::default());
        let mut ours = Tables::new(open(), &table, Indexes::Time, &filled);
        ours.begin().await.unwrap();
        assert_eq!(ours.find(&table.name).await.unwrap(), Found::Nothing);
        ours.make(None).await.unwrap();
        std::mem::drop(ours);
        let left: u32 = open().query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0);
    }
}
