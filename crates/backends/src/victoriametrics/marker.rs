//! What is ours: every series of a table carries the label `iotbench_table`, which the server adds to what our writers
//! send, and a series `iotbench_marker` names the table, the run and the fingerprint. Series are dropped by that label
//! alone.

use super::{
    client::{Client, Samples},
    series::{EVER, Own, quoted, unmarked},
};
use iotbench_backend_kit::{
    marker::{self, CREATED_BY},
    ownership::{Found, Owned, Ownership},
};
use iotbench_core::{Cause, Error, Marker, Name, OwnedObject, TableSpec};
use std::{collections::BTreeMap, ops::ControlFlow};

/// The series that name what is ours.
pub(crate) const MARKER: &str = "iotbench_marker";

/// A table of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    table: Name,
    marker: Marker,
    /// The label of its series. It keeps the run that made them when another takes them over.
    own: Own,
}

/// The tables of ours in a database.
pub(crate) struct Tables<'a> {
    pub(crate) client: Client,
    pub(crate) database: &'a Name,
    pub(crate) table: &'a TableSpec,
    /// The run whose table is looked for: while one takes over another's, a table has two marks.
    pub(crate) run_id: &'a str,
    /// The series of the run's own table, once they are made or taken over.
    pub(crate) own: Option<Own>,
}

impl Ownership for Tables<'_> {
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
        let mut marks = marks(&mut self.client, self.database).await?;
        marks.retain(|marked| marked.table == *name);
        marks.sort_by_key(|marked| marked.marker.run_id != self.run_id);
        let Some(marker) = marks.first().map(|marked| marked.marker.clone()) else { return Ok(Found::Nothing) };
        Ok(Found::Ours(Owned { marker, exists: true, handle: marks }))
    }

    async fn make(&mut self, earlier: Option<Owned<Vec<Marked>>>) -> Result<(), Error> {
        refuse_foreign(&mut self.client, self.database, self.table).await?;
        for marked in earlier.iter().flat_map(|earlier| &earlier.handle) {
            remove(&mut self.client, marked).await?;
        }
        let own = Own::new(self.database, &self.table.name, &self.table.marker.run_id);
        mark(&mut self.client, self.table, &own).await?;
        self.own = Some(own);
        Ok(())
    }

    async fn take_over(&mut self, earlier: Owned<Vec<Marked>>) -> Result<bool, Error> {
        let [marked] = earlier.handle.as_slice() else { return Ok(false) };
        if marked.marker.run_id != self.table.marker.run_id {
            mark(&mut self.client, self.table, &marked.own).await?;
            delete(&mut self.client, &marker_selector(marked)).await?;
        }
        self.own = Some(marked.own.clone());
        Ok(true)
    }

    async fn remove(&mut self, _: &Name, object: Owned<Vec<Marked>>) -> Result<(), Error> {
        match object.handle.first() {
            Some(marked) => remove(&mut self.client, marked).await,
            None => Ok(()),
        }
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        let marks = marks(&mut self.client, self.database).await?.into_iter();
        Ok(marks.map(|marked| OwnedObject { name: marked.table, run_id: marked.marker.run_id }).collect())
    }
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
    client.import(&BTreeMap::from(labels)).await
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
