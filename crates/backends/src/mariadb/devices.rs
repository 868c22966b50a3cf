//! The table of devices: a column a tag, each with an index. It is part of the table that it belongs to, whose marker says whose
//! both are. No transaction holds both: it is made after that one and dropped before it, so that what is left half-way is found.

use super::{
    config::Config,
    error::classify,
    layout::quoted,
    server::{execute, text_at},
};
use futures_util::TryStreamExt;
use iotbench_backend_kit::devices::{Filled, mark, name, rows, rows_of};
use iotbench_core::{Error, Name, TableSpec, TagType, TakeTags};
use sqlx::{MySqlConnection, Row, mysql::MySqlRow};
use std::ops::Range;

/// The longest value of a tag: 48 bytes and a number.
const MAX_VALUE_CHARS: u32 = 64;

/// What has the name of a table's table of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    Ours,
    Foreign,
}

/// The name with its database.
pub(crate) fn qualified(database: &str, table: &Name) -> String {
    format!("{}.{}", quoted(database), quoted(&name(table)))
}

fn type_word(tag_type: TagType) -> String {
    match tag_type {
        TagType::Text => format!("VARCHAR({MAX_VALUE_CHARS})"),
        TagType::Integer => "BIGINT".into(),
        TagType::Number => "DOUBLE".into(),
        TagType::Truth => "BOOLEAN".into(),
    }
}

/// The text that stands for the value of a tag in a column. A text that is told apart byte by byte comes as bytes.
fn value_at(row: &MySqlRow, column: usize, tag_type: TagType) -> Result<Option<String>, Error> {
    let value = match tag_type {
        TagType::Text => return text_at(row, column),
        TagType::Integer => row.try_get::<Option<i64>, _>(column).map(|value| value.map(|v| v.to_string())),
        TagType::Number => row.try_get::<Option<f64>, _>(column).map(|value| value.map(|v| v.to_string())),
        TagType::Truth => row.try_get::<Option<bool>, _>(column).map(|value| value.map(|v| v.to_string())),
    };
    value.map_err(|e| classify(&e))
}

/// The statement that creates it with its mark and its indexes. Values are told apart byte by byte.
pub(crate) fn create_sql(database: &str, table: &TableSpec, config: &Config) -> String {
    let tags = || table.schema.tags().as_slice().iter().map(|tag| quoted(&tag.name));
    let types = table.schema.tags().as_slice().iter().map(|tag| type_word(tag.values.tag_type()));
    let columns = tags().zip(types).map(|(tag, type_word)| format!(", {tag} {type_word} NOT NULL"));
    let indexes = tags().map(|tag| format!(", KEY ({tag})"));
    format!(
        "CREATE TABLE {} (`device` INT UNSIGNED NOT NULL PRIMARY KEY{}) ENGINE={} DEFAULT CHARACTER SET utf8mb4 \
         COLLATE utf8mb4_bin COMMENT='{}'",
        qualified(database, &table.name),
        columns.chain(indexes).collect::<String>(),
        config.engine.sql(),
        mark(&table.name)
    )
}

/// Fills it: what a statement inserts is committed with it.
pub(crate) async fn fill(
    connection: &mut MySqlConnection,
    database: &str,
    table: &TableSpec,
    filled: &Filled,
) -> Result<(), Error> {
    let devices = qualified(database, &table.name);
    for rows in rows(table.schema.tags(), table.devices, filled) {
        execute(connection, &format!("INSERT INTO {devices} VALUES {rows}")).await?;
    }
    Ok(())
}

/// Gives the rows of these devices to `take`.
pub(crate) async fn read(
    connection: &mut MySqlConnection,
    database: &str,
    table: &TableSpec,
    devices: &Range<u32>,
    take: &mut TakeTags<'_>,
) -> Result<(), Error> {
    let (columns, condition) = rows_of(table.schema.tags(), devices, quoted);
    let from = qualified(database, &table.name);
    let sql = format!("SELECT {columns} FROM {from} WHERE {condition} ORDER BY `device`");
    let mut rows = sqlx::query(&sql).fetch(connection);
    while let Some(row) = rows.try_next().await.map_err(|e| classify(&e))? {
        let device = row.try_get(0).map_err(|e| classify(&e))?;
        let tags = table.schema.tags().as_slice().iter().zip(1..);
        let values = tags.map(|(tag, column)| value_at(&row, column, tag.values.tag_type()));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        take(device, &values.iter().map(Option::as_deref).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// What has its name.
pub(crate) async fn find(connection: &mut MySqlConnection, database: &str, table: &Name) -> Result<Found, Error> {
    let sql =
        "SELECT table_type, table_comment FROM information_schema.tables WHERE table_schema = ? AND table_name = ?";
    let query = sqlx::query(sql).bind(database).bind(name(table));
    let row = query.fetch_optional(connection).await.map_err(|e| classify(&e))?;
    let Some(row) = row else { return Ok(Found::Nothing) };
    let is_ours =
        text_at(&row, 0)?.as_deref() == Some("BASE TABLE") && text_at(&row, 1)?.is_some_and(|text| text == mark(table));
    Ok(if is_ours { Found::Ours } else { Found::Foreign })
}

/// Whether it is ours and was filled: its last row is there.
pub(crate) async fn is_whole(
    connection: &mut MySqlConnection,
    database: &str,
    table: &TableSpec,
) -> Result<bool, Error> {
    if find(connection, database, &table.name).await? != Found::Ours {
        return Ok(false);
    }
    let last = format!("SELECT `device` FROM {} WHERE `device` = ?", qualified(database, &table.name));
    let last = sqlx::query(&last).bind(table.devices.saturating_sub(1)).fetch_optional(connection).await;
    last.map(|row| row.is_some()).map_err(|e| classify(&e))
}

/// Drops that of a table, if it is ours.
pub(crate) async fn drop(connection: &mut MySqlConnection, database: &str, table: &Name) -> Result<(), Error> {
    if find(connection, database, table).await? == Found::Ours {
        execute(connection, &format!("DROP TABLE {}", qualified(database, table))).await?;
    }
    Ok(())
}

/// The query for the devices with a value of a tag, its one argument.
pub(crate) fn with_value_sql(database: &str, table: &TableSpec, tag: &str) -> String {
    format!("SELECT `device` FROM {} WHERE {} = ?", qualified(database, &table.name), quoted(tag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::with_tags::with_typed_tags;
    use iotbench_core::{Layout, Marker, Schema, Signal, Tag, TagValues, Tags, ValueType};

    #[test]
    fn a_tag_of_a_type_is_a_column_of_it() {
        let created = create_sql("d", &with_typed_tags(table()), &Config::default());
        let columns = "`site` VARCHAR(64) NOT NULL, `floor` BIGINT NOT NULL, `load` DOUBLE NOT NULL, \
                       `leased` BOOLEAN NOT NULL, KEY (`site`)";
        assert!(created.contains(columns), "{created}");
    }

    fn table() -> TableSpec {
        let signal = Signal { name: "a".into(), value_type: ValueType::F32, max_text_bytes: 0 };
        let tag = |name: &str| Tag { name: name.into(), values: TagValues::OneOf(vec!["x".into()]) };
        let tags = Tags::new(0, vec![tag("site"), tag("order")]).unwrap();
        TableSpec {
            name: Name::new("t").unwrap(),
            layout: Layout::Wide,
            schema: Schema::new(vec![signal]).unwrap().with_tags(tags).unwrap(),
            devices: 3,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        }
    }

    #[test]
    fn each_tag_is_a_column_with_an_index_and_found_by_its_value() {
        let table = table();
        assert_eq!(
            create_sql("d", &table, &Config::default()),
            "CREATE TABLE `d`.`t_devices` (`device` INT UNSIGNED NOT NULL PRIMARY KEY, `site` VARCHAR(64) NOT NULL, \
             `order` VARCHAR(64) NOT NULL, KEY (`site`), KEY (`order`)) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 \
             COLLATE utf8mb4_bin COMMENT='iotbench devices of t'"
        );
        let found = "SELECT `device` FROM `d`.`t_devices` WHERE `order` = ?";
        assert_eq!(with_value_sql("d", &table, "order"), found);
    }
}
