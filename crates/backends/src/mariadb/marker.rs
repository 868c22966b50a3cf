//! Which tables are ours: the comment of a table names the run that created it.

use super::{
    config::Engine,
    devices,
    error::{capped, classify},
    layout::{create_sql, index_name, qualified, quoted},
    lease,
    server::{Server, execute, text_at},
};
use iotbench_backend_kit::{
    devices::Filled,
    marker::{comment, of_comment},
    ownership::{Found, Owned, Ownership},
};
use iotbench_core::{Action, Cause, Error, Marker, Name, OwnedObject, TableSpec};
use sqlx::MySqlConnection;

/// Stands in the comment of a database that we created.
const DATABASE_COMMENT: &str = "iotbench";
/// Two runs neither create nor drop at the same time.
const LOCK: &str = "SELECT GET_LOCK('iotbench', 10)";

/// MyRocks copies a table to change its comment, and a transaction may not lock as many rows as a table may have.
const COPY_IN_PARTS: &str = "SET SESSION rocksdb_commit_in_the_middle = 1";

/// The tables of ours in a database.
pub(crate) struct Tables<'a> {
    server: &'a Server,
    connection: MySqlConnection,
    table: &'a TableSpec,
    /// Whether this run holds its table's lock: then nobody else does.
    is_leased: bool,
    filled: &'a Filled,
}

impl<'a> Tables<'a> {
    pub(crate) async fn connect(
        server: &'a Server,
        table: &'a TableSpec,
        is_leased: bool,
        filled: &'a Filled,
    ) -> Result<Self, Error> {
        Ok(Self { server, connection: server.connect().await?, table, is_leased, filled })
    }
}

impl Ownership for Tables<'_> {
    type Handle = ();

    fn own(&self) -> (&Name, &Marker) {
        (&self.table.name, &self.table.marker)
    }

    async fn begin(&mut self) -> Result<(), Error> {
        lock(&mut self.connection).await
    }

    async fn find(&mut self, name: &Name) -> Result<Found, Error> {
        let sql = "SELECT table_type, table_comment FROM information_schema.tables \
                   WHERE table_schema = ? AND table_name = ?";
        let query = sqlx::query(sql).bind(&self.server.address.database).bind(name.as_str());
        let row = query.fetch_optional(&mut self.connection).await.map_err(|e| classify(&e))?;
        let Some(row) = row else { return Ok(Found::Nothing) };
        let kind = text_at(&row, 0)?.unwrap_or_default();
        let marker = text_at(&row, 1)?.and_then(|comment| of_comment(&comment));
        Ok(match marker.filter(|_| kind == "BASE TABLE") {
            Some(marker) => Found::Ours(Owned { marker, exists: true, handle: () }),
            None => Found::Foreign(not_ours(name, &kind.to_lowercase())),
        })
    }

    async fn hold(&mut self, name: &Name) -> Result<bool, Error> {
        if !(self.is_leased && *name == self.table.name) {
            lease::lock(&mut self.connection, &self.server.address.database, name).await?;
        }
        Ok(false)
    }

    async fn make(&mut self, earlier: Option<Owned>) -> Result<(), Error> {
        let (connection, address) = (&mut self.connection, &self.server.address);
        if address.is_default_database {
            create_database(connection, &address.database).await?;
        }
        let (table, database, has_tags) = (self.table, &address.database, !self.table.schema.tags().is_empty());
        if has_tags && devices::find(connection, database, &table.name).await? == devices::Found::Foreign {
            return Err(devices_not_ours(&table.name));
        }
        match earlier {
            Some(_) => drop_table(connection, database, &table.name).await?,
            // One that is left of a table that somebody dropped.
            None => devices::drop(connection, database, &table.name).await?,
        }
        let of_points = create_sql(database, table, &self.server.config);
        create_table(connection, &of_points, || not_ours(&table.name, "an object of that name")).await?;
        if has_tags {
            let of_devices = devices::create_sql(database, table, &self.server.config);
            create_table(connection, &of_devices, || devices_not_ours(&table.name)).await?;
            devices::fill(connection, database, table, self.filled).await?;
        }
        Ok(())
    }

    async fn take_over(&mut self, _: Owned) -> Result<bool, Error> {
        let database = &self.server.address.database;
        if !self.table.schema.tags().is_empty()
            && !devices::is_whole(&mut self.connection, database, self.table).await?
        {
            return Ok(false);
        }
        if self.server.config.engine == Engine::MyRocks {
            execute(&mut self.connection, COPY_IN_PARTS).await?;
        }
        let name = qualified(database, self.table);
        let mark = format!("ALTER TABLE {name} COMMENT='{}'", comment(&self.table.marker));
        execute(&mut self.connection, &mark).await.map(|()| true)
    }

    /// Our database goes with the last of our tables.
    async fn remove(&mut self, name: &Name, _: Owned) -> Result<(), Error> {
        let address = &self.server.address;
        drop_table(&mut self.connection, &address.database, name).await?;
        if address.is_default_database {
            drop_empty_database(&mut self.connection, &address.database).await?;
        }
        Ok(())
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        let sql = "SELECT table_name, table_comment FROM information_schema.tables \
                   WHERE table_schema = ? AND table_type = 'BASE TABLE'";
        let rows = sqlx::query(sql).bind(&self.server.address.database).fetch_all(&mut self.connection).await;
        let mut owned = Vec::new();
        for row in rows.map_err(|e| classify(&e))? {
            let name = text_at(&row, 0)?.and_then(|name| Name::new(&name).ok());
            let marker = text_at(&row, 1)?.and_then(|comment| of_comment(&comment));
            owned.extend(name.zip(marker).map(|(name, marker)| OwnedObject { name, run_id: marker.run_id }));
        }
        Ok(owned)
    }
}

async fn create_table(
    connection: &mut MySqlConnection,
    sql: &str,
    not_ours: impl FnOnce() -> Error,
) -> Result<(), Error> {
    // Somebody else created it in the meantime.
    execute(connection, sql).await.map_err(|e| if e.message.starts_with("error 1050:") { not_ours() } else { e })
}

fn devices_not_ours(table: &Name) -> Error {
    let name = iotbench_backend_kit::devices::name(table);
    let message = format!("{name} exists and is not our table of devices: choose another table or database");
    Error::new(Cause::NotOurs, message)
}

fn not_ours(name: &Name, kind: &str) -> Error {
    let kind = capped(kind);
    let message = format!("{name} exists ({kind}) and does not carry our marker: choose another table or database");
    Error::new(Cause::NotOurs, message)
}

/// With its table of devices, which goes first: it is found by this one.
async fn drop_table(connection: &mut MySqlConnection, database: &str, name: &Name) -> Result<(), Error> {
    devices::drop(connection, database, name).await?;
    execute(connection, &format!("DROP TABLE {}.{}", quoted(database), quoted(name.as_str()))).await
}

/// Creates the default database, marked where the server can: MariaDB has comments on databases, MySQL has none.
async fn create_database(connection: &mut MySqlConnection, database: &str) -> Result<(), Error> {
    if exists(connection, database).await? {
        return Ok(());
    }
    let comment = if is_mariadb(connection).await? { format!(" COMMENT '{DATABASE_COMMENT}'") } else { String::new() };
    let name = quoted(database);
    execute(connection, &format!("CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4{comment}")).await
}

/// Whether a database is there.
pub(crate) async fn exists(connection: &mut MySqlConnection, database: &str) -> Result<bool, Error> {
    let sql = "SELECT schema_name FROM information_schema.schemata WHERE schema_name = ?";
    let row = sqlx::query(sql).bind(database).fetch_optional(connection).await;
    row.map(|row| row.is_some()).map_err(|e| classify(&e))
}

/// Whether our index is on a table.
pub(crate) async fn has_index(
    connection: &mut MySqlConnection,
    database: &str,
    table: &TableSpec,
) -> Result<bool, Error> {
    let sql = "SELECT index_name FROM information_schema.statistics \
               WHERE table_schema = ? AND table_name = ? AND index_name = ? LIMIT 1";
    let query = sqlx::query(sql).bind(database).bind(table.name.as_str()).bind(index_name(table));
    query.fetch_optional(connection).await.map(|row| row.is_some()).map_err(|e| classify(&e))
}

/// Drops our database if it carries our comment and nothing is left in it.
async fn drop_empty_database(connection: &mut MySqlConnection, database: &str) -> Result<(), Error> {
    if !is_mariadb(connection).await? {
        return Ok(());
    }
    let sql = "SELECT schema_name FROM information_schema.schemata s \
               WHERE schema_name = ? AND schema_comment = ? \
                 AND NOT EXISTS (SELECT * FROM information_schema.tables WHERE table_schema = s.schema_name) \
                 AND NOT EXISTS (SELECT * FROM information_schema.routines WHERE routine_schema = s.schema_name) \
                 AND NOT EXISTS (SELECT * FROM information_schema.events WHERE event_schema = s.schema_name)";
    let row = sqlx::query(sql).bind(database).bind(DATABASE_COMMENT).fetch_optional(&mut *connection).await;
    if row.map_err(|e| classify(&e))?.is_some() {
        execute(connection, &format!("DROP DATABASE {}", quoted(database))).await?;
    }
    Ok(())
}

/// Whether this is MariaDB and not MySQL.
pub(crate) async fn is_mariadb(connection: &mut MySqlConnection) -> Result<bool, Error> {
    let row = sqlx::query("SELECT VERSION()").fetch_one(connection).await.map_err(|e| classify(&e))?;
    Ok(text_at(&row, 0)?.is_some_and(|version| version.contains("MariaDB")))
}

/// Takes the lock that the end of the connection gives back.
async fn lock(connection: &mut MySqlConnection) -> Result<(), Error> {
    let row = sqlx::query(LOCK).fetch_one(connection).await.map_err(|e| classify(&e))?;
    let taken: Option<i64> = sqlx::Row::try_get_unchecked(&row, 0).map_err(|e| classify(&e))?;
    if taken == Some(1) {
        return Ok(());
    }
    Err(Error::new(Cause::Server, "another run holds the lock 'iotbench' of this server").action(Action::Stop))
}

/// Whether the table has the columns of the signals that are added.
pub(super) async fn has_added(
    connection: &mut MySqlConnection,
    database: &str,
    table: &TableSpec,
) -> Result<bool, Error> {
    let sql = "SELECT column_name FROM information_schema.columns \
               WHERE table_schema = ? AND table_name = ? AND column_name = ?";
    for signal in table.schema.added_signals() {
        let query = sqlx::query(sql).bind(database).bind(table.name.as_str()).bind(&signal.name);
        if query.fetch_optional(&mut *connection).await.map_err(|e| classify(&e))?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}
