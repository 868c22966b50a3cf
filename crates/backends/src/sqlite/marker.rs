//! Which tables are ours: a row in `iotbench_marker` for each that we created.

use super::{config::Indexes, error::classify, layout};
use iotbench_core::{Cause, Error, Name, OwnedObject, TableSpec};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

/// The table that names our tables.
pub(crate) const MARKER_TABLE: &str = "iotbench_marker";
const COLUMNS: [&str; 4] = ["table_name", "run_id", "fingerprint", "created_by"];
const CREATED_BY: &str = concat!("iotbench ", env!("CARGO_PKG_VERSION"));

/// Creates and marks a table, in the place of an earlier one of ours; true: there was one.
///
/// # Errors
/// [`Cause::NotOurs`] where something of its name does not carry our marker.
pub(crate) fn create(connection: &mut Connection, table: &TableSpec, indexes: Indexes) -> Result<bool, Error> {
    let failed = |e| classify(&e);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let is_ours = refuse_foreign(&transaction, table)?;
    if is_ours {
        drop_table(&transaction, &table.name).map_err(failed)?;
    }
    let create_marker = format!(
        "CREATE TABLE IF NOT EXISTS {MARKER_TABLE} (
             table_name TEXT PRIMARY KEY NOT NULL, run_id TEXT NOT NULL, fingerprint TEXT NOT NULL,
             created_by TEXT NOT NULL)"
    );
    transaction.execute_batch(&create_marker).map_err(failed)?;
    transaction.execute_batch(&layout::create_sql(table, indexes)).map_err(failed)?;
    let insert = format!("INSERT INTO {MARKER_TABLE} VALUES (?1, ?2, ?3, ?4)");
    let marker = &table.marker;
    transaction
        .execute(&insert, params![table.name.as_str(), marker.run_id, marker.fingerprint, CREATED_BY])
        .map_err(failed)?;
    transaction.commit().map_err(failed)?;
    Ok(is_ours)
}

/// Makes this run the owner of a table that an earlier run left, if it is there with the same fingerprint; else changes
/// nothing.
///
/// # Errors
/// SQLite's own; what does not carry our marker is left alone without an error.
pub(crate) fn adopt(connection: &mut Connection, table: &TableSpec) -> Result<bool, Error> {
    let failed = |e| classify(&e);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    if !marker_table_is_ours(&transaction)? {
        return Ok(false);
    }
    let adopt = format!(
        "UPDATE {MARKER_TABLE} SET run_id = ?2 WHERE table_name = ?1 AND fingerprint = ?3
            AND EXISTS (SELECT * FROM sqlite_schema WHERE name = ?1 AND type = 'table')"
    );
    let marker = &table.marker;
    let adopted = transaction.execute(&adopt, params![table.name.as_str(), marker.run_id, marker.fingerprint]);
    let is_adopted = adopted.map_err(failed)? == 1;
    transaction.commit().map_err(failed)?;
    Ok(is_adopted)
}

/// Drops the table that this run created, if it is there, and the marker table with the last of ours.
///
/// # Errors
/// SQLite's own; a table of another owner or of another run is left alone without an error.
pub(crate) fn drop_own(connection: &mut Connection, table: &TableSpec) -> Result<(), Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let transaction = transaction.map_err(|e| classify(&e))?;
    if run_of(&transaction, &table.name)?.is_none_or(|run_id| run_id != table.marker.run_id) {
        return Ok(());
    }
    drop_and_commit(transaction, &table.name)
}

/// Drops a table that a run of this name created, as [`drop_own`] does.
///
/// # Errors
/// [`Cause::NotOurs`] where it does not carry the marker of that run, and SQLite's own.
pub(crate) fn drop_owned(connection: &mut Connection, object: &OwnedObject) -> Result<(), Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let transaction = transaction.map_err(|e| classify(&e))?;
    if run_of(&transaction, &object.name)?.is_none_or(|run_id| run_id != object.run_id) {
        let message = format!("{} does not carry the marker of run {}", object.name, object.run_id);
        return Err(Error::new(Cause::NotOurs, message));
    }
    drop_and_commit(transaction, &object.name)
}

/// The tables that carry our marker, by name.
pub(crate) fn owned(connection: &Connection) -> Result<Vec<OwnedObject>, Error> {
    if !marker_table_is_ours(connection)? {
        return Ok(Vec::new());
    }
    let tables = format!(
        "SELECT table_name, run_id FROM {MARKER_TABLE} m
            WHERE EXISTS (SELECT * FROM sqlite_schema WHERE name = m.table_name AND type = 'table') ORDER BY table_name"
    );
    let rows: rusqlite::Result<Vec<(String, String)>> = connection
        .prepare(&tables)
        .and_then(|mut statement| statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect());
    let rows = rows.map_err(|e| classify(&e))?.into_iter();
    Ok(rows.filter_map(|(name, run_id)| Some(OwnedObject { name: Name::new(&name).ok()?, run_id })).collect())
}

/// Drops a table of ours, and the marker table with the last of them.
fn drop_and_commit(transaction: Transaction<'_>, table: &Name) -> Result<(), Error> {
    drop_table(&transaction, table)
        .and_then(|()| {
            let none_left = format!("SELECT NOT EXISTS (SELECT * FROM {MARKER_TABLE})");
            if transaction.query_row(&none_left, [], |row| row.get(0))? {
                transaction.execute_batch(&format!("DROP TABLE {MARKER_TABLE}"))?;
            }
            transaction.commit()
        })
        .map_err(|e| classify(&e))
}

fn drop_table(connection: &Connection, table: &Name) -> rusqlite::Result<()> {
    connection.execute_batch(&format!("DROP TABLE IF EXISTS {table}"))?;
    let forget = format!("DELETE FROM {MARKER_TABLE} WHERE table_name = ?1");
    connection.execute(&forget, [table.as_str()]).map(|_| ())
}

/// Whether a marked table of this name is there; an error where the name belongs to somebody else.
fn refuse_foreign(connection: &Connection, table: &TableSpec) -> Result<bool, Error> {
    let is_ours = run_of(connection, &table.name)?.is_some();
    let (name, index) = (table.name.as_str(), layout::index_name(table));
    let foreign = "SELECT type || ' ' || name FROM sqlite_schema
                   WHERE (name = ?1 COLLATE NOCASE OR name = ?2 COLLATE NOCASE)
                     AND NOT (?3 AND tbl_name = ?1 AND type IN ('table', 'index'))";
    let found: Option<String> = connection
        .query_row(foreign, params![name, index, is_ours], |row| row.get(0))
        .optional()
        .map_err(|e| classify(&e))?;
    match found {
        Some(object) => Err(not_ours(&object)),
        None => Ok(is_ours),
    }
}

/// The run that a marked table of this name belongs to.
fn run_of(connection: &Connection, table: &Name) -> Result<Option<String>, Error> {
    if !marker_table_exists(connection)? {
        return Ok(None);
    }
    let run_of = format!("SELECT run_id FROM {MARKER_TABLE} WHERE table_name = ?1");
    connection.query_row(&run_of, [table.as_str()], |row| row.get(0)).optional().map_err(|e| classify(&e))
}

/// Whether our marker table is there; an error where its name belongs to somebody else.
fn marker_table_exists(connection: &Connection) -> Result<bool, Error> {
    match marker_columns(connection)? {
        columns if columns.is_empty() => Ok(false),
        columns if columns == COLUMNS => Ok(true),
        _ => Err(not_ours(&format!("table {MARKER_TABLE}"))),
    }
}

/// Whether there is a marker table, and it is as we make it.
fn marker_table_is_ours(connection: &Connection) -> Result<bool, Error> {
    Ok(marker_columns(connection)? == COLUMNS)
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
