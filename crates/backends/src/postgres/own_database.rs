//! The database that is ours to create where the user names none.

use super::{
    address::OWN_DATABASE,
    connector::Connector,
    error::classify,
    quoting::{literal, quoted},
};
use iotbench_backend_kit::marker::{comment, of_comment};
use iotbench_core::{Error, Marker};
use sqlx::{Connection, Executor, PgConnection};

/// The database that every server has, for statements that are about others.
const MAINTENANCE_DATABASE: &str = "postgres";

/// A connection to the database of the table, which is created and marked if it is ours to create and not there.
pub(crate) async fn connect_or_create(connector: &Connector, marker: &Marker) -> Result<PgConnection, Error> {
    if let Some(connection) = connector.connect_if_exists().await? {
        return Ok(connection);
    }
    let mut maintenance = connector.connect_to(MAINTENANCE_DATABASE).await?;
    let database = quoted(OWN_DATABASE);
    let created = maintenance.execute(format!("CREATE DATABASE {database}").as_str()).await;
    match created {
        Ok(_) => {
            let comment = literal(&comment(marker));
            let mark = format!("COMMENT ON DATABASE {database} IS {comment}");
            maintenance.execute(mark.as_str()).await.map_err(|e| classify(&e))?;
        }
        // Another run was faster.
        Err(e) if is_duplicate(&e) => {}
        Err(e) => return Err(classify(&e)),
    }
    connector.connect().await
}

/// A connection that answers what the server is: to the table's database, or to one that is always there.
pub(crate) async fn connect_to_any(connector: &Connector) -> Result<PgConnection, Error> {
    match connector.connect_if_exists().await? {
        Some(connection) => Ok(connection),
        None => connector.connect_to(MAINTENANCE_DATABASE).await,
    }
}

/// Makes this run the owner of the database that the run of an adopted table created; else leaves it alone.
pub(crate) async fn adopt(
    connector: &Connector,
    connection: &mut PgConnection,
    run_id: &str,
    marker: &Marker,
) -> Result<(), Error> {
    if !connector.is_database_ours() || run_of(connection).await?.is_none_or(|found| found != run_id) {
        return Ok(());
    }
    let mark = format!("COMMENT ON DATABASE {} IS {}", quoted(OWN_DATABASE), literal(&comment(marker)));
    connection.execute(mark.as_str()).await.map(|_| ()).map_err(|e| classify(&e))
}

/// Whether the database of this connection carries our marker.
pub(crate) async fn is_marked(connection: &mut PgConnection) -> Result<bool, Error> {
    run_of(connection).await.map(|run| run.is_some())
}

/// The run that created the database of this connection, where it is marked.
async fn run_of(connection: &mut PgConnection) -> Result<Option<String>, Error> {
    let sql = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = current_database()";
    let comment: Option<String> = sqlx::query_scalar(sql).fetch_one(connection).await.map_err(|e| classify(&e))?;
    Ok(comment.and_then(|comment| of_comment(&comment)).map(|marker| marker.run_id))
}

/// Drops the database if this run created it, nothing is left in it and nobody uses it; else leaves it alone.
pub(crate) async fn drop_if_empty(
    connector: &Connector,
    mut connection: PgConnection,
    run_id: &str,
) -> Result<(), Error> {
    if !connector.is_database_ours() {
        return Ok(());
    }
    // What an extension brought is nobody's own.
    let sql = "WITH brought AS (SELECT classid, objid FROM pg_depend WHERE deptype = 'e'), \
                    schemas AS (SELECT oid, nspname FROM pg_namespace WHERE nspname <> 'information_schema' \
                                AND nspname NOT LIKE 'pg\\_%' \
                                AND ('pg_namespace'::regclass, oid) NOT IN (SELECT * FROM brought)) \
               SELECT shobj_description(d.oid, 'pg_database'), NOT EXISTS ( \
                   SELECT FROM pg_class c JOIN schemas n ON n.oid = c.relnamespace \
                   WHERE ('pg_class'::regclass, c.oid) NOT IN (SELECT * FROM brought)) AND NOT EXISTS ( \
                   SELECT FROM schemas WHERE nspname <> 'public') AND NOT EXISTS ( \
                   SELECT FROM pg_proc p JOIN schemas n ON n.oid = p.pronamespace \
                   WHERE ('pg_proc'::regclass, p.oid) NOT IN (SELECT * FROM brought)) \
               FROM pg_database d WHERE d.datname = current_database()";
    let (comment, is_empty): (Option<String>, bool) =
        sqlx::query_as(sql).fetch_one(&mut connection).await.map_err(|e| classify(&e))?;
    // Nobody is told why it could not be closed: the server closes it as well.
    let _ = connection.close().await;
    let is_of_run = comment.and_then(|comment| of_comment(&comment)).is_some_and(|marker| marker.run_id == run_id);
    if !(is_of_run && is_empty) {
        return Ok(());
    }
    let mut maintenance = connector.connect_to(MAINTENANCE_DATABASE).await?;
    match maintenance.execute(format!("DROP DATABASE {}", quoted(OWN_DATABASE)).as_str()).await {
        Err(e) if !is_in_use(&e) => Err(classify(&e)),
        _ => Ok(()),
    }
}

fn is_duplicate(error: &sqlx::Error) -> bool {
    // 23505: two of them at the same moment.
    has_code(error, &["42P04", "23505"])
}

fn is_in_use(error: &sqlx::Error) -> bool {
    has_code(error, &["55006", "3D000"])
}

fn has_code(error: &sqlx::Error, codes: &[&str]) -> bool {
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).is_some_and(|code| codes.contains(&&*code))
}
