//! Creates and drops our tables, and nothing that is not ours.

use super::{
    citus,
    config::Division,
    error::classify,
    layout::{Table, literal, qualified, quoted},
    marker::{self, BEGINNING},
};
use iotbench_core::{Cause, Error, Marker, Name, OwnedObject};
use sqlx::{Connection, Executor, PgConnection};

/// Creates and marks a table, in the place of an earlier one of ours, in one transaction.
///
/// # Errors
/// [`Cause::NotOurs`] where something of its name does not carry our marker.
pub(crate) async fn create(connection: &mut PgConnection, table: &Table) -> Result<(), Error> {
    let mut transaction = connection.begin().await.map_err(|e| classify(&e))?;
    if table.division == Division::Shards {
        transaction.execute(citus::ONE_BY_ONE).await.map_err(|e| classify(&e))?;
    }
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

/// Makes this run the owner of a table that an earlier run left, if it is there with the same fingerprint; else changes
/// nothing. The run that it belonged to is returned.
pub(crate) async fn adopt(connection: &mut PgConnection, table: &Table) -> Result<Option<String>, Error> {
    let mut transaction = connection.begin().await.map_err(|e| classify(&e))?;
    let (schema, name, marker) = (&table.schema_name, table.spec.name.as_str(), &table.spec.marker);
    let is_meant = |found: &Marker| found.fingerprint == marker.fingerprint;
    let Some(found) = marker_under_lock(&mut transaction, schema, name, is_meant).await? else { return Ok(None) };
    let mark = format!("COMMENT ON TABLE {} IS {}", table.qualified, literal(&marker::comment(marker)));
    transaction.execute(mark.as_str()).await.map_err(|e| classify(&e))?;
    transaction.commit().await.map_err(|e| classify(&e))?;
    Ok(Some(found.run_id))
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
               WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND starts_with(obj_description(c.oid, 'pg_class'), $2) \
               ORDER BY c.relname";
    let found: Vec<(String, String)> =
        sqlx::query_as(sql).bind(schema).bind(BEGINNING).fetch_all(connection).await.map_err(|e| classify(&e))?;
    let object = |(name, comment): (String, String)| {
        Some(OwnedObject { name: Name::new(&name).ok()?, run_id: marker::parse(&comment)?.run_id })
    };
    Ok(found.into_iter().filter_map(object).collect())
}

/// Drops a marked table of this name, of one run or of any. Never cascades: a view of somebody else's on it is an error.
async fn drop_marked(
    transaction: &mut PgConnection,
    schema: &str,
    name: &str,
    run_id: Option<&str>,
) -> Result<bool, Error> {
    let is_meant = |found: &Marker| run_id.is_none_or(|run_id| run_id == found.run_id);
    if marker_under_lock(transaction, schema, name, is_meant).await?.is_none() {
        return Ok(false);
    }
    let drop = format!("DROP TABLE {}", qualified(schema, name));
    transaction.execute(drop.as_str()).await.map_err(|e| classify(&e))?;
    Ok(true)
}

/// The marker of a table of this name if it is one that is meant; the table is then locked. The marker is looked at again
/// once it is.
async fn marker_under_lock(
    transaction: &mut PgConnection,
    schema: &str,
    name: &str,
    is_meant: impl Fn(&Marker) -> bool,
) -> Result<Option<Marker>, Error> {
    if !marker_of(transaction, schema, name).await?.is_some_and(|found| is_meant(&found)) {
        return Ok(None);
    }
    let lock = format!("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE", qualified(schema, name));
    transaction.execute(lock.as_str()).await.map_err(|e| classify(&e))?;
    Ok(marker_of(transaction, schema, name).await?.filter(is_meant))
}

/// The marker of a table of this name, where it carries one.
async fn marker_of(connection: &mut PgConnection, schema: &str, name: &str) -> Result<Option<Marker>, Error> {
    let sql = "SELECT obj_description(c.oid, 'pg_class') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
               WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p')";
    let comment: Option<Option<String>> =
        sqlx::query_scalar(sql).bind(schema).bind(name).fetch_optional(connection).await.map_err(|e| classify(&e))?;
    Ok(comment.flatten().and_then(|comment| marker::parse(&comment)))
}

/// An error where a relation or a type has a name that we are about to use: ours is gone by now.
async fn refuse_foreign(connection: &mut PgConnection, table: &Table) -> Result<(), Error> {
    let sql = "SELECT CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'v' THEN 'view' \
                      WHEN 'm' THEN 'view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' ELSE 'relation' END \
                      || ' ' || c.relname::text \
               FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
               WHERE n.nspname = $1 AND (c.relname IN ($2, $3) OR c.relname = ANY($4)) \
               UNION ALL \
               SELECT 'type ' || t.typname::text FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace \
               WHERE n.nspname = $1 AND t.typname = $2 AND t.typrelid = 0 LIMIT 1";
    let found: Option<String> = sqlx::query_scalar(sql)
        .bind(&table.schema_name)
        .bind(table.spec.name.as_str())
        .bind(table.index_name())
        .bind(table.partition_names())
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
