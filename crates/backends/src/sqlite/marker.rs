//! Which tables are ours: a row in `iotbench_marker` for each that we created.

use super::{config::Indexes, devices, error::classify, layout};
use iotbench_backend_kit::{
    devices::Filled,
    marker::CREATED_BY,
    ownership::{Found, Owned, Ownership},
};
use iotbench_core::{Cause, Error, Marker, Name, OwnedObject, TableSpec};
use rusqlite::{Connection, OptionalExtension, params};

/// The table that names our tables.
pub(crate) const MARKER_TABLE: &str = "iotbench_marker";
const COLUMNS: [&str; 4] = ["table_name", "run_id", "fingerprint", "created_by"];

/// The tables of ours in a file. What is changed is changed in one transaction, which ends with the connection where it was
/// not made to last.
pub(crate) struct Tables<'a> {
    connection: Connection,
    table: &'a TableSpec,
    indexes: Indexes,
    filled: &'a Filled,
    /// Whether one of ours was replaced.
    pub(crate) has_replaced: bool,
}

impl<'a> Tables<'a> {
    pub(crate) fn new(connection: Connection, table: &'a TableSpec, indexes: Indexes, filled: &'a Filled) -> Self {
        Self { connection, table, indexes, filled, has_replaced: false }
    }

    /// The connection, without a transaction.
    pub(crate) fn into_connection(self) -> Result<Connection, Error> {
        if !self.connection.is_autocommit() {
            self.run("ROLLBACK")?;
        }
        Ok(self.connection)
    }

    fn run(&self, statements: &str) -> Result<(), Error> {
        self.connection.execute_batch(statements).map_err(|e| classify(&e))
    }

    fn drop_table(&self, table: &Name) -> Result<(), Error> {
        devices::drop(&self.connection, table).map_err(|e| classify(&e))?;
        self.run(&format!("DROP TABLE IF EXISTS {table}"))?;
        let forget = format!("DELETE FROM {MARKER_TABLE} WHERE table_name = ?1");
        self.connection.execute(&forget, [table.as_str()]).map(|_| ()).map_err(|e| classify(&e))
    }
}

impl Ownership for Tables<'_> {
    type Handle = ();

    fn own(&self) -> (&Name, &Marker) {
        (&self.table.name, &self.table.marker)
    }

    async fn begin(&mut self) -> Result<(), Error> {
        self.run("BEGIN IMMEDIATE")
    }

    /// What stands there without our marker is found by what is to be made in its place.
    async fn find(&mut self, name: &Name) -> Result<Found, Error> {
        if !marker_table_exists(&self.connection)? {
            return Ok(Found::Nothing);
        }
        let select = format!(
            "SELECT run_id, fingerprint, EXISTS (SELECT * FROM sqlite_schema WHERE name = ?1 AND type = 'table')
                FROM {MARKER_TABLE} WHERE table_name = ?1"
        );
        let found = self.connection.query_row(&select, [name.as_str()], |row| {
            let marker = Marker { run_id: row.get(0)?, fingerprint: row.get(1)? };
            Ok(Found::Ours(Owned { marker, exists: row.get(2)?, handle: () }))
        });
        found.optional().map(|found| found.unwrap_or(Found::Nothing)).map_err(|e| classify(&e))
    }

    async fn make(&mut self, earlier: Option<Owned>) -> Result<(), Error> {
        self.has_replaced = earlier.is_some();
        // One that is left of a table that somebody dropped.
        devices::drop(&self.connection, &self.table.name).map_err(|e| classify(&e))?;
        refuse_foreign(&self.connection, self.table, self.has_replaced)?;
        if self.has_replaced {
            self.drop_table(&self.table.name)?;
        }
        self.run(&format!(
            "CREATE TABLE IF NOT EXISTS {MARKER_TABLE} (
                 table_name TEXT PRIMARY KEY NOT NULL, run_id TEXT NOT NULL, fingerprint TEXT NOT NULL,
                 created_by TEXT NOT NULL)"
        ))?;
        self.run(&layout::create_sql(self.table, self.indexes))?;
        devices::create(&mut self.connection, self.table, self.filled).await.map_err(|e| classify(&e))?;
        let (insert, marker) = (format!("INSERT INTO {MARKER_TABLE} VALUES (?1, ?2, ?3, ?4)"), &self.table.marker);
        let row = params![self.table.name.as_str(), marker.run_id, marker.fingerprint, CREATED_BY];
        self.connection.execute(&insert, row).map(|_| ()).map_err(|e| classify(&e))
    }

    async fn take_over(&mut self, _: Owned) -> Result<bool, Error> {
        let has_devices = devices::is_there(&self.connection, &self.table.name).map_err(|e| classify(&e))?;
        if !self.table.schema.tags().is_empty() && !has_devices {
            return Ok(false);
        }
        let update = format!("UPDATE {MARKER_TABLE} SET run_id = ?2 WHERE table_name = ?1");
        let row = params![self.table.name.as_str(), self.table.marker.run_id];
        self.connection.execute(&update, row).map(|rows| rows == 1).map_err(|e| classify(&e))
    }

    /// The table of the markers goes with the last of them.
    async fn remove(&mut self, name: &Name, _: Owned) -> Result<(), Error> {
        self.drop_table(name)?;
        let none_left = format!("SELECT NOT EXISTS (SELECT * FROM {MARKER_TABLE})");
        let none_left = self.connection.query_row(&none_left, [], |row| row.get(0)).map_err(|e| classify(&e))?;
        if none_left { self.run(&format!("DROP TABLE {MARKER_TABLE}")) } else { Ok(()) }
    }

    async fn commit(&mut self) -> Result<(), Error> {
        self.run("COMMIT")
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        if marker_columns(&self.connection)? != COLUMNS {
            return Ok(Vec::new());
        }
        let tables = format!(
            "SELECT table_name, run_id FROM {MARKER_TABLE} m
                WHERE EXISTS (SELECT * FROM sqlite_schema WHERE name = m.table_name AND type = 'table')"
        );
        let rows: rusqlite::Result<Vec<(String, String)>> = self
            .connection
            .prepare(&tables)
            .and_then(|mut statement| statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect());
        let rows = rows.map_err(|e| classify(&e))?.into_iter();
        Ok(rows.filter_map(|(name, run_id)| Some(OwnedObject { name: Name::new(&name).ok()?, run_id })).collect())
    }
}

/// An error where a name that is about to be used belongs to somebody else.
fn refuse_foreign(connection: &Connection, table: &TableSpec, is_ours: bool) -> Result<(), Error> {
    let name = table.name.as_str();
    let foreign = "SELECT type || ' ' || name FROM sqlite_schema
                   WHERE name = ?2 COLLATE NOCASE AND NOT (?3 AND tbl_name = ?1 AND type IN ('table', 'index'))";
    let taken = [name.to_owned(), layout::index_name(table)].into_iter().chain(devices::names(table));
    for taken in taken {
        let found: Option<String> = connection
            .query_row(foreign, params![name, taken, is_ours], |row| row.get(0))
            .optional()
            .map_err(|e| classify(&e))?;
        if let Some(object) = found {
            return Err(not_ours(&object));
        }
    }
    Ok(())
}

/// Whether our marker table is there; an error where its name belongs to somebody else.
fn marker_table_exists(connection: &Connection) -> Result<bool, Error> {
    match marker_columns(connection)? {
        columns if columns.is_empty() => Ok(false),
        columns if columns == COLUMNS => Ok(true),
        _ => Err(not_ours(&format!("table {MARKER_TABLE}"))),
    }
}

fn marker_columns(connection: &Connection) -> Result<Vec<String>, Error> {
    let columns = format!("SELECT name FROM pragma_table_info('{MARKER_TABLE}')");
    connection
        .prepare(&columns)
        .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
        .map_err(|e| classify(&e))
}

fn not_ours(object: &str) -> Error {
    let message = format!("{object} exists and does not carry our marker: choose another table name or another file");
    Error::new(Cause::NotOurs, message)
}
