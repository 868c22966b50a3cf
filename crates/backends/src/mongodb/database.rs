//! The control plane of a MongoDB database.

use super::{
    clients::Clients,
    config::Config,
    counters::MongoCounters,
    error::classify,
    facts,
    layout::Table,
    ownership::{self as own, Collections},
    read::MongoReader,
    write::{MongoWriter, said_besides},
};
use async_trait::async_trait;
use iotbench_backend_kit::{changes::Changes, ownership};
use iotbench_core::{Cause, CounterReader, Counts, Database, Error, OwnedObject, Reader, ServerFacts, Settled, Writer};
use mongodb::bson::{Bson, doc};
use std::sync::Arc;

/// A server and the collection on it that is ours.
pub(crate) struct MongoDatabase {
    clients: Arc<Clients>,
    table: Arc<Table>,
    config: Config,
    changes: Changes,
}

impl MongoDatabase {
    pub(crate) fn new(clients: Clients, table: Table, config: Config) -> Self {
        Self { clients: Arc::new(clients), table: Arc::new(table), config, changes: Changes::default() }
    }

    /// What is ours, for calls that outlive this one.
    fn ours(&self) -> impl Future<Output = Result<Collections, Error>> + Send + use<> {
        let (clients, table) = (Arc::clone(&self.clients), Arc::clone(&self.table));
        async move { Ok(Collections { database: clients.control().await?, table }) }
    }

    fn open_reader(&self, database: &mongodb::Database) -> MongoReader {
        MongoReader::new(database, Arc::clone(&self.table))
    }
}

#[async_trait]
impl Database for MongoDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        let database = self.clients.control().await?;
        facts::facts(&database, &self.table, &self.config, self.clients.address().encryption()).await
    }

    async fn create(&self) -> Result<(), Error> {
        self.changes.create(self.ours()).await
    }

    async fn adopt(&self) -> Result<bool, Error> {
        self.changes.adopt(self.ours()).await
    }

    async fn proceed(&self) -> Result<Settled, Error> {
        self.changes.proceed().await
    }

    /// What MongoDB has acknowledged is visible on the primary; this writes it to its files, where we may.
    async fn settle(&self) -> Result<Settled, Error> {
        let admin = self.clients.control().await?.client().database("admin");
        match admin.run_command(doc! { "fsync": 1 }).await.map_err(|e| classify(&e)) {
            Err(error) if error.cause == Cause::Connect => Err(error),
            // Who may not, or a router that has no files: what is stored is visible all the same.
            _ => Ok(Settled::Yes),
        }
    }

    async fn count(&self) -> Result<Counts, Error> {
        let database = self.clients.control().await?;
        // A collection that is not there would be counted as empty.
        if own::uuid_of(&database, self.table.name()).await?.is_none() {
            let message = format!("there is no collection {}: somebody dropped it", self.table.name());
            return Err(Error::new(Cause::Server, message));
        }
        self.open_reader(&database).count().await
    }

    async fn storage_bytes(&self) -> Result<Option<u64>, Error> {
        let database = self.clients.control().await?;
        let reply = own::run(&database, doc! { "collStats": self.table.name() }).await?;
        let bytes = match reply.get("totalSize") {
            Some(Bson::Int32(bytes)) => u64::try_from(*bytes).ok(),
            Some(Bson::Int64(bytes)) => u64::try_from(*bytes).ok(),
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size is a whole number")]
            Some(Bson::Double(bytes)) => Some(*bytes as u64),
            _ => None,
        };
        Ok(bytes)
    }

    async fn counters(&self) -> Result<Box<dyn CounterReader>, Error> {
        Ok(Box::new(MongoCounters::new(&self.clients.database().await?)))
    }

    async fn drop_created(&self) -> Result<(), Error> {
        self.changes.drop_own(self.ours()).await
    }

    async fn owned(&self) -> Result<Vec<OwnedObject>, Error> {
        ownership::owned(&mut self.ours().await?).await
    }

    async fn drop_owned(&self, object: &OwnedObject) -> Result<(), Error> {
        self.changes.drop_owned(self.ours(), object).await
    }

    async fn renew(&self) -> Result<(), Error> {
        self.changes.renew(self.ours()).await
    }

    async fn release(&self) -> Result<(), Error> {
        self.changes.release(self.ours()).await
    }

    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        let database = self.clients.database().await?;
        Ok(Box::new(MongoWriter::new(database, Arc::clone(&self.table), &self.config).await?))
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(self.open_reader(&self.clients.database().await?)))
    }

    async fn changing_reader(&self) -> Result<Box<dyn Reader>, Error> {
        let database = self.clients.database().await?;
        let besides = said_besides(&database, &self.table, &self.config).await?;
        Ok(Box::new(self.open_reader(&database).that_changes(besides)))
    }
}
