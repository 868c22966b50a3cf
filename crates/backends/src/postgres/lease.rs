//! The lock on a table's name that says who uses it: an advisory lock of the database that holds the table.

use super::{error::classify, layout::Table};
use iotbench_backend_kit::lease::{Lease, WAIT_S, in_use};
use iotbench_core::{Error, Name};
use sqlx::{Connection, PgConnection};

/// Among advisory locks those of iotbench: "iotb".
const SPACE: i32 = 0x696f_7462;

/// Nobody ends the connection for its idleness, and the server finds out within a minute that the client's machine is gone.
const SET_UP: &str = "SELECT count(set_config(s.name, v.value, false)) FROM pg_settings s JOIN (VALUES \
                      ('tcp_keepalives_idle', '30'), ('tcp_keepalives_interval', '10'), ('tcp_keepalives_count', '3'), \
                      ('idle_session_timeout', '0')) AS v(name, value) ON v.name = s.name";
/// PostgreSQL's own code of a lock that was waited for in vain.
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// A connection that holds the lock of the run's own table.
pub(crate) struct HeldByRun(PgConnection);

impl HeldByRun {
    /// Takes the lock on a connection to the table's database.
    ///
    /// # Errors
    /// Another run holds it.
    pub(crate) async fn take(mut connection: PgConnection, table: &Table) -> Result<Self, Error> {
        sqlx::query(SET_UP).execute(&mut connection).await.map_err(|e| classify(&e))?;
        lock(&mut connection, "pg_advisory_lock", table, &table.spec.name).await?;
        Ok(Self(connection))
    }
}

impl Lease for HeldByRun {
    async fn is_held(&mut self) -> bool {
        self.0.ping().await.is_ok()
    }

    async fn end(self) {
        // Nobody is told why it could not be closed: the server closes it as well.
        let _ = self.0.close().await;
    }
}

/// Takes the lock of a table for the transaction that changes it.
///
/// # Errors
/// A run holds it.
pub(crate) async fn for_the_transaction(
    connection: &mut PgConnection,
    table: &Table,
    name: &Name,
) -> Result<(), Error> {
    lock(connection, "pg_advisory_xact_lock", table, name).await
}

async fn lock(connection: &mut PgConnection, function: &str, table: &Table, name: &Name) -> Result<(), Error> {
    let wait = |limit: &str| format!("SET lock_timeout = {limit}");
    let qualified = format!("{}.{name}", table.schema_name);
    run(connection, &wait(&format!("'{WAIT_S}s'"))).await?;
    let sql = format!("SELECT {function}($1, hashtext($2))");
    let taken = sqlx::query(&sql).bind(SPACE).bind(&qualified).execute(&mut *connection).await;
    match taken {
        Ok(_) => run(connection, &wait("DEFAULT")).await,
        Err(e) if is_unavailable(&e) => Err(in_use(name)),
        Err(e) => Err(classify(&e)),
    }
}

async fn run(connection: &mut PgConnection, statement: &str) -> Result<(), Error> {
    sqlx::Executor::execute(connection, statement).await.map(|_| ()).map_err(|e| classify(&e))
}

fn is_unavailable(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).is_some_and(|code| code == LOCK_NOT_AVAILABLE)
}
