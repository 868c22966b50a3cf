//! What is ours: a point in the measurement `iotbench_marker` for the database, where we made it, and for each of our
//! measurements in it.

use super::{
    client::Client,
    influxql::{quoted, text},
};
use iotbench_core::{Cause, Error, Name, OwnedObject, TableSpec};
use std::collections::{BTreeSet, HashMap};

/// The measurement that names what is ours.
pub(crate) const MARKER: &str = "iotbench_marker";
const CREATED_BY: &str = concat!("iotbench ", env!("CARGO_PKG_VERSION"));
const OURS: &str = "iotbench ";
const DATABASE: &str = "database";
const TABLE: &str = "table";

/// What a database holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Contents {
    exists: bool,
    measurements: BTreeSet<String>,
    /// We made the database itself.
    is_ours: bool,
    /// Our measurements, each with the run that made it.
    tables: HashMap<Name, String>,
}

impl Contents {
    /// Refuses what belongs to somebody else.
    fn refuse_foreign(&self, database: &Name, table: &Name) -> Result<(), Error> {
        if !self.is_ours && self.tables.is_empty() && !self.measurements.is_empty() {
            return Err(not_ours(&format!("database {database}"), "choose another with the setting database"));
        }
        if self.measurements.contains(table.as_str()) && !self.tables.contains_key(table) {
            return Err(not_ours(&format!("measurement {table} of database {database}"), "choose another table name"));
        }
        Ok(())
    }

    /// Whether the database is ours and holds nothing but this measurement and its marks.
    fn is_all_there_is(&self, table: &Name) -> bool {
        let known = |name: &String| name == MARKER || name == table.as_str();
        self.is_ours && self.measurements.iter().all(known) && self.tables.keys().all(|name| name == table)
    }
}

fn not_ours(object: &str, way_out: &str) -> Error {
    Error::new(Cause::NotOurs, format!("{object} exists and does not carry our marker: {way_out}"))
}

/// Creates and marks a measurement in the place of an earlier one of ours, and the database where there is none.
///
/// # Errors
/// [`Cause::NotOurs`] where the measurement, or all that is in the database, does not carry our marker.
pub(crate) async fn create(client: &mut Client, database: &Name, table: &TableSpec) -> Result<(), Error> {
    let mut found = look(client, database).await?;
    found.refuse_foreign(database, &table.name)?;
    if found.tables.contains_key(&table.name) {
        remove(client, database, &found, &table.name).await?;
        found = look(client, database).await?;
    }
    let mut marks = String::new();
    if !found.exists {
        client.ask(&format!("CREATE DATABASE {}", quoted(database.as_str())), |_| Ok(())).await?;
        marks = mark(DATABASE, database, table);
    }
    // A measurement appears with its first point; until then its mark alone stands for it.
    client.write(marks + &mark(TABLE, &table.name, table)).await
}

/// A point that marks an object. Texts are the run's own: they hold neither quotes nor backslashes unescaped.
fn mark(kind: &str, name: &Name, table: &TableSpec) -> String {
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
    let (run, fingerprint) = (escaped(&table.marker.run_id), escaped(&table.marker.fingerprint));
    format!(
        "{MARKER},kind={kind},table={name} run_id=\"{run}\",fingerprint=\"{fingerprint}\",created_by=\"{CREATED_BY}\" 0\n"
    )
}

/// Drops the measurement that this run made, if it is there; everything else is left alone without an error.
pub(crate) async fn drop_own(client: &mut Client, database: &Name, table: &TableSpec) -> Result<(), Error> {
    let found = look(client, database).await?;
    if found.tables.get(&table.name) == Some(&table.marker.run_id) {
        remove(client, database, &found, &table.name).await?;
    }
    Ok(())
}

/// Whether the measurement is there, whichever run made it.
pub(crate) async fn exists(client: &mut Client, database: &Name, table: &Name) -> Result<bool, Error> {
    let tables = marks(client, database).await?.1;
    Ok(tables.contains_key(table))
}

/// Our measurements of all runs, by name.
pub(crate) async fn owned(client: &mut Client, database: &Name) -> Result<Vec<OwnedObject>, Error> {
    let tables = look(client, database).await?.tables;
    let mut objects: Vec<_> = tables.into_iter().map(|(name, run_id)| OwnedObject { name, run_id }).collect();
    objects.sort_unstable_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
    Ok(objects)
}

/// Drops a measurement if it still carries the marker of that run.
///
/// # Errors
/// [`Cause::NotOurs`] where it does not.
pub(crate) async fn drop_owned(client: &mut Client, database: &Name, object: &OwnedObject) -> Result<(), Error> {
    let found = look(client, database).await?;
    if found.tables.get(&object.name) != Some(&object.run_id) {
        let message = format!("{} does not carry the marker of run {}", object.name, object.run_id);
        return Err(Error::new(Cause::NotOurs, message));
    }
    remove(client, database, &found, &object.name).await
}

/// Drops the whole database where it is ours and holds nothing else: that frees its disk at once, while a dropped
/// measurement leaves tombstones until the next compaction.
async fn remove(client: &mut Client, database: &Name, found: &Contents, table: &Name) -> Result<(), Error> {
    if found.is_all_there_is(table) {
        client.ask(&format!("DROP DATABASE {}", quoted(database.as_str())), |_| Ok(())).await?;
        return Ok(());
    }
    if found.measurements.contains(table.as_str()) {
        client.ask(&format!("DROP MEASUREMENT {}", quoted(table.as_str())), |_| Ok(())).await?;
    }
    let forget = format!(
        "DROP SERIES FROM {} WHERE \"kind\" = {} AND \"table\" = {}",
        quoted(MARKER),
        text(TABLE),
        text(table.as_str())
    );
    client.ask(&forget, |_| Ok(())).await.map(|_| ())
}

/// The first column of an answer.
async fn names(client: &mut Client, statement: &str) -> Result<BTreeSet<String>, Error> {
    let mut names = BTreeSet::new();
    client
        .ask(statement, |series| {
            names.extend(series.rows().map(|row| row[0].to_string()));
            Ok(())
        })
        .await?;
    Ok(names)
}

async fn look(client: &mut Client, database: &Name) -> Result<Contents, Error> {
    if !names(client, "SHOW DATABASES").await?.contains(database.as_str()) {
        return Ok(Contents::default());
    }
    let measurements = names(client, "SHOW MEASUREMENTS").await?;
    let (is_ours, tables) =
        if measurements.contains(MARKER) { marks(client, database).await? } else { Default::default() };
    Ok(Contents { exists: true, measurements, is_ours, tables })
}

/// Whether the database is marked as made by us, and our measurements with their runs.
async fn marks(client: &mut Client, database: &Name) -> Result<(bool, HashMap<Name, String>), Error> {
    let statement = format!("SELECT \"kind\", \"table\", \"run_id\", \"created_by\" FROM {}", quoted(MARKER));
    let (mut is_ours, mut tables) = (false, HashMap::new());
    client
        .ask(&statement, |series| {
            for row in series.rows() {
                let [_, kind, name, run_id, created_by] = row else { continue };
                let name = name.text().and_then(|name| Name::new(name).ok());
                match (kind.text(), name, run_id.text(), created_by.text()) {
                    (Some(DATABASE), Some(name), Some(_), Some(by)) if by.starts_with(OURS) => {
                        is_ours |= name == *database;
                    }
                    (Some(TABLE), Some(name), Some(run_id), Some(by)) if by.starts_with(OURS) => {
                        tables.insert(name, run_id.to_owned());
                    }
                    _ => return Err(not_ours(&format!("measurement {MARKER}"), "choose another database")),
                }
            }
            Ok(())
        })
        .await?;
    Ok((is_ours, tables))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    fn contents(is_ours: bool, measurements: &[&str], tables: &[&str]) -> Contents {
        Contents {
            exists: true,
            is_ours,
            measurements: measurements.iter().map(ToString::to_string).collect(),
            tables: tables.iter().map(|table| (name(table), "run".to_owned())).collect(),
        }
    }

    #[test]
    fn only_what_carries_our_marker_is_taken() {
        let is_refused = |c: Contents| c.refuse_foreign(&name("d"), &name("t")).is_err();
        assert!(!is_refused(Contents::default()));
        assert!(!is_refused(contents(false, &[], &[])), "an empty database harms nobody");
        assert!(is_refused(contents(false, &["theirs"], &[])));
        assert!(!is_refused(contents(true, &["theirs", MARKER], &[])));
        assert!(is_refused(contents(true, &["t", MARKER], &[])));
        assert!(!is_refused(contents(false, &["t", MARKER], &["t"])));
    }

    #[test]
    fn a_database_is_dropped_only_when_it_is_ours_and_holds_nothing_else() {
        let is_alone = |c: Contents| c.is_all_there_is(&name("t"));
        assert!(is_alone(contents(true, &["t", MARKER], &["t"])));
        assert!(is_alone(contents(true, &[MARKER], &["t"])));
        assert!(!is_alone(contents(false, &["t", MARKER], &["t"])));
        assert!(!is_alone(contents(true, &["t", "theirs", MARKER], &["t"])));
        assert!(!is_alone(contents(true, &["t", MARKER], &["t", "u"])));
    }
}
