//! What is ours: the tables that the catalog `iotbench_tables` lists, each with its run, its fingerprint and the names of
//! its streams. Databus does not list tables, so the catalog is also how they are found again.
//!
//! A mark is written before the first stream is registered and deleted after the last one is: what is left half-way can be
//! found. The catalog itself stays: another run may be about to write to it.

use super::{
    client::Client,
    names::{CATALOG, END_OF_CATALOG, place_in_catalog, stem, stream},
};
use iotbench_backend_kit::{
    marker::{self, CREATED_BY, MarkerDocument},
    ownership::{Found, Owned, Ownership},
};
use iotbench_core::{Cause, Error, Marker, Name, OwnedObject, SignalId, TableSpec};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The catalog's columns: a table of one column would be answered without it.
const COLUMNS: [(&str, &str); 2] = [("run_id", "string"), ("mark", "string")];
/// Where the catalog says that it is ours: behind the place of every table.
const FOUNDING_PLACE: u64 = END_OF_CATALOG;

/// What stands beside a marker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Streams {
    table: Name,
    stem: String,
    devices: u32,
    signals: SignalId,
}

/// A row of the catalog.
#[derive(Debug, Deserialize)]
struct Row {
    mark: String,
}

impl Row {
    fn mark(&self) -> Option<MarkerDocument<Streams>> {
        serde_json::from_str(&self.mark).ok().and_then(MarkerDocument::if_ours)
    }
}

impl Streams {
    fn of(table: &TableSpec) -> Result<Self, Error> {
        Ok(Self {
            table: table.name.clone(),
            stem: stem(table),
            devices: table.devices,
            signals: SignalId::try_from(table.schema.width()).map_err(|e| Error::new(Cause::Client, e))?,
        })
    }

    /// Their names.
    fn names(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.devices)
            .flat_map(move |device| (0..self.signals).map(move |signal| stream(&self.stem, device, signal)))
    }
}

/// The tables of ours in a database.
pub(crate) struct Tables<'a> {
    pub(crate) client: Client,
    pub(crate) database: &'a str,
    pub(crate) table: &'a TableSpec,
}

impl Ownership for Tables<'_> {
    type Handle = Streams;

    fn own(&self) -> (&Name, &Marker) {
        (&self.table.name, &self.table.marker)
    }

    async fn find(&mut self, name: &Name) -> Result<Found<Streams>, Error> {
        match look(&mut self.client, name).await {
            Ok(Some(MarkerDocument { marker, beside, .. })) => {
                Ok(Found::Ours(Owned { marker, exists: true, handle: beside }))
            }
            Ok(None) => Ok(Found::Nothing),
            Err(e) if e.cause == Cause::NotOurs => Ok(Found::Foreign(e)),
            Err(e) => Err(e),
        }
    }

    /// Registers the streams. Where one of such a name is somebody else's, nothing is left of ours.
    async fn make(&mut self, earlier: Option<Owned<Streams>>) -> Result<(), Error> {
        let client = &mut self.client;
        match earlier {
            Some(earlier) => remove(client, &earlier.handle).await?,
            None => found_catalog(client, self.database).await?,
        }
        let streams = Streams::of(self.table)?;
        put(client, &self.table.marker, &streams).await?;
        let mut registered = Vec::new();
        for name in streams.names() {
            match client.register("TIME_SERIES", &name, self.database, &[("value", "BigDecimal")]).await {
                Ok(()) => registered.push(name),
                Err(e) if e.cause == Cause::NotOurs => {
                    for name in &registered {
                        client.delete_table(name).await?;
                    }
                    client.delete_from_catalog(place_in_catalog(&self.table.name)).await?;
                    let message = format!("{}: choose another table name", e.message);
                    return Err(Error::new(Cause::NotOurs, message));
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    async fn take_over(&mut self, earlier: Owned<Streams>) -> Result<bool, Error> {
        put(&mut self.client, &self.table.marker, &earlier.handle).await.map(|()| true)
    }

    async fn remove(&mut self, _: &Name, object: Owned<Streams>) -> Result<(), Error> {
        remove(&mut self.client, &object.handle).await
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        let rows: Vec<Row> = self.client.catalog(0, END_OF_CATALOG - 1).await?.unwrap_or_default();
        let marks = rows.iter().filter_map(Row::mark);
        Ok(marks.map(|mark| OwnedObject { name: mark.beside.table, run_id: mark.marker.run_id }).collect())
    }
}

/// What the names of the table's streams begin with, whichever run made it.
///
/// # Errors
/// [`Cause::Server`] where it is not there.
pub(crate) async fn stem_of(client: &mut Client, table: &Name) -> Result<String, Error> {
    let found = look(client, table).await?.map(|mark| mark.beside.stem);
    found.ok_or_else(|| {
        Error::new(Cause::Server, format!("table {table} is not there, or its mark: somebody deleted it"))
    })
}

/// Deletes the streams of a table, and its mark last.
async fn remove(client: &mut Client, streams: &Streams) -> Result<(), Error> {
    for name in streams.names() {
        client.delete_table(&name).await?;
    }
    client.delete_from_catalog(place_in_catalog(&streams.table)).await
}

/// Makes the catalog where it is missing.
///
/// # Errors
/// [`Cause::NotOurs`] where a table of its name does not say that it is ours.
async fn found_catalog(client: &mut Client, database: &str) -> Result<(), Error> {
    #[derive(Serialize, Deserialize)]
    struct Founded {
        created_by: String,
    }
    let founded: Option<Vec<Row>> = client.catalog(FOUNDING_PLACE, FOUNDING_PLACE).await?;
    if let Some(rows) = founded {
        let founded = rows.first().and_then(|row| serde_json::from_str::<Founded>(&row.mark).ok());
        return match founded.filter(|founded| marker::is_ours(&founded.created_by)) {
            Some(_) => Ok(()),
            None => Err(not_ours()),
        };
    }
    client.register("RELATIONAL_TIME_SERIES", CATALOG, database, &COLUMNS).await?;
    write(client, FOUNDING_PLACE, "-", &Founded { created_by: CREATED_BY.into() }).await
}

async fn put(client: &mut Client, marker: &Marker, streams: &Streams) -> Result<(), Error> {
    write(client, place_in_catalog(&streams.table), &marker.run_id, &MarkerDocument::new(marker, streams)).await
}

async fn write(client: &mut Client, place: u64, run_id: &str, mark: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string(mark).map_err(|e| Error::new(Cause::Client, e))?;
    client.write(&[json!({ "_tableName": CATALOG, "time": place.to_string(), "run_id": run_id, "mark": text })]).await
}

fn not_ours() -> Error {
    Error::new(Cause::NotOurs, format!("the table {CATALOG} does not say that it is iotbench's: it is left alone"))
}

async fn look(client: &mut Client, table: &Name) -> Result<Option<MarkerDocument<Streams>>, Error> {
    let place = place_in_catalog(table);
    let rows: Vec<Row> = client.catalog(place, place).await?.unwrap_or_default();
    let Some(row) = rows.first() else { return Ok(None) };
    match row.mark() {
        Some(mark) if mark.beside.table == *table => Ok(Some(mark)),
        Some(mark) => {
            let message =
                format!("tables {table} and {} have one place in {CATALOG}: choose another name", mark.beside.table);
            Err(Error::new(Cause::NotOurs, message))
        }
        None => Err(not_ours()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_mark_of_ours_is_read_as_one() {
        let ours = r#"{"created_by":"iotbench 0.1.0","table":"t","run_id":"r","fingerprint":"f","stem":"s","devices":2,"signals":2}"#;
        let mark = Row { mark: ours.into() }.mark().unwrap();
        assert_eq!(mark.beside.names().collect::<Vec<_>>(), ["s_0_0", "s_0_1", "s_1_0", "s_1_1"]);
        for theirs in ["", "7", "{}", &ours.replace("iotbench 0", "somebody 0")] {
            assert_eq!(Row { mark: theirs.into() }.mark(), None, "{theirs}");
        }
    }
}
