//! What is ours: every series of a table carries the label `iotbench_table`, which the server adds to what our writers
//! send, and a series `iotbench_marker` names the table, the run and the fingerprint. Series are dropped by that label
//! alone.

use super::{
    client::{Client, Samples},
    series::{Millis, Own, quoted, unmarked},
};
use iotbench_core::{Cause, Error, Name, OwnedObject, TableSpec};
use std::{collections::BTreeMap, ops::ControlFlow};

/// The series that name what is ours.
pub(crate) const MARKER: &str = "iotbench_marker";
const CREATED_BY: &str = concat!("iotbench ", env!("CARGO_PKG_VERSION"));

/// A table of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    table: Name,
    run_id: String,
    fingerprint: String,
    /// The label of its series. It keeps the run that made them when another takes them over.
    own: Own,
}

/// Creates and marks a table in the place of an earlier one of ours.
///
/// # Errors
/// [`Cause::NotOurs`] where series of that name do not carry our marker.
pub(crate) async fn create(client: &mut Client, database: &Name, table: &TableSpec) -> Result<Own, Error> {
    client.flush().await?;
    refuse_foreign(client, database, table).await?;
    for marked in marks(client, database).await?.iter().filter(|marked| marked.table == table.name) {
        remove(client, marked).await?;
    }
    let own = Own::new(database, &table.name, &table.marker.run_id);
    mark(client, table, &own).await?;
    Ok(own)
}

/// Makes this run the owner of a table that an earlier run left, if it is there with the same fingerprint; else changes
/// nothing.
pub(crate) async fn adopt(client: &mut Client, database: &Name, table: &TableSpec) -> Result<Option<Own>, Error> {
    client.flush().await?;
    let marks = marks(client, database).await?;
    let of_table: Vec<_> = marks.into_iter().filter(|marked| marked.table == table.name).collect();
    let [marked] = of_table.as_slice() else { return Ok(None) };
    if marked.fingerprint != table.marker.fingerprint {
        return Ok(None);
    }
    if marked.run_id != table.marker.run_id {
        mark(client, table, &marked.own).await?;
        delete(client, &marker_selector(marked)).await?;
    }
    Ok(Some(marked.own.clone()))
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

/// Drops the table that this run made, if it is there; everything else is left alone.
pub(crate) async fn drop_own(client: &mut Client, database: &Name, table: &TableSpec) -> Result<(), Error> {
    client.flush().await?;
    let marks = marks(client, database).await?;
    let is_own = |marked: &&Marked| marked.table == table.name && marked.run_id == table.marker.run_id;
    for marked in marks.iter().filter(is_own) {
        remove(client, marked).await?;
    }
    Ok(())
}

/// Our tables of all runs, by name.
pub(crate) async fn owned(client: &mut Client, database: &Name) -> Result<Vec<OwnedObject>, Error> {
    let marks = marks(client, database).await?.into_iter();
    let mut objects: Vec<_> = marks.map(|marked| OwnedObject { name: marked.table, run_id: marked.run_id }).collect();
    objects.sort_unstable_by(|a, b| (a.name.as_str(), &a.run_id).cmp(&(b.name.as_str(), &b.run_id)));
    Ok(objects)
}

/// Drops a table if it still carries the marker of that run.
///
/// # Errors
/// [`Cause::NotOurs`] where it does not.
pub(crate) async fn drop_owned(client: &mut Client, database: &Name, object: &OwnedObject) -> Result<(), Error> {
    client.flush().await?;
    let marks = marks(client, database).await?;
    let Some(marked) = marks.iter().find(|m| m.table == object.name && m.run_id == object.run_id) else {
        let message = format!("{} does not carry the marker of run {}", object.name, object.run_id);
        return Err(Error::new(Cause::NotOurs, message));
    };
    remove(client, marked).await
}

/// Refuses a table name under which somebody else has series in our database.
async fn refuse_foreign(client: &mut Client, database: &Name, table: &TableSpec) -> Result<(), Error> {
    for theirs in unmarked(database, table) {
        let mut found = false;
        let note = |_: Samples<'_>| {
            found = true;
            Ok(ControlFlow::Break(()))
        };
        client.export(&theirs, Millis::EVER, note).await?;
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
        (quoted(marked.own.database.as_str()), quoted(marked.table.as_str()), quoted(&marked.run_id));
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
        let is_ours = label("created_by").starts_with("iotbench ");
        if let (Ok(table), true) = (Name::new(label("table")), is_ours) {
            marks.push(Marked {
                table,
                run_id: label("run_id").to_owned(),
                fingerprint: label("fingerprint").to_owned(),
                own: Own { database: database.clone(), label: label("series").to_owned() },
            });
        }
        Ok(ControlFlow::Continue(()))
    };
    client.export(&selector, Millis::EVER, take).await?;
    // A series without that label would be chosen by an empty one.
    marks.retain(|marked| marked.own.label.starts_with(&format!("{}/", marked.table)));
    Ok(marks)
}
