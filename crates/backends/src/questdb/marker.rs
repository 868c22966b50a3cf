//! What is ours: beside each table `t` of ours lies a table `iotbench_mark_t` of one row, which holds the number that
//! the server gave to `t`, the run and the fingerprint. A table that was dropped and made anew has another number.

use super::{
    client::{Client, improper},
    config::Partition,
    sql::{create_table, quoted, text},
};
use iotbench_backend_kit::{
    cell::Cell,
    flag::{Flag, Flags, Seen},
    marker::{self, CREATED_BY},
    ownership::{Found, Owned, Ownership},
    sql::AskRows,
};
use iotbench_core::{Cause, Error, Layout, Marker, Name, OwnedObject, TableSpec};
use std::{collections::BTreeMap, sync::Arc};

/// What the names of our marks begin with.
pub(crate) const MARKER: &str = "iotbench_mark_";

/// What the names of our flags begin with.
pub(crate) const FLAG: &str = "iotbench_flag_";

/// A table and its mark, as far as they are there, each with the number of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Pair {
    table_id: Option<i64>,
    mark: Option<(i64, Marker)>,
}

impl Pair {
    /// What it is; the handle is the number of the table.
    fn found(self, name: &Name) -> Found<i64> {
        match (self.table_id, self.mark) {
            (None, None) => Found::Nothing,
            (Some(_), None) => Found::Foreign(not_ours(name)),
            (there, Some((id, marker))) => {
                let object = Owned { marker, exists: there.is_some(), handle: id };
                let is_another = there.is_some_and(|there| there != id);
                if is_another { Found::Replaced(object, not_ours(name)) } else { Found::Ours(object) }
            }
        }
    }
}

/// The tables of ours on a server.
pub(crate) struct Tables {
    pub(crate) client: Client,
    pub(crate) table: Arc<TableSpec>,
    pub(crate) partition_by: Partition,
}

impl Ownership for Tables {
    type Handle = i64;

    fn own(&self) -> (&Name, &Marker) {
        (&self.table.name, &self.table.marker)
    }

    async fn find(&mut self, name: &Name) -> Result<Found<i64>, Error> {
        Ok(find(&mut self.client, name).await?.found(name))
    }

    async fn make(&mut self, earlier: Option<Owned<i64>>) -> Result<(), Error> {
        let table = Arc::clone(&self.table);
        if let Some(earlier) = earlier {
            self.remove(&table.name, earlier).await?;
        }
        self.client.run(&create_table(&table, self.partition_by)).await?;
        let made = find(&mut self.client, &table.name).await?;
        let id = made.table_id.ok_or_else(|| improper(&"a table that was made is not listed"))?;
        mark(&mut self.client, &table, id).await
    }

    async fn take_over(&mut self, earlier: Owned<i64>) -> Result<bool, Error> {
        if earlier.marker.run_id != self.table.marker.run_id {
            let table = Arc::clone(&self.table);
            self.forget(&table.name).await?;
            mark(&mut self.client, &table, earlier.handle).await?;
        }
        Ok(true)
    }

    async fn remove(&mut self, name: &Name, object: Owned<i64>) -> Result<(), Error> {
        if object.exists {
            drop_table(&mut self.client, name.as_str()).await?;
        }
        self.forget(name).await
    }

    async fn forget(&mut self, name: &Name) -> Result<(), Error> {
        drop_table(&mut self.client, &mark_of(name)).await
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        let mut objects = Vec::new();
        for listed in tables(&mut self.client).await?.keys() {
            let Some(Ok(name)) = listed.strip_prefix(MARKER).map(Name::new) else { continue };
            if let Found::Ours(Owned { marker, .. }) = self.find(&name).await? {
                objects.push(OwnedObject { name, run_id: marker.run_id });
            }
        }
        Ok(objects)
    }
}

/// A flag is a table of its owner's, to which he adds a row each time.
impl Flags for Tables {
    async fn flags(&mut self, name: &Name) -> Result<Seen, Error> {
        let beginning = flags_of(name);
        let (mut flags, listed) = (Vec::new(), tables(&mut self.client).await?);
        for table in listed.keys().filter(|table| table.strip_prefix(&beginning).is_some_and(is_an_owner)) {
            let note = |row: &[Cell<'_>]| {
                if let [Cell::Text(text)] = row {
                    flags.extend(Flag::of_text(text));
                }
                Ok(())
            };
            match self.client.ask(&format!("SELECT flag FROM {} LIMIT -1", quoted(table)), note).await {
                Ok(_) => {}
                // It was taken down meanwhile, or a table of that name is none of ours.
                Err(e) if e.cause == Cause::Data || e.message.contains("table does not exist") => {}
                Err(e) => return Err(e),
            }
        }
        Ok(Seen { flags, now_s: self.client.now_s() })
    }

    async fn put_up(&mut self, name: &Name, flag: &Flag, is_new: bool) -> Result<(), Error> {
        let table = quoted(&format!("{}{}", flags_of(name), flag.owner));
        if is_new {
            self.client.run(&format!("CREATE TABLE IF NOT EXISTS {table} (flag VARCHAR)")).await?;
        }
        self.client.run(&format!("INSERT INTO {table} VALUES ({})", text(&flag.text()))).await
    }

    async fn take_down(&mut self, name: &Name, owner: &str) -> Result<(), Error> {
        self.client.run(&format!("DROP TABLE IF EXISTS {}", quoted(&format!("{}{owner}", flags_of(name))))).await
    }
}

/// What the names of a table's flags begin with; the owner follows.
fn flags_of(table: &Name) -> String {
    format!("{FLAG}{table}_")
}

/// Whether this may be an owner, and not the end of another table's name.
fn is_an_owner(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Refuses a table that is not there, or no longer ours, whichever run made it.
///
/// # Errors
/// [`Cause::Server`].
pub(crate) async fn check_exists(client: &mut Client, table: &Name) -> Result<(), Error> {
    if matches!(find(client, table).await?.found(table), Found::Ours(Owned { exists: true, .. })) {
        return Ok(());
    }
    Err(Error::new(
        Cause::Server,
        format!("table {table} is not there, or not the one that was made: somebody dropped it"),
    ))
}

/// Whether the table has the columns of the signals that are added, where these are columns.
///
/// # Errors
/// The server's.
pub(crate) async fn has_added(client: &mut Client, table: &TableSpec) -> Result<bool, Error> {
    if table.layout == Layout::Narrow || table.schema.added() == 0 {
        return Ok(true);
    }
    let mut found = 0;
    let note = |row: &[Cell<'_>]| {
        let [Cell::Text(column)] = row else { return Err(improper(&"a list of columns without names")) };
        found += table.schema.added_signals().iter().filter(|signal| signal.name == **column).count();
        Ok(())
    };
    client.ask(&format!("SELECT \"column\" FROM table_columns({})", text(table.name.as_str())), note).await?;
    Ok(found == table.schema.added())
}

fn not_ours(table: &Name) -> Error {
    Error::new(Cause::NotOurs, format!("table {table} exists and does not carry our marker: choose another table name"))
}

fn mark_of(table: &Name) -> String {
    format!("{MARKER}{table}")
}

async fn drop_table(client: &mut Client, name: &str) -> Result<(), Error> {
    client.run(&format!("DROP TABLE {}", quoted(name))).await
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

async fn find(client: &mut Client, table: &Name) -> Result<Pair, Error> {
    let tables = tables(client).await?;
    let mark = mark_of(table);
    let mut found = Pair { table_id: tables.get(table.as_str()).copied(), mark: None };
    if !tables.contains_key(&mark) {
        return Ok(found);
    }
    let note = |row: &[Cell<'_>]| {
        if let [Cell::Integer(table_id), Cell::Text(run_id), Cell::Text(fingerprint), Cell::Text(by)] = row
            && marker::is_ours(by)
        {
            let (run_id, fingerprint) = (run_id.to_string(), fingerprint.to_string());
            found.mark = Some((*table_id, Marker { run_id, fingerprint }));
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
        let name = Name::new("t").unwrap();
        let marker = || Marker { run_id: "r".into(), fingerprint: "f".into() };
        let found = |table_id, mark: Option<i64>| Pair { table_id, mark: mark.map(|id| (id, marker())) }.found(&name);
        let ours = |exists| Owned { marker: marker(), exists, handle: 7 };
        assert_eq!(found(Some(7), Some(7)), Found::Ours(ours(true)));
        assert_eq!(found(Some(8), Some(7)), Found::Replaced(ours(true), not_ours(&name)), "it was made anew");
        assert_eq!(found(None, Some(7)), Found::Ours(ours(false)), "the mark is left");
        assert_eq!(found(Some(7), None), Found::Foreign(not_ours(&name)));
        assert_eq!(found(None, None), Found::Nothing);
    }
}
