//! What is ours: beside each table `t` of ours lies a table `iotbench_mark_t` of one row, which holds the number that
//! the server gave to `t`, the run and the fingerprint. A table that was dropped and made anew has another number.

use super::{
    client::Client,
    config::Partition,
    rows::improper,
    sql::{create_table, quoted, text},
};
use iotbench_backend_kit::cell::Cell;
use iotbench_core::{Cause, Error, Name, OwnedObject, TableSpec};
use std::collections::BTreeMap;

/// What the names of our marks begin with.
pub(crate) const MARKER: &str = "iotbench_mark_";
const CREATED_BY: &str = concat!("iotbench ", env!("CARGO_PKG_VERSION"));

/// A mark, and what holds of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    table_id: i64,
    run_id: String,
    fingerprint: String,
}

/// A table and its mark, as far as they are there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Found {
    table_id: Option<i64>,
    mark: Option<Mark>,
}

impl Found {
    /// Whether the table is there and ours.
    fn is_ours(&self) -> bool {
        self.mark.as_ref().is_some_and(|mark| self.table_id == Some(mark.table_id))
    }

    /// Whether it belongs to this run: the table itself, or what is left of it.
    fn is_of_run(&self, run_id: &str) -> bool {
        self.mark.as_ref().is_some_and(|mark| mark.run_id == run_id) && (self.table_id.is_none() || self.is_ours())
    }
}

/// Creates and marks a table in the place of an earlier one of ours.
///
/// # Errors
/// [`Cause::NotOurs`] where a table of that name does not carry our marker.
pub(crate) async fn create(client: &mut Client, table: &TableSpec, partition_by: Partition) -> Result<(), Error> {
    let found = find(client, &table.name).await?;
    if found.table_id.is_some() && !found.is_ours() {
        return Err(not_ours(&table.name));
    }
    remove(client, &table.name, &found).await?;
    client.run(&create_table(table, partition_by)).await?;
    let made = find(client, &table.name).await?;
    let id = made.table_id.ok_or_else(|| improper(&"a table that was made is not listed"))?;
    mark(client, table, id).await
}

/// Makes this run the owner of a table that an earlier run left, if it is there with the same fingerprint; else changes
/// nothing.
pub(crate) async fn adopt(client: &mut Client, table: &TableSpec) -> Result<bool, Error> {
    let found = find(client, &table.name).await?;
    let is_same = |mark: &&Mark| mark.fingerprint == table.marker.fingerprint;
    let Some(old) = found.mark.as_ref().filter(|_| found.is_ours()).filter(is_same) else { return Ok(false) };
    if old.run_id != table.marker.run_id {
        client.run(&format!("DROP TABLE {}", quoted(&mark_of(&table.name)))).await?;
        mark(client, table, old.table_id).await?;
    }
    Ok(true)
}

/// Refuses a table that is not there, or no longer ours, whichever run made it.
///
/// # Errors
/// [`Cause::Server`].
pub(crate) async fn check_exists(client: &mut Client, table: &Name) -> Result<(), Error> {
    let found = find(client, table).await?;
    if found.is_ours() {
        return Ok(());
    }
    Err(Error::new(
        Cause::Server,
        format!("table {table} is not there, or not the one that was made: somebody dropped it"),
    ))
}

/// Drops the table that this run made, if it is there; everything else is left alone.
///
/// # Errors
/// [`Cause::NotOurs`] where another has taken its place.
pub(crate) async fn drop_own(client: &mut Client, table: &TableSpec) -> Result<(), Error> {
    let found = find(client, &table.name).await?;
    if found.is_of_run(&table.marker.run_id) {
        return remove(client, &table.name, &found).await;
    }
    let was_ours = found.mark.as_ref().is_some_and(|mark| mark.run_id == table.marker.run_id);
    if was_ours {
        client.run(&format!("DROP TABLE {}", quoted(&mark_of(&table.name)))).await?;
        return Err(not_ours(&table.name));
    }
    Ok(())
}

/// Our tables of all runs, by name.
pub(crate) async fn owned(client: &mut Client) -> Result<Vec<OwnedObject>, Error> {
    let mut objects = Vec::new();
    for listed in tables(client).await?.keys() {
        let Some(Ok(name)) = listed.strip_prefix(MARKER).map(Name::new) else { continue };
        let found = find(client, &name).await?;
        if let Some(mark) = found.mark.as_ref().filter(|mark| found.is_of_run(&mark.run_id)) {
            objects.push(OwnedObject { name, run_id: mark.run_id.clone() });
        }
    }
    Ok(objects)
}

/// Drops a table if it still carries the marker of that run.
///
/// # Errors
/// [`Cause::NotOurs`] where it does not.
pub(crate) async fn drop_owned(client: &mut Client, object: &OwnedObject) -> Result<(), Error> {
    let found = find(client, &object.name).await?;
    if !found.is_of_run(&object.run_id) {
        let message = format!("{} does not carry the marker of run {}", object.name, object.run_id);
        return Err(Error::new(Cause::NotOurs, message));
    }
    remove(client, &object.name, &found).await
}

fn not_ours(table: &Name) -> Error {
    Error::new(Cause::NotOurs, format!("table {table} exists and does not carry our marker: choose another table name"))
}

fn mark_of(table: &Name) -> String {
    format!("{MARKER}{table}")
}

/// Drops the table first: what is interrupted between the two can be dropped again.
async fn remove(client: &mut Client, table: &Name, found: &Found) -> Result<(), Error> {
    if found.is_ours() {
        client.run(&format!("DROP TABLE {}", quoted(table.as_str()))).await?;
    }
    if found.mark.is_some() {
        client.run(&format!("DROP TABLE {}", quoted(&mark_of(table)))).await?;
    }
    Ok(())
}

async fn mark(client: &mut Client, table: &TableSpec, table_id: i64) -> Result<(), Error> {
    client
        .run(&format!(
            "CREATE TABLE {} AS (SELECT {table_id}::long table_id, {}::varchar run_id, {}::varchar fingerprint, \
             {}::varchar created_by FROM long_sequence(1))",
            quoted(&mark_of(&table.name)),
            text(&table.marker.run_id),
            text(&table.marker.fingerprint),
            text(CREATED_BY)
        ))
        .await
}

/// Every table with its number.
async fn tables(client: &mut Client) -> Result<BTreeMap<String, i64>, Error> {
    let mut tables = BTreeMap::new();
    let note = |row: &[Cell<'_>]| {
        let [Cell::Integer(id), Cell::Text(name)] = row else {
            return Err(improper(&"a list of tables without names"));
        };
        tables.insert(name.to_string(), *id);
        Ok(())
    };
    client.ask("SELECT id, table_name FROM tables()", note).await?;
    Ok(tables)
}

async fn find(client: &mut Client, table: &Name) -> Result<Found, Error> {
    let tables = tables(client).await?;
    let mark = mark_of(table);
    let mut found = Found { table_id: tables.get(table.as_str()).copied(), mark: None };
    if !tables.contains_key(&mark) {
        return Ok(found);
    }
    let note = |row: &[Cell<'_>]| {
        if let [Cell::Integer(table_id), Cell::Text(run_id), Cell::Text(fingerprint), Cell::Text(by)] = row
            && by.starts_with("iotbench ")
        {
            let (run_id, fingerprint) = (run_id.to_string(), fingerprint.to_string());
            found.mark = Some(Mark { table_id: *table_id, run_id, fingerprint });
        }
        Ok(())
    };
    let select = format!("SELECT table_id, run_id, fingerprint, created_by FROM {}", quoted(&mark));
    match client.ask(&select, note).await {
        Ok(_) => Ok(found),
        // A table of that name with other columns is no mark of ours.
        Err(e) if e.cause == Cause::Data => Ok(found),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_table_that_was_marked_is_ours() {
        let mark = || Some(Mark { table_id: 7, run_id: "r".into(), fingerprint: "f".into() });
        let found = |table_id, mark| Found { table_id, mark };
        assert!(found(Some(7), mark()).is_ours() && found(Some(7), mark()).is_of_run("r"));
        assert!(!found(Some(7), mark()).is_of_run("s"));
        assert!(!found(Some(8), mark()).is_ours() && !found(Some(8), mark()).is_of_run("r"), "it was made anew");
        assert!(!found(None, mark()).is_ours() && found(None, mark()).is_of_run("r"), "the mark is left");
        assert!(!found(Some(7), None).is_ours() && !found(Some(7), None).is_of_run("r"));
    }
}
