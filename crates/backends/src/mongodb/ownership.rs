//! Creates and drops our collections, and nothing that is not ours.
//!
//! A collection carries no comment, so that its marker lies beside it: the one document of `NAME.iotbench`, which names the
//! run and the collection's UUID. Another collection of the same name has another UUID, and so no marker.

use super::{
    error::{classify, of_code},
    layout::Table,
    shards,
};
use iotbench_backend_kit::{
    flag::{Flag, Flags, Seen},
    marker::{self, CREATED_BY},
    ownership::{Found, Owned, Ownership},
};
use iotbench_core::{Action, Applied, Cause, Error, Marker, Name, OwnedObject};
use mongodb::{
    Database,
    bson::{Bson, Document, Uuid, doc},
};
use std::sync::Arc;

/// The end of the name of a collection that holds a marker.
const OF_MARKERS: &str = ".iotbench";
/// The end of the name of a collection that holds the flags of who uses another.
const OF_FLAGS: &str = ".iotbench_flags";
/// The `_id` of the one document there.
const ID: &str = "marker";
const NAMESPACE_EXISTS: i32 = 48;

/// The collections of ours in a database.
pub(crate) struct Collections {
    pub(crate) database: Database,
    pub(crate) table: Arc<Table>,
}

impl Ownership for Collections {
    type Handle = ();

    fn own(&self) -> (&Name, &Marker) {
        (&self.table.spec.name, &self.table.spec.marker)
    }

    async fn find(&mut self, name: &Name) -> Result<Found, Error> {
        find(&self.database, name.as_str()).await
    }

    async fn make(&mut self, earlier: Option<Owned>) -> Result<(), Error> {
        let (database, table, name) = (&self.database, &*self.table, self.table.name());
        if earlier.is_some() {
            drop_both(database, name).await?;
        }
        mark(database, name, &table.spec.marker, None).await?;
        if let Err(error) = run(database, table.create_command()).await {
            drop_collection(database, &marker_name(name)).await?;
            let is_there = error.message.contains(&format!("({NAMESPACE_EXISTS} "));
            return Err(if is_there { not_ours(database, &format!("collection {name}")) } else { error });
        }
        let uuid = uuid_of(database, name).await?;
        mark(database, name, &table.spec.marker, uuid).await?;
        if let Some(keys) = table.index_keys() {
            let index = doc! { "key": keys, "name": "iotbench_time" };
            run(database, doc! { "createIndexes": name, "indexes": [index] }).await?;
        }
        shards::divide(database, table).await
    }

    /// Only from the run that was found: another may be taking it over at the same time.
    async fn take_over(&mut self, earlier: Owned) -> Result<bool, Error> {
        let filter = doc! { "_id": ID, "run_id": earlier.marker.run_id };
        let update = doc! { "$set": { "run_id": &self.table.spec.marker.run_id } };
        let markers = self.database.collection::<Document>(&marker_name(self.table.name()));
        let changed = markers.update_one(filter, update).await.map_err(|e| classify(&e))?;
        Ok(changed.matched_count == 1)
    }

    async fn remove(&mut self, name: &Name, _: Owned) -> Result<(), Error> {
        drop_both(&self.database, name.as_str()).await
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        let mut owned = Vec::new();
        for entry in list(&self.database, doc! { "name": { "$regex": "\\.iotbench$" } }).await? {
            let of_marker = entry.get_str("name").ok().and_then(|name| name.strip_suffix(OF_MARKERS));
            let Some(name) = of_marker.and_then(|name| Name::new(name).ok()) else { continue };
            if let Found::Ours(Owned { marker, .. }) = find(&self.database, name.as_str()).await? {
                owned.push(OwnedObject { name, run_id: marker.run_id });
            }
        }
        Ok(owned)
    }
}

/// Flags are documents of a collection beside the marker's, each with its owner as `_id`.
impl Flags for Collections {
    async fn flags(&mut self, name: &Name) -> Result<Seen, Error> {
        let hello = run(&self.database, doc! { "hello": 1 }).await?;
        let now_ms = hello.get_datetime("localTime").map(|time| time.timestamp_millis()).ok();
        let flags = documents(&self.database, doc! { "find": flags_name(name), "batchSize": 10_000 }).await?;
        let flags = flags.iter().filter_map(|flag| Flag::of_text(flag.get_str("flag").ok()?)).collect();
        Ok(Seen { flags, now_s: now_ms.and_then(|ms| u64::try_from(ms / 1000).ok()) })
    }

    async fn put_up(&mut self, name: &Name, flag: &Flag, is_new: bool) -> Result<(), Error> {
        let document = doc! { "_id": &flag.owner, "flag": flag.text(), "created_by": CREATED_BY };
        let flags = self.database.collection::<Document>(&flags_name(name));
        let put = flags.replace_one(doc! { "_id": &flag.owner }, document).upsert(is_new).await;
        put.map(drop).map_err(|e| classify(&e))
    }

    /// The last one takes the collection with it; who puts his up just then finds it gone, and puts it up again.
    async fn take_down(&mut self, name: &Name, owner: &str) -> Result<(), Error> {
        let flags = self.database.collection::<Document>(&flags_name(name));
        flags.delete_one(doc! { "_id": owner }).await.map_err(|e| classify(&e))?;
        if documents(&self.database, doc! { "find": flags_name(name), "limit": 1 }).await?.is_empty() {
            drop_collection(&self.database, &flags_name(name)).await?;
        }
        Ok(())
    }
}

fn flags_name(name: &Name) -> String {
    format!("{name}{OF_FLAGS}")
}

/// The UUID of a collection, where there is one: what an insert asks to find, so that it goes into no other.
pub(crate) async fn uuid_of(database: &Database, name: &str) -> Result<Option<Uuid>, Error> {
    // A time series is a view; what it shows lies in its buckets.
    let names = doc! { "$in": [name, format!("system.buckets.{name}")] };
    let found = list(database, doc! { "name": names }).await?;
    let uuid = |entry: &Document| match entry.get_document("info").ok()?.get("uuid")? {
        Bson::Binary(binary) => binary.to_uuid().ok(),
        _ => None,
    };
    Ok(found.iter().find_map(uuid))
}

async fn find(database: &Database, name: &str) -> Result<Found, Error> {
    let foreign = |what: &str| Found::Foreign(not_ours(database, &format!("collection {what}")));
    let marker_name = marker_name(name);
    let there = list(database, doc! { "name": { "$in": [name, &marker_name] } }).await?;
    let is_there = |name: &str| there.iter().any(|entry| entry.get_str("name").is_ok_and(|found| found == name));
    let exists = is_there(name);
    if !is_there(&marker_name) {
        return Ok(if exists { foreign(name) } else { Found::Nothing });
    }
    let found = database.collection::<Document>(&marker_name).find_one(doc! { "_id": ID }).await;
    let Some(found) = found.map_err(|e| classify(&e))? else {
        return Ok(foreign(&marker_name));
    };
    let (Ok(run_id), Ok(fingerprint), Ok(by)) =
        (found.get_str("run_id"), found.get_str("fingerprint"), found.get_str("created_by"))
    else {
        return Ok(foreign(&marker_name));
    };
    let marked = match found.get("uuid") {
        Some(Bson::Binary(binary)) => binary.to_uuid().ok(),
        _ => None,
    };
    let is_same = !exists || (marked.is_some() && marked == uuid_of(database, name).await?);
    if !marker::is_ours(by) || !is_same {
        return Ok(foreign(name));
    }
    let marker = Marker { run_id: run_id.to_owned(), fingerprint: fingerprint.to_owned() };
    Ok(Found::Ours(Owned { marker, exists, handle: () }))
}

async fn mark(database: &Database, name: &str, marker: &Marker, uuid: Option<Uuid>) -> Result<(), Error> {
    let document = doc! {
        "_id": ID,
        "run_id": &marker.run_id,
        "fingerprint": &marker.fingerprint,
        "uuid": uuid.map_or(Bson::Null, Bson::from),
        "created_by": CREATED_BY,
    };
    let markers = database.collection::<Document>(&marker_name(name));
    let marked = markers.replace_one(doc! { "_id": ID }, document).upsert(true).await;
    marked.map(drop).map_err(|e| classify(&e))
}

fn marker_name(name: &str) -> String {
    format!("{name}{OF_MARKERS}")
}

async fn drop_both(database: &Database, name: &str) -> Result<(), Error> {
    drop_collection(database, name).await?;
    drop_collection(database, &marker_name(name)).await
}

async fn drop_collection(database: &Database, name: &str) -> Result<(), Error> {
    // One that is not there is no error to the driver.
    database.collection::<Document>(name).drop().await.map_err(|e| classify(&e))
}

/// The collections, views and time series that a filter finds.
async fn list(database: &Database, filter: Document) -> Result<Vec<Document>, Error> {
    let command = doc! { "listCollections": 1, "filter": filter, "cursor": { "batchSize": 10_000 } };
    documents(database, command).await
}

/// What a command finds that fits into one answer.
async fn documents(database: &Database, command: Document) -> Result<Vec<Document>, Error> {
    let reply = run(database, command).await?;
    let batch = reply.get_document("cursor").and_then(|cursor| cursor.get_array("firstBatch"));
    let batch = batch.map_err(|e| Error::new(Cause::Protocol, e))?;
    Ok(batch.iter().filter_map(Bson::as_document).cloned().collect())
}

/// Runs a command of the control plane, of which a failure leaves nothing in doubt that is not looked at again.
pub(crate) async fn run(database: &Database, command: Document) -> Result<Document, Error> {
    let reply = database.run_command(command).await.map_err(|e| classify(&e).applied(Applied::No))?;
    match reply.get_document("writeConcernError") {
        Ok(error) => {
            let code = error.get_i32("code").unwrap_or_default();
            Err(of_code(code, "writeConcernError", error.get_str("errmsg").unwrap_or_default()))
        }
        Err(_) => Ok(reply),
    }
}

fn not_ours(database: &Database, what: &str) -> Error {
    let message = format!(
        "{what} in database {} exists and does not carry our marker: choose another table name or database",
        database.name()
    );
    Error::new(Cause::NotOurs, message).action(Action::Stop)
}
