//! What is ours: a point in the measurement `iotbench_marker` for the database, where we made it, and for each of our
//! measurements in it. Each of these holds a mark itself as well: InfluxDB makes anew, with the next point, a measurement
//! that somebody has dropped, and then the list alone would call ours what is not.

use super::{
    chunk::Series,
    client::Client,
    influxql::{quoted, text},
};
use iotbench_backend_kit::{
    flag::{Flag, Flags, Seen},
    marker::{self, CREATED_BY},
    ownership::{Found, Owned, Ownership},
};
use iotbench_core::{Cause, Error, Marker, Name, OwnedObject, TableSpec};
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// The measurement that names what is ours.
pub(crate) const MARKER: &str = "iotbench_marker";
const DATABASE: &str = "database";
const TABLE: &str = "table";
/// The kind of a point that is a flag, and its field.
const FLAG: &str = "flag";
/// The tag of a measurement's own mark, which no datapoint has.
const OWN_MARK: &str = "iotbench_mark";
/// The field of it: the run.
const OWN_RUN: &str = "iotbench_run";

/// What a database holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    measurements: BTreeSet<String>,
    /// We made the database itself.
    is_ours: bool,
    /// Our measurements, each with its marker; those without a point yet among them.
    tables: HashMap<Name, Marker>,
    /// Measurements that are listed as ours, and do not hold the mark of the run that is told with them.
    replaced: HashMap<Name, Marker>,
}

impl Contents {
    /// Refuses what belongs to somebody else.
    fn refuse_foreign(&self, database: &Name, table: &Name) -> Result<(), Error> {
        // A flag of ours is no reason: it may be the first that is in an empty one.
        let holds_other = self.measurements.iter().any(|name| name != MARKER);
        if !self.is_ours && self.tables.is_empty() && holds_other {
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

/// The measurements of ours in a database.
pub(crate) struct Measurements {
    pub(crate) client: Client,
    pub(crate) database: Name,
    pub(crate) table: Arc<TableSpec>,
}

impl Ownership for Measurements {
    type Handle = Contents;

    fn own(&self) -> (&Name, &Marker) {
        (&self.table.name, &self.table.marker)
    }

    async fn find(&mut self, name: &Name) -> Result<Found<Contents>, Error> {
        let mut found = look(&mut self.client, &self.database).await?;
        let is_listed = found.measurements.contains(name.as_str()) && !found.tables.contains_key(name);
        if is_listed && !holds_series(&mut self.client, name).await? {
            found.measurements.remove(name.as_str());
        }
        if let Some(marker) = found.replaced.remove(name) {
            let handle = Contents::default();
            return Ok(Found::Replaced(Owned { marker, exists: true, handle }, replaced(name, "it is left as it is")));
        }
        Ok(match found.tables.get(name).cloned() {
            Some(marker) => {
                let exists = found.measurements.contains(name.as_str());
                Found::Ours(Owned { marker, exists, handle: found })
            }
            None => found.refuse_foreign(&self.database, name).map_or_else(Found::Foreign, |()| Found::Nothing),
        })
    }

    /// The database as well, where there is none.
    async fn make(&mut self, earlier: Option<Owned<Contents>>) -> Result<(), Error> {
        let table = Arc::clone(&self.table);
        if let Some(earlier) = earlier {
            remove(&mut self.client, &self.database, &earlier.handle, &table.name).await?;
        }
        let marks = self.make_database().await?;
        self.client.write(marks + &mark(TABLE, &table.name, &table) + &own_mark(&table)).await
    }

    /// The marks are points of the same series and time: they take the place of the earlier ones.
    async fn take_over(&mut self, _: Owned<Contents>) -> Result<bool, Error> {
        self.client.write(mark(TABLE, &self.table.name, &self.table) + &own_mark(&self.table)).await.map(|()| true)
    }

    async fn remove(&mut self, name: &Name, object: Owned<Contents>) -> Result<(), Error> {
        remove(&mut self.client, &self.database, &object.handle, name).await
    }

    async fn forget(&mut self, name: &Name) -> Result<(), Error> {
        forget(&mut self.client, name).await
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        let tables = look(&mut self.client, &self.database).await?.tables.into_iter();
        Ok(tables.map(|(name, marker)| OwnedObject { name, run_id: marker.run_id }).collect())
    }
}

impl Measurements {
    /// Makes the database where there is none; the mark that is to be written into it then.
    async fn make_database(&mut self) -> Result<String, Error> {
        if names(&mut self.client, "SHOW DATABASES").await?.contains(self.database.as_str()) {
            return Ok(String::new());
        }
        self.client.ask(&format!("CREATE DATABASE {}", quoted(self.database.as_str())), |_| Ok(())).await?;
        Ok(mark(DATABASE, &self.database, &self.table))
    }
}

/// Flags are points of the list of what is ours, each of its owner's series. They go with the database where that is dropped.
impl Flags for Measurements {
    async fn flags(&mut self, name: &Name) -> Result<Seen, Error> {
        let mut flags = Vec::new();
        // Also where there is no database yet, the server tells its time.
        if names(&mut self.client, "SHOW DATABASES").await?.contains(self.database.as_str()) {
            let (field, list, of_table) = (quoted(FLAG), quoted(MARKER), flags_of(name));
            let take = |series: &Series<'_>| {
                let texts = series.rows().filter_map(|row| row.get(1)?.text());
                flags.extend(texts.filter_map(Flag::of_text));
                Ok(())
            };
            self.client.ask(&format!("SELECT {field} FROM {list} WHERE {of_table}"), take).await?;
        }
        Ok(Seen { flags, now_s: self.client.now_s() })
    }

    async fn put_up(&mut self, name: &Name, flag: &Flag, is_new: bool) -> Result<(), Error> {
        let marks = if is_new { self.make_database().await? } else { String::new() };
        let point = format!("{MARKER},kind={FLAG},table={name},owner={} {FLAG}=\"{}\" 0\n", flag.owner, flag.text());
        self.client.write(marks + &point).await
    }

    async fn take_down(&mut self, name: &Name, owner: &str) -> Result<(), Error> {
        if !names(&mut self.client, "SHOW DATABASES").await?.contains(self.database.as_str()) {
            return Ok(());
        }
        let (list, of_table, owner) = (quoted(MARKER), flags_of(name), text(owner));
        let statement = format!("DROP SERIES FROM {list} WHERE {of_table} AND \"owner\" = {owner}");
        self.client.ask(&statement, |_| Ok(())).await.map(drop)
    }
}

/// The condition that chooses the flags of a table.
fn flags_of(table: &Name) -> String {
    format!("\"kind\" = {} AND \"table\" = {}", text(FLAG), text(table.as_str()))
}

/// The condition that leaves out a measurement's own mark.
pub(crate) fn no_mark() -> String {
    format!("{} = ''", quoted(OWN_MARK))
}

/// A point that marks an object. Texts are the run's own: they hold neither quotes nor backslashes unescaped.
fn mark(kind: &str, name: &Name, table: &TableSpec) -> String {
    let (run, fingerprint) = (escaped(&table.marker.run_id), escaped(&table.marker.fingerprint));
    format!(
        "{MARKER},kind={kind},table={name} run_id=\"{run}\",fingerprint=\"{fingerprint}\",created_by=\"{CREATED_BY}\" 0\n"
    )
}

/// The mark in the measurement itself.
fn own_mark(table: &TableSpec) -> String {
    format!("{},{OWN_MARK}=run {OWN_RUN}=\"{}\" 0\n", table.name, escaped(&table.marker.run_id))
}

/// A text of the line protocol, on one line.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ")
}

/// Refuses a measurement that is not there, or no longer ours, whichever run made it.
///
/// # Errors
/// [`Cause::Server`] where it, or its mark, was dropped.
pub(crate) async fn check_exists(client: &mut Client, database: &Name, table: &Name) -> Result<(), Error> {
    let found = look(client, database).await?;
    if found.replaced.contains_key(table) {
        return Err(Error { cause: Cause::Server, ..replaced(table, "what is stored is not what was written") });
    }
    if found.tables.contains_key(table) {
        return Ok(());
    }
    Err(Error::new(Cause::Server, format!("measurement {table} is not there, or its mark: somebody dropped it")))
}

fn replaced(table: &Name, what_then: &str) -> Error {
    let message = format!(
        "measurement {table} was dropped while a run used it, and came back with the next write, without our mark: \
         {what_then}"
    );
    Error::new(Cause::NotOurs, message)
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
    forget(client, table).await
}

/// Takes a measurement off the list of ours.
async fn forget(client: &mut Client, table: &Name) -> Result<(), Error> {
    let forget = format!(
        "DROP SERIES FROM {} WHERE \"kind\" = {} AND \"table\" = {}",
        quoted(MARKER),
        text(TABLE),
        text(table.as_str())
    );
    client.ask(&forget, |_| Ok(())).await.map(|_| ())
}

/// Whether a measurement holds anything. InfluxDB may go on to name one in its list whose last series was dropped, and
/// dropping that again changes nothing: an empty name is nobody's.
async fn holds_series(client: &mut Client, name: &Name) -> Result<bool, Error> {
    Ok(!names(client, &format!("SHOW SERIES FROM {} LIMIT 1", quoted(name.as_str()))).await?.is_empty())
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
    let (is_ours, listed) =
        if measurements.contains(MARKER) { marks(client, database).await? } else { Default::default() };
    let own_marks = own_marks(client, listed.keys().filter(|name| measurements.contains(name.as_str()))).await?;
    let is_ours_still = |name: &Name, marker: &Marker| {
        !measurements.contains(name.as_str()) || own_marks.get(name.as_str()).is_some_and(|own| *own == marker.run_id)
    };
    let (tables, replaced) = listed.into_iter().partition(|(name, marker)| is_ours_still(name, marker));
    Ok(Contents { measurements, is_ours, tables, replaced })
}

/// The runs whose marks these measurements hold themselves.
async fn own_marks(client: &mut Client, names: impl Iterator<Item = &Name>) -> Result<HashMap<String, String>, Error> {
    let names: Vec<_> = names.map(|name| quoted(name.as_str())).collect();
    let mut runs = HashMap::new();
    if names.is_empty() {
        return Ok(runs);
    }
    let of_marks = format!("{} = 'run'", quoted(OWN_MARK));
    let statement = format!("SELECT {} FROM {} WHERE {of_marks}", quoted(OWN_RUN), names.join(", "));
    client
        .ask(&statement, |series| {
            for row in series.rows() {
                if let [_, run] = row {
                    runs.insert(series.name.clone(), run.to_string());
                }
            }
            Ok(())
        })
        .await?;
    Ok(runs)
}

/// Whether the database is marked as made by us, and our measurements with their markers.
async fn marks(client: &mut Client, database: &Name) -> Result<(bool, HashMap<Name, Marker>), Error> {
    let fields = "\"kind\", \"table\", \"run_id\", \"fingerprint\", \"created_by\"";
    let statement = format!("SELECT {fields} FROM {}", quoted(MARKER));
    let (mut is_ours, mut tables) = (false, HashMap::new());
    client
        .ask(&statement, |series| {
            for row in series.rows() {
                let [_, kind, name, run_id, fingerprint, created_by] = row else { continue };
                let name = name.text().and_then(|name| Name::new(name).ok());
                match (kind.text(), name, run_id.text(), created_by.text()) {
                    (Some(DATABASE), Some(name), Some(_), Some(by)) if marker::is_ours(by) => {
                        is_ours |= name == *database;
                    }
                    (Some(TABLE), Some(name), Some(run_id), Some(by)) if marker::is_ours(by) => {
                        let fingerprint = fingerprint.text().unwrap_or_default().to_owned();
                        tables.insert(name, Marker { run_id: run_id.to_owned(), fingerprint });
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

    fn marker() -> Marker {
        Marker { run_id: "run".into(), fingerprint: "f".into() }
    }

    fn contents(is_ours: bool, measurements: &[&str], tables: &[&str]) -> Contents {
        Contents {
            is_ours,
            measurements: measurements.iter().map(ToString::to_string).collect(),
            tables: tables.iter().map(|table| (name(table), marker())).collect(),
            replaced: HashMap::new(),
        }
    }

    #[test]
    fn only_what_carries_our_marker_is_taken() {
        let is_refused = |c: Contents| c.refuse_foreign(&name("d"), &name("t")).is_err();
        assert!(!is_refused(Contents::default()));
        assert!(!is_refused(contents(false, &[], &[])), "an empty database harms nobody");
        assert!(is_refused(contents(false, &["theirs"], &[])));
        assert!(!is_refused(contents(false, &[MARKER], &[])), "a flag is all that there is");
        assert!(is_refused(contents(false, &["theirs", MARKER], &[])));
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
