//! What is ours: a table of ours has a column that is stored nowhere, whose expression is our marker as a text. It is made with the
//! table and goes with it: one that somebody made anew has none.

use super::{
    client::{Client, improper},
    config::Partition,
    sql::{create_table, quoted, text},
};
use iotbench_backend_kit::{
    cell::Cell,
    flag::{Flag, Flags, Seen},
    marker,
    ownership::{Found, Owned, Ownership},
    sql::AskRows,
};
use iotbench_core::{Cause, Error, Marker, Name, OwnedObject, TableSpec};
use std::sync::Arc;

/// The column that is our marker.
pub(crate) const MARK: &str = "iotbench_mark";

/// What the names of our flags begin with.
pub(crate) const FLAG: &str = "iotbench_flag_";

/// The tables of ours in a database of a server.
pub(crate) struct Tables {
    pub(crate) client: Client,
    pub(crate) table: Arc<TableSpec>,
    pub(crate) partition_by: Partition,
}

impl Ownership for Tables {
    type Handle = ();

    fn own(&self) -> (&Name, &Marker) {
        (&self.table.name, &self.table.marker)
    }

    async fn find(&mut self, name: &Name) -> Result<Found, Error> {
        find(&mut self.client, name).await
    }

    async fn make(&mut self, earlier: Option<Owned>) -> Result<(), Error> {
        let table = Arc::clone(&self.table);
        if let Some(earlier) = earlier {
            self.remove(&table.name, earlier).await?;
        }
        self.client.run(&create_table(&table, self.partition_by)).await
    }

    async fn take_over(&mut self, _earlier: Owned) -> Result<bool, Error> {
        let (name, mark) = (quoted(self.table.name.as_str()), text(&marker::comment(&self.table.marker)));
        self.client.run(&format!("ALTER TABLE {name} MODIFY COLUMN {MARK} String ALIAS {mark}")).await?;
        Ok(true)
    }

    async fn remove(&mut self, name: &Name, _object: Owned) -> Result<(), Error> {
        self.client.run(&format!("DROP TABLE {}", quoted(name.as_str()))).await
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        let mut objects = Vec::new();
        for (table, marker) in texts(&mut self.client, MARK, None).await? {
            let (Ok(name), Some(Marker { run_id, .. })) = (Name::new(&table), marker::of_comment(&marker)) else {
                continue;
            };
            objects.push(OwnedObject { name, run_id });
        }
        Ok(objects)
    }
}

/// A flag is a table of its owner's that holds nothing, with a column as the marker's.
impl Flags for Tables {
    async fn flags(&mut self, name: &Name) -> Result<Seen, Error> {
        let texts = texts(&mut self.client, FLAG, Some(&flags_of(name))).await?;
        let flags = texts.into_iter().filter_map(|(_, text)| Flag::of_text(&text)).collect();
        Ok(Seen { flags, now_s: self.client.now_s() })
    }

    async fn put_up(&mut self, name: &Name, flag: &Flag, is_new: bool) -> Result<(), Error> {
        let (table, flag) = (quoted(&format!("{}{}", flags_of(name), flag.owner)), text(&flag.text()));
        if is_new {
            let columns = format!("nothing UInt8, {FLAG} String ALIAS {flag}");
            let create = format!("CREATE TABLE IF NOT EXISTS {table} ({columns}) ENGINE = MergeTree ORDER BY nothing");
            self.client.run(&create).await?;
        }
        self.client.run(&format!("ALTER TABLE {table} MODIFY COLUMN {FLAG} String ALIAS {flag}")).await
    }

    async fn take_down(&mut self, name: &Name, owner: &str) -> Result<(), Error> {
        self.client.run(&format!("DROP TABLE IF EXISTS {}", quoted(&format!("{}{owner}", flags_of(name))))).await
    }
}

/// What the names of a table's flags begin with; the owner follows.
fn flags_of(table: &Name) -> String {
    format!("{FLAG}{table}_")
}

/// Refuses a table that is not there, or no longer ours, whichever run made it.
///
/// # Errors
/// [`Cause::Server`].
pub(crate) async fn check_exists(client: &mut Client, table: &Name) -> Result<(), Error> {
    if matches!(find(client, table).await?, Found::Ours(_)) {
        return Ok(());
    }
    Err(Error::new(
        Cause::Server,
        format!("table {table} is not there, or not the one that was made: somebody dropped it"),
    ))
}

async fn find(client: &mut Client, name: &Name) -> Result<Found, Error> {
    let mut found = Found::Nothing;
    let select = format!(
        "SELECT default_kind = 'ALIAS' AND name = '{MARK}', default_expression FROM system.columns \
         WHERE database = currentDatabase() AND table = {}",
        text(name.as_str())
    );
    let note = |row: &[Cell<'_>]| {
        let [Cell::Integer(is_mark), Cell::Text(expression)] = row else {
            return Err(improper(&"columns without what they are"));
        };
        match literal(expression).and_then(marker::of_comment).filter(|_| *is_mark == 1) {
            Some(marker) => found = Found::Ours(Owned { marker, exists: true, handle: () }),
            None if matches!(found, Found::Nothing) => found = Found::Foreign(not_ours(name)),
            None => {}
        }
        Ok(())
    };
    client.ask(&select, note).await?;
    Ok(found)
}

/// The texts of all columns of this name that are one, each with its table, whose name may have to begin with something.
async fn texts(client: &mut Client, column: &str, beginning: Option<&str>) -> Result<Vec<(String, String)>, Error> {
    let mut all = Vec::new();
    let of_tables = beginning.map(|beginning| format!(" AND position(table, {}) = 1", text(beginning)));
    let select = format!(
        "SELECT table, default_expression FROM system.columns WHERE database = currentDatabase() AND name = {} \
         AND default_kind = 'ALIAS'{}",
        text(column),
        of_tables.unwrap_or_default()
    );
    let note = |row: &[Cell<'_>]| {
        let [Cell::Text(table), Cell::Text(expression)] = row else {
            return Err(improper(&"columns without what they are"));
        };
        all.extend(literal(expression).map(|text| (table.to_string(), text.to_owned())));
        Ok(())
    };
    client.ask(&select, note).await?;
    Ok(all)
}

/// What stands between the quotes of a text that needs no escapes, as all of ours.
fn literal(expression: &str) -> Option<&str> {
    expression.strip_prefix('\'')?.strip_suffix('\'').filter(|text| !text.contains(['\'', '\\']))
}

fn not_ours(table: &Name) -> Error {
    Error::new(Cause::NotOurs, format!("table {table} exists and does not carry our marker: choose another table name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_text_without_escapes_is_one_of_ours() {
        assert_eq!(literal("'iotbench run=1 fingerprint=2'"), Some("iotbench run=1 fingerprint=2"));
        for other in ["1", "'", "concat('a', 'b')", "'a\\'b'", ""] {
            assert_eq!(literal(other), None, "{other}");
        }
    }
}
