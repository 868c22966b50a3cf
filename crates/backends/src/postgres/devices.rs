//! The table of devices: a column a tag, each with an index. It is part of the table that it belongs to, made, replaced and
//! dropped in the same transaction: the marker of that one says whose both are.

use super::{
    config::Division,
    error::classify,
    layout::Table,
    quoting::{literal, qualified, quoted},
};
use futures_util::TryStreamExt;
use iotbench_backend_kit::devices::{mark, name, rows, rows_of};
use iotbench_core::{Cause, Error, Name, Tag, TagType, TakeTags};
use sqlx::{Executor, PgConnection, Row, postgres::PgRow};
use std::{borrow::Cow, ops::Range};

fn type_word(tag_type: TagType) -> &'static str {
    match tag_type {
        TagType::Text => "text",
        TagType::Integer => "bigint",
        TagType::Number => "double precision",
        TagType::Truth => "boolean",
    }
}

/// The text that stands for the value of a tag in a column.
pub(crate) fn value_at(row: &PgRow, column: usize, tag_type: TagType) -> Result<Option<Cow<'_, str>>, Error> {
    let value = match tag_type {
        TagType::Text => row.try_get::<Option<&str>, _>(column).map(|text| text.map(Cow::Borrowed)),
        TagType::Integer => row.try_get::<Option<i64>, _>(column).map(|value| value.map(|v| v.to_string().into())),
        TagType::Number => row.try_get::<Option<f64>, _>(column).map(|value| value.map(|v| v.to_string().into())),
        TagType::Truth => row.try_get::<Option<bool>, _>(column).map(|value| value.map(|v| v.to_string().into())),
    };
    value.map_err(|e| classify(&e))
}

/// The statement that creates it, and those that mark it and lay it where the rows of datapoints are.
fn create_sql(table: &Table) -> Vec<String> {
    let tags = table.spec.schema.tags().as_slice().iter();
    let column = |tag: &Tag| format!(", {} {} NOT NULL", quoted(&tag.name), type_word(tag.values.tag_type()));
    let columns: String = tags.map(column).collect();
    let (devices, mark) = (&table.devices, literal(&mark(&table.spec.name)));
    let mut statements = vec![
        format!("CREATE TABLE {devices} (device integer PRIMARY KEY{columns})"),
        format!("COMMENT ON TABLE {devices} IS {mark}"),
    ];
    if table.division == Division::Shards {
        // Whole on every worker: each joins its own shards with it.
        statements.push(format!("SELECT create_reference_table({})", literal(devices)));
    }
    statements
}

/// The statements that create its indexes, whose names the server chooses: none that is taken.
fn index_sql(table: &Table) -> impl Iterator<Item = String> {
    let tags = table.spec.schema.tags().as_slice().iter();
    tags.map(|tag| format!("CREATE INDEX ON {} ({})", table.devices, quoted(&tag.name)))
}

/// Creates and fills it, where devices have tags.
pub(crate) async fn create(connection: &mut PgConnection, table: &Table) -> Result<(), Error> {
    let tags = table.spec.schema.tags();
    if tags.is_empty() {
        return Ok(());
    }
    for statement in create_sql(table) {
        run(connection, &statement).await?;
    }
    for rows in rows(tags, table.spec.devices, &table.filled) {
        run(connection, &format!("INSERT INTO {} VALUES {rows}", table.devices)).await?;
    }
    for statement in index_sql(table) {
        run(connection, &statement).await?;
    }
    Ok(())
}

/// Whether the table of this name in a schema has one that is ours.
pub(crate) async fn is_there(connection: &mut PgConnection, schema: &str, table: &Name) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
               WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind = 'r' AND obj_description(c.oid, 'pg_class') = $3)";
    let query = sqlx::query_scalar(sql).bind(schema).bind(name(table)).bind(mark(table));
    query.fetch_one(connection).await.map_err(|e| classify(&e))
}

/// Drops that of a table, if it is ours. Never cascades.
pub(crate) async fn drop(connection: &mut PgConnection, schema: &str, table: &Name) -> Result<(), Error> {
    if is_there(connection, schema, table).await? {
        run(connection, &format!("DROP TABLE {}", qualified(schema, &name(table)))).await?;
    }
    Ok(())
}

/// Gives the rows of these devices to `take`.
pub(crate) async fn read(
    connection: &mut PgConnection,
    table: &Table,
    devices: &Range<u32>,
    take: &mut TakeTags<'_>,
) -> Result<(), Error> {
    let tags = table.spec.schema.tags();
    let (columns, condition) = rows_of(tags, devices, quoted);
    let sql = format!("SELECT {columns} FROM {} WHERE {condition} ORDER BY device", table.devices);
    let mut rows = sqlx::query(&sql).fetch(connection);
    while let Some(row) = rows.try_next().await.map_err(|e| classify(&e))? {
        let device: i32 = row.try_get(0).map_err(|e| classify(&e))?;
        let device = u32::try_from(device).map_err(|_| Error::new(Cause::Protocol, "a stored device is below 0"))?;
        let values = tags.as_slice().iter().zip(1..).map(|(tag, at)| value_at(&row, at, tag.values.tag_type()));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        take(device, &values.iter().map(Option::as_deref).collect::<Vec<_>>())?;
    }
    Ok(())
}

async fn run(connection: &mut PgConnection, statement: &str) -> Result<(), Error> {
    connection.execute(statement).await.map(|_| ()).map_err(|e| classify(&e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{postgres::layout::tests::tagged, with_tags::with_typed_tags};
    use iotbench_core::Layout;

    #[test]
    fn a_tag_of_a_type_is_a_column_of_it() {
        let mut table = tagged(Layout::Wide, 3, "{}");
        table.spec = with_typed_tags(table.spec);
        let created = create_sql(&table).swap_remove(0);
        let columns = "\"site\" text NOT NULL, \"floor\" bigint NOT NULL, \"load\" double precision NOT NULL, \
                       \"leased\" boolean NOT NULL)";
        assert!(created.ends_with(columns), "{created}");
    }

    #[test]
    fn each_tag_is_a_column_with_an_index() {
        let sql = |settings| {
            let table = tagged(Layout::Wide, 3, settings);
            let statements = create_sql(&table).into_iter().chain(index_sql(&table)).collect::<Vec<_>>();
            statements.join("; ").replace("\"public\".\"t_devices\"", "t_devices")
        };
        let create = "CREATE TABLE t_devices (device integer PRIMARY KEY, \"site\" text NOT NULL, \"order\" text NOT NULL); \
                      COMMENT ON TABLE t_devices IS 'iotbench devices of t'";
        let index = "CREATE INDEX ON t_devices (\"site\"); CREATE INDEX ON t_devices (\"order\")";
        assert_eq!(sql("{}"), format!("{create}; {index}"));
        // Citus was not met by the tests that are run everywhere: this is what its manual asks for.
        let reference = "SELECT create_reference_table('t_devices')";
        assert_eq!(sql(r#"{"distributed": true}"#), format!("{create}; {reference}; {index}"));
    }
}
