//! TimescaleDB: a table whose rows lie in chunks of time.

use super::{error::classify, layout::Table, own_database, quoting::literal};
use iotbench_backend_kit::second::SECOND_NS;
use iotbench_core::{Action, Cause, Error};
use sqlx::{Executor, PgConnection};

/// The bytes of all chunks with their indexes; the argument is the table's qualified name.
pub(crate) const STORAGE_SQL: &str = "SELECT coalesce(hypertable_size($1::text::regclass), 0)::bigint";

/// The statement that makes a new table a hypertable with chunks of so many seconds. It has the index of its layout, and none
/// beside it.
pub(crate) fn chunk_sql(table: &Table, seconds: u32) -> String {
    let time = table.first_of_time();
    let interval = if time == "ts" { i64::from(seconds) * SECOND_NS } else { i64::from(seconds) };
    format!(
        "SELECT create_hypertable({}::regclass, '{time}', chunk_time_interval => {interval}::bigint, \
         create_default_indexes => false)",
        literal(&table.qualified)
    )
}

/// The version of the extension: in this database, or the one that a database of ours will have.
///
/// # Errors
/// There is none.
pub(crate) async fn version(connection: &mut PgConnection, is_database_ours: bool) -> Result<String, Error> {
    let available = "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions \
                     WHERE name = 'timescaledb'";
    let sql = if is_database_ours { available } else { INSTALLED };
    let version: Option<String> = sqlx::query_scalar(sql).fetch_optional(connection).await.map_err(|e| classify(&e))?;
    version.ok_or_else(|| missing(""))
}

/// Sees to it that the database has the extension: one that we created gets it.
///
/// # Errors
/// There is none, or a database of somebody else's is without it.
pub(crate) async fn ensure(connection: &mut PgConnection) -> Result<(), Error> {
    let installed: Option<String> =
        sqlx::query_scalar(INSTALLED).fetch_optional(&mut *connection).await.map_err(|e| classify(&e))?;
    if installed.is_some() {
        return Ok(());
    }
    if !own_database::is_marked(connection).await? {
        return Err(missing(""));
    }
    let created = connection.execute("CREATE EXTENSION IF NOT EXISTS timescaledb").await;
    created.map(|_| ()).map_err(|e| missing(&format!(" ({})", classify(&e).message)))
}

const INSTALLED: &str = "SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'";

fn missing(reason: &str) -> Error {
    let message = format!(
        "the table is to be a hypertable, and this database has no extension timescaledb{reason}: install it, with \
         shared_preload_libraries = 'timescaledb' and CREATE EXTENSION timescaledb, or leave hypertable out"
    );
    Error::new(Cause::Server, message).action(Action::Stop)
}
