//! The lock on a table's name that says who uses it: a lock of the server, by name.

use super::{
    error::classify,
    server::{Server, execute},
};
use iotbench_backend_kit::lease::{Lease, WAIT_S, in_use};
use iotbench_core::{Error, Name};
use sqlx::{Connection, MySqlConnection};

/// A name of a lock may have 64 characters.
const LOCK: &str = "SELECT GET_LOCK(CONCAT('iotbench.', SHA1(?)), ?)";
/// Nobody ends the connection for its idleness, as long as a run may be.
const STAYS: &str = "SET SESSION wait_timeout = 31536000";

/// A connection that holds the lock of the run's own table.
pub(crate) struct HeldByRun(MySqlConnection);

impl HeldByRun {
    /// Takes the lock.
    ///
    /// # Errors
    /// Another run holds it.
    pub(crate) async fn take(server: &Server, name: &Name) -> Result<Self, Error> {
        let mut connection = server.connect().await?;
        execute(&mut connection, STAYS).await?;
        lock(&mut connection, &server.address.database, name).await?;
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

/// Takes the lock of a table for as long as the connection that changes it lasts.
///
/// # Errors
/// A run holds it.
pub(crate) async fn lock(connection: &mut MySqlConnection, database: &str, name: &Name) -> Result<(), Error> {
    let query = sqlx::query(LOCK).bind(format!("{database}.{name}")).bind(WAIT_S);
    let row = query.fetch_one(connection).await.map_err(|e| classify(&e))?;
    let taken: Option<i64> = sqlx::Row::try_get_unchecked(&row, 0).map_err(|e| classify(&e))?;
    if taken == Some(1) { Ok(()) } else { Err(in_use(name)) }
}
