//! What is ours: the tables that the catalog `iotbench_tables` lists, each with its run, its fingerprint and the names of
//! its streams. Databus does not list tables, so the catalog is also how they are found again.
//!
//! A mark is written before the first stream is registered and deleted after the last one is: what is left half-way can be
//! found. The catalog itself stays: another run may be about to write to it.

use super::{
    client::Client,
    names::{CATALOG, END_OF_CATALOG, place_in_catalog, stem, stream},
};
use iotbench_core::{Cause, Error, Name, OwnedObject, SignalId, TableSpec};
use serde::{Deserialize, Serialize};
use serde_json::json;

const OURS: &str = "iotbench ";
const CREATED_BY: &str = concat!("iotbench ", env!("CARGO_PKG_VERSION"));
/// The catalog's columns: a table of one column would be answered without it.
const COLUMNS: [(&str, &str); 2] = [("run_id", "string"), ("mark", "string")];
/// Where the catalog says that it is ours: behind the place of every table.
const FOUNDING_PLACE: u64 = END_OF_CATALOG;

/// A mark as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    created_by: String,
    table: Name,
    run_id: String,
    fingerprint: String,
    stem: String,
    devices: u32,
    signals: SignalId,
}

/// A row of the catalog.
#[derive(Debug, Deserialize)]
struct Row {
    mark: String,
}

impl Mark {
    fn new(table: &TableSpec) -> Result<Self, Error> {
        Ok(Self {
            created_by: CREATED_BY.into(),
            table: table.name.clone(),
            run_id: table.marker.run_id.clone(),
            fingerprint: table.marker.fingerprint.clone(),
            stem: stem(table),
            devices: table.devices,
            signals: SignalId::try_from(table.schema.width()).map_err(|e| Error::new(Cause::Client, e))?,
        })
    }

    fn read(row: &Row) -> Option<Self> {
        serde_json::from_str(&row.mark).ok().filter(|mark: &Self| mark.created_by.starts_with(OURS))
    }

    /// The names of its streams.
    fn streams(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.devices)
            .flat_map(move |device| (0..self.signals).map(move |signal| stream(&self.stem, device, signal)))
    }
}

/// Registers a table's streams in the place of an earlier one of ours.
///
/// # Errors
/// [`Cause::NotOurs`] where there is a table of such a name without our mark: then nothing is left of ours.
pub(crate) async fn create(client: &mut Client, database: &str, table: &TableSpec) -> Result<(), Error> {
    match look(client, &table.name).await? {
        Some(earlier) => remove(client, &earlier).await?,
        None => found_catalog(client, database).await?,
    }
    let mark = Mark::new(table)?;
    put(client, &mark).await?;
    let mut registered = Vec::new();
    for name in mark.streams() {
        match client.register("TIME_SERIES", &name, database, &[("value", "BigDecimal")]).await {
            Ok(()) => registered.push(name),
            Err(e) if e.cause == Cause::NotOurs => {
                for name in &registered {
                    client.delete_table(name).await?;
                }
                client.delete_from_catalog(place_in_catalog(&table.name)).await?;
                let message = format!("{}: choose another table name", e.message);
                return Err(Error::new(Cause::NotOurs, message));
            }
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Makes this run the owner of a table that an earlier run left with the same fingerprint; else changes nothing.
pub(crate) async fn adopt(client: &mut Client, table: &TableSpec) -> Result<bool, Error> {
    let found = look(client, &table.name).await?.filter(|mark| mark.fingerprint == table.marker.fingerprint);
    let Some(mark) = found else { return Ok(false) };
    put(client, &Mark { run_id: table.marker.run_id.clone(), ..mark }).await?;
    Ok(true)
}

/// What the names of the table's streams begin with, whichever run made it.
///
/// # Errors
/// [`Cause::Server`] where it is not there.
pub(crate) async fn stem_of(client: &mut Client, table: &Name) -> Result<String, Error> {
    let found = look(client, table).await?.map(|mark| mark.stem);
    found.ok_or_else(|| {
        Error::new(Cause::Server, format!("table {table} is not there, or its mark: somebody deleted it"))
    })
}

/// Deletes the table if this run made it; everything else is left alone.
pub(crate) async fn drop_own(client: &mut Client, table: &TableSpec) -> Result<(), Error> {
    match look(client, &table.name).await {
        Ok(Some(mark)) if mark.run_id == table.marker.run_id => remove(client, &mark).await,
        Ok(_) => Ok(()),
        Err(e) if e.cause == Cause::NotOurs => Ok(()),
        Err(e) => Err(e),
    }
}

/// Our tables of all runs, by name.
pub(crate) async fn owned(client: &mut Client) -> Result<Vec<OwnedObject>, Error> {
    let rows: Vec<Row> = client.catalog(0, END_OF_CATALOG - 1).await?.unwrap_or_default();
    let marks = rows.iter().filter_map(Mark::read);
    let mut objects: Vec<_> = marks.map(|mark| OwnedObject { name: mark.table, run_id: mark.run_id }).collect();
    objects.sort_unstable_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
    Ok(objects)
}

/// Deletes a table if it still carries the mark of that run.
///
/// # Errors
/// [`Cause::NotOurs`] where it does not.
pub(crate) async fn drop_owned(client: &mut Client, object: &OwnedObject) -> Result<(), Error> {
    match look(client, &object.name).await?.filter(|mark| mark.run_id == object.run_id) {
        Some(mark) => remove(client, &mark).await,
        None => {
            let message = format!("{} does not carry the marker of run {}", object.name, object.run_id);
            Err(Error::new(Cause::NotOurs, message))
        }
    }
}

/// Deletes the streams of a table, and its mark last.
async fn remove(client: &mut Client, mark: &Mark) -> Result<(), Error> {
    for name in mark.streams() {
        client.delete_table(&name).await?;
    }
    client.delete_from_catalog(place_in_catalog(&mark.table)).await
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
        return match founded.filter(|founded| founded.created_by.starts_with(OURS)) {
            Some(_) => Ok(()),
            None => Err(not_ours()),
        };
    }
    client.register("RELATIONAL_TIME_SERIES", CATALOG, database, &COLUMNS).await?;
    write(client, FOUNDING_PLACE, "-", &Founded { created_by: CREATED_BY.into() }).await
}

async fn put(client: &mut Client, mark: &Mark) -> Result<(), Error> {
    write(client, place_in_catalog(&mark.table), &mark.run_id, mark).await
}

async fn write(client: &mut Client, place: u64, run_id: &str, mark: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string(mark).map_err(|e| Error::new(Cause::Client, e))?;
    client.write(&[json!({ "_tableName": CATALOG, "time": place.to_string(), "run_id": run_id, "mark": text })]).await
}

fn not_ours() -> Error {
    Error::new(Cause::NotOurs, format!("the table {CATALOG} does not say that it is iotbench's: it is left alone"))
}

async fn look(client: &mut Client, table: &Name) -> Result<Option<Mark>, Error> {
    let place = place_in_catalog(table);
    let rows: Vec<Row> = client.catalog(place, place).await?.unwrap_or_default();
    let Some(row) = rows.first() else { return Ok(None) };
    match Mark::read(row) {
        Some(mark) if mark.table == *table => Ok(Some(mark)),
        Some(mark) => {
            let message = format!("tables {table} and {} have one place in {CATALOG}: choose another name", mark.table);
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
        let mark = Mark::read(&Row { mark: ours.into() }).unwrap();
        assert_eq!(mark.streams().collect::<Vec<_>>(), ["s_0_0", "s_0_1", "s_1_0", "s_1_1"]);
        for theirs in ["", "7", "{}", &ours.replace("iotbench 0", "somebody 0")] {
            assert_eq!(Mark::read(&Row { mark: theirs.into() }), None, "{theirs}");
        }
    }
}
