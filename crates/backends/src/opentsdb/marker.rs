//! What is ours: for each table a note about no series (a global annotation), at a second that its name decides on, which names
//! table, run and fingerprint. Only metrics whose names begin as ours do, and whose table has this note, are ever deleted.
//!
//! A note is kept when it is answered. Values are deleted a while after that is answered, and those that were queued before
//! would come back: so who deletes first waits for what is queued, and then looks until nothing is left.

use super::{
    client::Client,
    config::Config,
    question::{ALL, Asked},
};
use iotbench_backend_kit::{
    flag::{Flag, Flags, Seen},
    http::Server,
    looks::Looks,
    marker::{self, CREATED_BY, MarkerDocument},
    metrics::{DEVICE, metric, prefix},
    ownership::{Found, Owned, Ownership},
};
use iotbench_core::{Cause, Error, Marker, Name, OwnedObject, TableSpec};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// The seconds of the notes: from 1971 to 2099.
const FIRST_SECOND: u32 = 31_536_000;
const LAST_SECOND: u32 = 4_102_444_799;
/// The end of the name of a table's metric that only carries what is waited for: no signal has such a name.
const QUEUE: &str = "/queue";
const DESCRIPTION: &str = "marks a table of iotbench";
const FLAG_DESCRIPTION: &str = "says who uses a table of iotbench";

/// What stands beside a marker: whose second it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Of {
    table: Name,
}

/// A flag in a note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FlagOf {
    created_by: String,
    flag_of: Name,
    flag: String,
}

/// A note of anybody's.
#[derive(Debug, Deserialize)]
struct Note {
    /// What it holds beside its text.
    #[serde(default)]
    custom: Option<serde_json::Value>,
}

impl Note {
    fn mark(self) -> Option<MarkerDocument<Of>> {
        serde_json::from_value(self.custom?).ok().and_then(MarkerDocument::if_ours)
    }

    /// The flag of a table.
    fn flag(self, table: &Name) -> Option<Flag> {
        let of: FlagOf = serde_json::from_value(self.custom?).ok()?;
        if marker::is_ours(&of.created_by) && of.flag_of == *table { Flag::of_text(&of.flag) } else { None }
    }
}

/// The tables of ours on servers over one HBase.
pub(crate) struct Tables {
    pub(crate) config: Arc<Config>,
    pub(crate) client: Client,
    pub(crate) table: Arc<TableSpec>,
    pub(crate) looks: Looks,
}

impl Ownership for Tables {
    type Handle = ();

    fn own(&self) -> (&Name, &Marker) {
        (&self.table.name, &self.table.marker)
    }

    async fn find(&mut self, name: &Name) -> Result<Found, Error> {
        let found = look(&mut self.client, name).await?;
        let ours = |mark: MarkerDocument<Of>| Found::Ours(Owned { marker: mark.marker, exists: true, handle: () });
        Ok(found.map_or(Found::Nothing, ours))
    }

    async fn make(&mut self, earlier: Option<Owned>) -> Result<(), Error> {
        let (client, name) = (&mut self.client, &self.table.name);
        if earlier.is_some() {
            clear(&self.config.servers, client, name, &self.looks).await?;
        } else if are_there_values(client, name).await? {
            let message = format!("{} exist without our marker: choose another table name", of_table(name));
            return Err(Error::new(Cause::NotOurs, message));
        }
        put_mark(client, &self.table).await
    }

    async fn take_over(&mut self, _: Owned) -> Result<bool, Error> {
        put_mark(&mut self.client, &self.table).await.map(|()| true)
    }

    async fn remove(&mut self, name: &Name, _: Owned) -> Result<(), Error> {
        clear(&self.config.servers, &mut self.client, name, &self.looks).await?;
        self.client.delete_note(second(name)).await
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        let notes: Vec<Note> = self.client.notes(FIRST_SECOND, LAST_SECOND).await?;
        let marks = notes.into_iter().filter_map(Note::mark);
        Ok(marks.map(|mark| OwnedObject { name: mark.beside.table, run_id: mark.marker.run_id }).collect())
    }
}

/// A flag is a note, at a second that its owner decides on too. The server tells no time.
impl Flags for Tables {
    async fn flags(&mut self, name: &Name) -> Result<Seen, Error> {
        let notes: Vec<Note> = self.client.notes(FIRST_SECOND, LAST_SECOND).await?;
        Ok(Seen { flags: notes.into_iter().filter_map(|note| note.flag(name)).collect(), now_s: None })
    }

    async fn put_up(&mut self, name: &Name, flag: &Flag, _: bool) -> Result<(), Error> {
        let custom = FlagOf { created_by: CREATED_BY.into(), flag_of: name.clone(), flag: flag.text() };
        let second = second_of_flag(name, &flag.owner);
        let note = json!({ "startTime": second, "description": FLAG_DESCRIPTION, "custom": custom });
        self.client.put_note::<Note>(&note).await.map(drop)
    }

    async fn take_down(&mut self, name: &Name, owner: &str) -> Result<(), Error> {
        // A note that is not there cannot be deleted.
        if self.flags(name).await?.flags.iter().any(|flag| flag.owner == owner) {
            self.client.delete_note(second_of_flag(name, owner)).await?;
        }
        Ok(())
    }
}

/// Refuses a table that is not there, or is no longer ours, whichever run made it.
pub(crate) async fn check_exists(client: &mut Client, table: &Name) -> Result<(), Error> {
    match look(client, table).await? {
        Some(_) => Ok(()),
        None => Err(Error::new(
            Cause::Server,
            format!("{} are not there, or their mark: somebody deleted it", of_table(table)),
        )),
    }
}

/// Deletes the values of a table that is ours.
async fn clear(servers: &[Server], client: &mut Client, table: &Name, looks: &Looks) -> Result<(), Error> {
    flush(servers, table).await?;
    for metric in client.metrics(&prefix(table)).await? {
        client.delete(&metric).await?;
    }
    while are_there_values(client, table).await? {
        looks.not_yet().await;
    }
    Ok(())
}

/// Waits until what each server took before is stored: what is queued goes before, or with, a value that is waited for. That one
/// belongs to the table, and to none of its signals.
pub(crate) async fn flush(servers: &[Server], table: &Name) -> Result<(), Error> {
    let tags = json!({ DEVICE: "0" });
    let last = json!({ "metric": queue(table), "timestamp": ALL.first, "value": 0, "tags": tags });
    for server in servers {
        Client::connect(server).await?.put(&last).await?;
    }
    Ok(())
}

fn queue(table: &Name) -> String {
    format!("{}{QUEUE}", prefix(table))
}

/// Whether there is a value of any metric of this table's names.
async fn are_there_values(client: &mut Client, table: &Name) -> Result<bool, Error> {
    for metric in client.metrics(&prefix(table)).await? {
        let asked = [Asked::raw(metric).count()];
        let count = |document: &super::document::Document<'_>| Ok(document.series().next().is_some());
        if client.ask(ALL, None, &asked, count).await?.0 {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn put_mark(client: &mut Client, table: &TableSpec) -> Result<(), Error> {
    let signals = (0..).take(table.schema.width()).map(|signal| metric(table, signal));
    client.assign(&signals.chain([queue(&table.name)]).collect::<Vec<_>>(), DEVICE).await?;
    let mark = MarkerDocument::new(&table.marker, Of { table: table.name.clone() });
    let note = json!({ "startTime": second(&table.name), "description": DESCRIPTION, "custom": &mark });
    // It answers with what it has read again.
    let kept: Option<Note> = client.put_note(&note).await?;
    if kept.and_then(Note::mark).as_ref() == Some(&mark) {
        return Ok(());
    }
    Err(Error::new(Cause::Server, format!("the mark of table {} was not kept", table.name)))
}

/// The table's mark, if it has one.
///
/// # Errors
/// [`Cause::NotOurs`] where another note is in its place.
async fn look(client: &mut Client, table: &Name) -> Result<Option<MarkerDocument<Of>>, Error> {
    let Some(note) = client.note::<Note>(second(table)).await? else { return Ok(None) };
    match note.mark() {
        Some(mark) if mark.beside.table == *table => Ok(Some(mark)),
        _ => {
            let message = format!(
                "the note of second {}, where the mark of {table} belongs, is another: choose another table name",
                second(table)
            );
            Err(Error::new(Cause::NotOurs, message))
        }
    }
}

/// The second of a table's mark.
fn second(table: &Name) -> u32 {
    second_of(table.as_str())
}

fn second_of_flag(table: &Name, owner: &str) -> u32 {
    second_of(&format!("{table} {owner}"))
}

/// A second by a hash (FNV-1a).
fn second_of(text: &str) -> u32 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let seconds = u64::from(LAST_SECOND - FIRST_SECOND);
    FIRST_SECOND + u32::try_from(hash % seconds).unwrap_or_default()
}

/// The address of a table's values in words, for errors.
fn of_table(table: &Name) -> String {
    format!("values of table {table}, {}…,", prefix(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_mark_of_ours_is_read_as_one() {
        let mark = |text: &str| serde_json::from_str::<Note>(text).unwrap().mark();
        let ours = r#"{"tsuid":"","startTime":5,"custom":{"created_by":"iotbench 0.1.0","table":"t","run_id":"r","fingerprint":"f"}}"#;
        assert_eq!(mark(ours).unwrap().marker.run_id, "r");
        for theirs in [
            "{}",
            r#"{"custom":null}"#,
            r#"{"custom":{"owner":"jdoe"}}"#,
            r#"{"custom":{"created_by":"somebody","table":"t","run_id":"r","fingerprint":"f"}}"#,
            r#"{"custom":{"created_by":"iotbench 1","table":"not a name","run_id":"r","fingerprint":"f"}}"#,
        ] {
            assert_eq!(mark(theirs), None, "{theirs}");
        }
    }

    #[test]
    fn a_flag_is_no_mark_and_only_its_tables() {
        let name = |text| Name::new(text).unwrap();
        let flag = Flag { owner: "o".into(), run_id: "r".into(), has_it: true, beat: 7 };
        let of = FlagOf { created_by: CREATED_BY.into(), flag_of: name("t"), flag: flag.text() };
        let note = |of: &FlagOf| Note { custom: Some(json!(of)) };
        assert_eq!(
            (note(&of).flag(&name("t")), note(&of).flag(&name("u")), note(&of).mark()),
            (Some(flag), None, None)
        );
        let theirs = FlagOf { created_by: "me".into(), ..of };
        assert_eq!(note(&theirs).flag(&name("t")), None);
    }

    #[test]
    fn a_mark_has_the_second_of_its_tables_name() {
        let seconds: Vec<_> = ["pmu_write", "pmu_read", "t"].map(|name| second(&Name::new(name).unwrap())).into();
        assert!(seconds.iter().all(|second| (FIRST_SECOND..=LAST_SECOND).contains(second)), "{seconds:?}");
        assert!(seconds[0] != seconds[1] && seconds[1] != seconds[2]);
        assert_eq!(seconds[0], second(&Name::new("pmu_write").unwrap()));
        // A server takes shorter numbers, and none of these, for seconds.
        assert!(LAST_SECOND.to_string().len() <= 10);
    }
}
