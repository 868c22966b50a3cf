//! One connection that writes: unordered inserts of raw documents.

mod bulk;
mod device;
mod document;
mod documents;
mod narrow;
mod outcome;

use super::{
    config::{Config, Journaled, Members},
    encode::Encoder,
    error::classify,
    layout::Table,
    ownership::uuid_of,
    shards::is_router,
};
use async_trait::async_trait;
use bulk::BulkDocuments;
pub(crate) use device::{path as tag_path, stored as stored_tag, text_of as tag_text};
use document::PointDocuments;
use documents::Documents;
use iotbench_backend_kit::refuse::refuse;
use iotbench_core::{Acknowledged, Action, Applied, Batch, Cause, Error, Layout, Writer};
use mongodb::{
    Database,
    bson::{Document, RawDocumentBuf, Uuid, doc},
};
use narrow::NarrowDocuments;
use outcome::Outcome;
use std::sync::Arc;

/// An insert is one document, of at most 16 MiB.
const MAX_BYTES: usize = 16 << 20;
/// So many documents a server takes at once.
const MAX_DOCUMENTS: usize = 100_000;
/// From this wire version (6.0) on, an insert can name the collection's UUID.
const TAKES_UUID: i32 = 17;

/// What an insert says beside its documents.
struct Head {
    collection: String,
    w: Members,
    j: Journaled,
    /// The collection that is meant: with another of its name nothing is inserted, nor one made where it is gone.
    uuid: Option<[u8; 16]>,
}

/// A connection that inserts batches.
pub(crate) struct MongoWriter {
    database: Database,
    table: Arc<Table>,
    documents: Box<dyn Documents>,
    head: Head,
    /// The length of the greatest insert so far: the room of the next.
    greatest: usize,
    outcome: Outcome,
}

impl MongoWriter {
    pub(crate) async fn new(database: Database, table: Arc<Table>, config: &Config) -> Result<Self, Error> {
        let documents: Box<dyn Documents> = match table.spec.layout {
            Layout::Document | Layout::Wide => Box::new(PointDocuments::new(&table)),
            Layout::Narrow => Box::new(NarrowDocuments::new(&table)),
            Layout::Bulk => Box::new(BulkDocuments::new(&table)),
        };
        let uuid = collection_uuid(&database, &table).await?;
        let head = Head { collection: table.name().into(), w: config.w.clone(), j: config.j, uuid };
        Ok(Self { database, table, documents, head, greatest: 0, outcome: Outcome::default() })
    }

    async fn insert(&mut self, batch: &Batch) -> Result<u64, Error> {
        let count = self.documents.take(batch);
        self.outcome.begin(count);
        let (mut next, mut bytes) = (0, 0);
        while next < count {
            let (end, command) = self.command(batch, next, count);
            bytes += command.len() as u64;
            self.greatest = self.greatest.max(command.len());
            let command = RawDocumentBuf::from_bytes(command).map_err(|e| Error::new(Cause::Client, e))?;
            match self.database.run_raw_command(command).await {
                Ok(reply) => self.outcome.note(next..end, &reply),
                Err(error) => {
                    let error = classify(&error);
                    return Err(self.outcome.ended(error, |stored| self.documents.rows(stored)));
                }
            }
            next = end;
        }
        match self.outcome.finish(|stored| self.documents.rows(stored)) {
            None => Ok(bytes),
            Some(error) => Err(error),
        }
    }

    /// An insert of the documents from `first` on, as many as fit, and where the next begins.
    fn command(&self, batch: &Batch, first: usize, count: usize) -> (usize, Vec<u8>) {
        let mut encoder = Encoder::with_capacity(self.greatest);
        let all = encoder.begin();
        self.head.encode(&mut encoder);
        let array = encoder.begin_array("documents");
        let mut next = first;
        while next < count.min(first + MAX_DOCUMENTS) {
            let before = encoder.len();
            let item = encoder.begin_item(next - first);
            self.documents.encode(batch, next, &mut encoder);
            encoder.end(item);
            // One that is too large by itself is the server's to refuse.
            if encoder.len() > MAX_BYTES - 2 && next > first {
                encoder.truncate(before);
                break;
            }
            next += 1;
        }
        encoder.end(array);
        encoder.end(all);
        (next, encoder.into_bytes())
    }
}

impl Head {
    fn encode(&self, to: &mut Encoder) {
        to.text("insert", &self.collection);
        to.boolean("ordered", false);
        if let Some(uuid) = self.uuid {
            to.uuid("collectionUUID", uuid);
        }
        if self.w == Members::Server && self.j == Journaled::Server {
            return;
        }
        let concern = to.begin_document("writeConcern");
        match &self.w {
            Members::Server => {}
            Members::Majority => to.text("w", "majority"),
            Members::Number(number) => to.int32("w", i32::try_from(*number).unwrap_or(i32::MAX)),
        }
        match self.j {
            Journaled::Server => {}
            Journaled::Yes => to.boolean("j", true),
            Journaled::No => to.boolean("j", false),
        }
        to.end(concern);
    }
}

/// The UUID of the collection, where inserts can ask for it: those into a time series cannot.
async fn collection_uuid(database: &Database, table: &Table) -> Result<Option<[u8; 16]>, Error> {
    let Some(uuid) = uuid_of(database, table.name()).await? else {
        let message = format!("there is no collection {}: somebody dropped it", table.name());
        return Err(Error::new(Cause::Server, message).action(Action::Stop));
    };
    let hello = database.run_command(doc! { "hello": 1 }).await.map_err(|e| classify(&e).applied(Applied::No))?;
    let version = hello.get_i32("maxWireVersion").unwrap_or_default();
    let asks = version >= TAKES_UUID && !is_router(&hello) && table.spec.layout != Layout::Wide;
    Ok(asks.then(|| uuid.bytes()))
}

/// What every command that writes says besides: which collection is meant, and when a write is acknowledged.
pub(crate) async fn said_besides(database: &Database, table: &Table, config: &Config) -> Result<Document, Error> {
    let mut besides = Document::new();
    if let Some(bytes) = collection_uuid(database, table).await? {
        besides.insert("collectionUUID", Uuid::from_bytes(bytes));
    }
    let mut concern = Document::new();
    match &config.w {
        Members::Server => {}
        Members::Majority => drop(concern.insert("w", "majority")),
        Members::Number(number) => drop(concern.insert("w", i32::try_from(*number).unwrap_or(i32::MAX))),
    }
    match config.j {
        Journaled::Server => {}
        Journaled::Yes => drop(concern.insert("j", true)),
        Journaled::No => drop(concern.insert("j", false)),
    }
    if !concern.is_empty() {
        besides.insert("writeConcern", concern);
    }
    Ok(besides)
}

#[async_trait]
impl Writer for MongoWriter {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        refuse(batch, &self.table.spec)?;
        let bytes = self.insert(batch).await?;
        Ok(Acknowledged { points: batch.len() as u64, bytes })
    }
}
