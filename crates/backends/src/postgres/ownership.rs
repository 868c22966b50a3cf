//! Creates and drops our tables, and nothing that is not ours.

use super::{
    error::classify,
    layout::{Table, literal, qualified, quoted},
    marker::{self, BEGINNING},
};
use iotbench_core::{Cause, Error, Name, OwnedObject};
use sqlx::{Connection, Executor, PgConnection};

/// Creates and marks a table, in the place of an earlier one of ours, in one transaction.
///
/// # Errors
/// [`Cause::NotOurs`] where something of its name does not carry our marker.
pub(crate) async fn create(connection: &mut PgConnection, table: &Table) -> Result<(), Error> {
    let mut transaction = connection.begin().await.map_err(|e| classify(&e))?;
    let name = table.spec.name.as_str();
    drop_marked(&mut transaction, &table.schema_name, name, None).await?;
    refuse_foreign(&mut transaction, table).await?;
    let comment = literal(&marker::comment(&table.spec.marker));
    let mut statements = table.create_sql();
    statements.push(format!("COMMENT ON TABLE {} IS {comment}", table.qualified));
    for statement in &statements {
        transaction.execute(statement.as_str()).await.map_err(|e| classify(&e))?;
    }
    transaction.commit().await.map_err(|e| classify(&e))
}

/// Drops a table that carries the marker of this run, and nothing else. False when there is no such table.
pub(crate) async fn drop_of_run(
    connection: &mut PgConnection,
    schema: &str,
    name: &str,
    run_id: &str,
) -> Result<bool, Error> {
    let mut transaction = connection.begin().await.map_err(|e| classify(&e))?;
    let is_dropped = drop_marked(&mut transaction, schema, name, Some(run_id)).await?;
    transaction.commit().await.map_err(|e| classify(&e))?;
    Ok(is_dropped)
}

/// All tables of a schema that carry our marker.
pub(crate) async fn owned(connection: &mut PgConnection, schema: &str) -> Result<Vec<OwnedObject>, Error> {
    let sql = "SELECT c.relname::text, obj_description(c.oid, 'pg_class') FROM pg_class c \
               JOIN pg_namespace n ON n.oid = c.relnamespace \
               WHERE n.nspname = $1 AND c.relkind = 'r' AND starts_with(obj_description(c.oid, 'pg_class'), $2) \
               ORDER BY c.relname";
    let found: Vec<(String, String)> =
        sqlx::query_as(sql).bind(schema).bind(BEGINNING).fetch_all(connection).await.map_err(|e| classify(&e))?;
    let object = |(name, comment): (String, String)| {
        Some(OwnedObject { name: Name::new(&name).ok()?, run_id: marker::parse(&comment)?.run_id })
    };
    Ok(found.into_iter().filter_map(object).collect())
}

/// Drops a marked table of this name, of one run or of any. The marker is looked at again once the table is locked. Never
/// cascades: a view of somebody else's on it is an error.
async fn drop_marked(
    transaction: &mut PgConnection,
    schema: &str,
    name: &str,
    run_id: Option<&str>,
) -> Result<bool, Error> {
    let table = qualified(schema, name);
    let is_meant = |found: Option<String>| found.is_some_and(|found| run_id.is_none_or(|run_id| run_id == found));
    if !is_meant(run_of(transaction, schema, name).await?) {
        return Ok(false);
    }
    let lock = format!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE");
    transaction.execute(lock.as_str()).await.map_err(|e| classify(&e))?;
    if !is_meant(run_of(transaction, schema, name).await?) {
        return Ok(false);
    }
    transaction.execute(format!("DROP TABLE {table}").as_str()).await.map_err(|e| classify(&e))?;
    Ok(true)
}

/// The run that a marked table of this name belongs to.
async fn run_of(connection: &mut PgConnection, schema: &str, name: &str) -> Result<Option<String>, Error> {
    let sql = "SELECT obj_description(c.oid, 'pg_class') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
               WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind = 'r'";
    let comment: Option<Option<String>> =
        sqlx::query_scalar(sql).bind(schema).bind(name).fetch_optional(connection).await.map_err(|e| classify(&e))?;
    Ok(comment.flatten().and_then(|comment| marker::parse(&comment)).map(|marker| marker.run_id))
}

/// An error where a relation or a type has a name that we are about to use: ours is gone by now.
async fn refuse_foreign(connection: &mut PgConnection, table: &Table) -> Result<(), Error> {
    let sql = "SELECT CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'v' THEN 'view' \
                      WHEN 'm' THEN 'view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' ELSE 'relation' END \
                      || ' ' || c.relname::text \
               FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
               WHERE n.nspname = $1 AND c.relname IN ($2, $3) \
               UNION ALL \
               SELECT 'type ' || t.typname::text FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace \
               WHERE n.nspname = $1 AND t.typname = $2 AND t.typrelid = 0 LIMIT 1";
    let found: Option<String> = sqlx::query_scalar(sql)
        .bind(&table.schema_name)
        .bind(table.spec.name.as_str())
        .bind(table.index_name())
        .fetch_optional(connection)
        .await
        .map_err(|e| classify(&e))?;
    match found {
        Some(object) => {
            let schema = quoted(&table.schema_name);
            let message = format!(
                "{object} in schema {schema} exists and does not carry our marker: choose another table name, schema \
                 or database"
            );
            Err(Error::new(Cause::NotOurs, message))
        }
        None => Ok(()),
    }
}
