//! What is ours: every series of a table carries the label `iotbench_table`, which the server adds to what our writers
//! send, and a series `iotbench_marker` names the table, the run and the fingerprint. Series are dropped by that label
//! alone.

use super::{
    client::{Client, Samples},
    series::{EVER, Own, quoted, unmarked},
};
use iotbench_backend_kit::{
    flag::{Flag, Flags, Seen},
    marker::{self, CREATED_BY},
    ownership::{Found, Owned, Ownership},
};
use iotbench_core::{Cause, Error, Marker, Name, OwnedObject, TableSpec};
use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
};

/// The series that name what is ours.
pub(crate) const MARKER: &str = "iotbench_marker";

/// The series that say who uses what is ours.
pub(crate) const FLAG: &str = "iotbench_flag";

/// A table of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    table: Name,
    marker: Marker,
    /// The label of its series. It keeps the run that made them when another takes them over.
    own: Own,
}

/// The tables of ours in a database.
pub(crate) struct Tables {
    pub(crate) client: Client,
    pub(crate) database: Name,
    pub(crate) table: Arc<TableSpec>,
    /// The run whose table is looked for: while one takes over another's, a table has two marks.
    pub(crate) run_id: String,
    /// The series of the run's own table, once they are made, taken over or found.
    pub(crate) own: Known,
}

/// Series that are known, or not yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known(Arc<Mutex<Option<Own>>>);

impl Known {
    pub(crate) fn keep(&self, own: Option<Own>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = own;
    }

    pub(crate) fn get(&self) -> Option<Own> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Ownership for Tables {
    /// All marks of the table, the one of the run that is looked for at the front.
    type Handle = Vec<Marked>;

    fn own(&self) -> (&Name, &Marker) {
        (&self.table.name, &self.table.marker)
    }

    async fn begin(&mut self) -> Result<(), Error> {
        self.client.flush().await
    }

    /// What stands there without our marker is found by what is to be made in its place.
    async fn find(&mut self, name: &Name) -> Result<Found<Vec<Marked>>, Error> {
        let mut marks = marks(&mut self.client, &self.database).await?;
        marks.retain(|marked| marked.table == *name);
        marks.sort_by_key(|marked| marked.marker.run_id != self.run_id);
        let Some(marker) = marks.first().map(|marked| marked.marker.clone()) else { return Ok(Found::Nothing) };
        Ok(Found::Ours(Owned { marker, exists: true, handle: marks }))
    }

    async fn make(&mut self, earlier: Option<Owned<Vec<Marked>>>) -> Result<(), Error> {
        refuse_foreign(&mut self.client, &self.database, &self.table).await?;
        for marked in earlier.iter().flat_map(|earlier| &earlier.handle) {
            remove(&mut self.client, marked).await?;
        }
        let own = Own::new(&self.database, &self.table.name, &self.table.marker.run_id);
        mark(&mut self.client, &self.table, &own).await?;
        self.own.keep(Some(own));
        Ok(())
    }

    async fn take_over(&mut self, earlier: Owned<Vec<Marked>>) -> Result<bool, Error> {
        let [marked] = earlier.handle.as_slice() else { return Ok(false) };
        if marked.marker.run_id != self.table.marker.run_id {
            mark(&mut self.client, &self.table, &marked.own).await?;
            delete(&mut self.client, &marker_selector(marked)).await?;
        }
        self.own.keep(Some(marked.own.clone()));
        Ok(true)
    }

    async fn remove(&mut self, _: &Name, object: Owned<Vec<Marked>>) -> Result<(), Error> {
        match object.handle.first() {
            Some(marked) => remove(&mut self.client, marked).await,
            None => Ok(()),
        }
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        let marks = marks(&mut self.client, &self.database).await?.into_iter();
        Ok(marks.map(|marked| OwnedObject { name: marked.table, run_id: marked.marker.run_id }).collect())
    }
}

/// A flag is a series of its owner's, whose largest sample is the latest.
impl Flags for Tables {
    async fn flags(&mut self, name: &Name) -> Result<Seen, Error> {
        let mut beats: BTreeMap<(String, String), u64> = BTreeMap::new();
        let take = |samples: Samples<'_>| {
            let label = |name: &str| samples.metric.get(name).map_or("", |value| value.as_ref()).to_owned();
            let latest = samples.values.iter().flatten().copied().fold(0.0, f64::max);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a number that is ours is whole"
            )]
            let latest = latest as u64;
            let beat = beats.entry((label("owner"), label("run_id"))).or_default();
            *beat = latest.max(*beat);
            Ok(ControlFlow::Continue(()))
        };
        self.client.export(&flags_of(&self.database, name), EVER, take).await?;
        let flags = beats.into_iter().map(|((owner, run_id), value)| {
            let (beat, has_it) = (value / 2, value % 2 == 1);
            Flag { owner, run_id, has_it, beat }
        });
        Ok(Seen { flags: flags.collect(), now_s: self.client.now_s() })
    }

    async fn put_up(&mut self, name: &Name, flag: &Flag, _: bool) -> Result<(), Error> {
        let labels = [
            ("__name__", FLAG),
            ("db", self.database.as_str()),
            ("table", name.as_str()),
            ("owner", &flag.owner),
            ("run_id", &flag.run_id),
            ("created_by", CREATED_BY),
        ];
        self.client.import(&BTreeMap::from(labels), flag.beat * 2 + u64::from(flag.has_it)).await
    }

    async fn hurry(&mut self) -> Result<(), Error> {
        self.client.flush().await
    }

    async fn take_down(&mut self, name: &Name, owner: &str) -> Result<(), Error> {
        let flags = flags_of(&self.database, name);
        delete(&mut self.client, &format!("{},owner={}}}", flags.trim_end_matches('}'), quoted(owner))).await
    }
}

/// Chooses the flags of a table.
fn flags_of(database: &Name, table: &Name) -> String {
    format!("{{__name__=\"{FLAG}\",db={},table={}}}", quoted(database.as_str()), quoted(table.as_str()))
}

/// The series of a table, whichever run made it.
///
/// # Errors
/// [`Cause::Server`] where it is not there.
pub(crate) async fn find(client: &mut Client, database: &Name, table: &Name) -> Result<Own, Error> {
    let found = marks(client, database).await?.into_iter().find(|marked| marked.table == *table);
    let missing = || Error::new(Cause::Server, format!("table {table} is not there, or its mark: somebody dropped it"));
    found.map(|marked| marked.own).ok_or_else(missing)
}

/// Refuses a table name under which somebody else has series in our database.
async fn refuse_foreign(client: &mut Client, database: &Name, table: &TableSpec) -> Result<(), Error> {
    for theirs in unmarked(database, table) {
        let mut found = false;
        let note = |_: Samples<'_>| {
            found = true;
            Ok(ControlFlow::Break(()))
        };
        client.export(&theirs, EVER, note).await?;
        if found {
            let message = format!(
                "series {0}_… with the label db={database} exist and do not carry our marker: choose another table name, \
                 or another database",
                table.name
            );
            return Err(Error::new(Cause::NotOurs, message));
        }
    }
    Ok(())
}

async fn mark(client: &mut Client, table: &TableSpec, own: &Own) -> Result<(), Error> {
    let labels = [
        ("__name__", MARKER),
        ("db", own.database.as_str()),
        ("table", table.name.as_str()),
        ("run_id", &table.marker.run_id),
        ("fingerprint", &table.marker.fingerprint),
        ("series", &own.label),
        ("created_by", CREATED_BY),
    ];
    client.import(&BTreeMap::from(labels), 1).await?;
    client.flush().await
}

/// Drops the series first: what is interrupted between the two can be dropped again.
async fn remove(client: &mut Client, marked: &Marked) -> Result<(), Error> {
    delete(client, &marked.own.selector()).await?;
    delete(client, &marker_selector(marked)).await
}

fn marker_selector(marked: &Marked) -> String {
    let (db, table, run) =
        (quoted(marked.own.database.as_str()), quoted(marked.table.as_str()), quoted(&marked.marker.run_id));
    format!("{{__name__=\"{MARKER}\",db={db},table={table},run_id={run}}}")
}

async fn delete(client: &mut Client, selector: &str) -> Result<(), Error> {
    client.form("/api/v1/admin/tsdb/delete_series", &[("match[]", selector)]).await.map(drop)
}

async fn marks(client: &mut Client, database: &Name) -> Result<Vec<Marked>, Error> {
    let selector = format!("{{__name__=\"{MARKER}\",db={}}}", quoted(database.as_str()));
    let mut marks = Vec::new();
    let take = |samples: Samples<'_>| {
        let label = |name: &str| samples.metric.get(name).map_or("", |value| value.as_ref());
        let is_ours = marker::is_ours(label("created_by"));
        if let (Ok(table), true) = (Name::new(label("table")), is_ours) {
            marks.push(Marked {
                table,
                marker: Marker { run_id: label("run_id").to_owned(), fingerprint: label("fingerprint").to_owned() },
                own: Own { database: database.clone(), label: label("series").to_owned() },
            });
        }
        Ok(ControlFlow::Continue(()))
    };
    client.export(&selector, EVER, take).await?;
    // A series without that label would be chosen by an empty one.
    marks.retain(|marked| marked.own.label.starts_with(&format!("{}/", marked.table)));
    Ok(marks)
}
