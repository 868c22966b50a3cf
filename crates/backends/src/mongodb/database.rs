//! The control plane of a MongoDB database.

use super::{
    clients::Clients,
    config::Config,
    error::classify,
    facts,
    layout::Table,
    ownership::{self as own, Collections},
    read::MongoReader,
    write::MongoWriter,
};
use async_trait::async_trait;
use iotbench_backend_kit::ownership;
use iotbench_core::{Cause, Counts, Database, Error, OwnedObject, Reader, ServerFacts, Settled, Writer};
use mongodb::bson::{Bson, doc};
use std::sync::Arc;

/// A server and the collection on it that is ours.
pub(crate) struct MongoDatabase {
    clients: Clients,
    table: Arc<Table>,
    config: Config,
}

impl MongoDatabase {
    pub(crate) fn new(clients: Clients, table: Table, config: Config) -> Self {
        Self { clients, table: Arc::new(table), config }
    }

    async fn ours(&self) -> Result<Collections<'_>, Error> {
        Ok(Collections { database: self.clients.control().await?, table: &self.table })
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
        ownership::create(&mut self.ours().await?).await
    }

    async fn adopt(&self) -> Result<bool, Error> {
        Ok(ownership::adopt(&mut self.ours().await?).await?.is_some())
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

    async fn drop_created(&self) -> Result<(), Error> {
        ownership::drop_own(&mut self.ours().await?).await
    }

    async fn owned(&self) -> Result<Vec<OwnedObject>, Error> {
        ownership::owned(&mut self.ours().await?).await
    }

    async fn drop_owned(&self, object: &OwnedObject) -> Result<(), Error> {
        ownership::drop_owned(&mut self.ours().await?, object).await
    }

    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        let database = self.clients.database().await?;
        Ok(Box::new(MongoWriter::new(database, Arc::clone(&self.table), &self.config).await?))
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(self.open_reader(&self.clients.database().await?)))
    }
}
