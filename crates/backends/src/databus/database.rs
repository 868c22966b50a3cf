//! The control plane of a Databus.

use super::{
    client::Client,
    config::Config,
    marker::{self, Tables},
    read::{DatabusReader, count},
    write::DatabusWriter,
};
use async_trait::async_trait;
use iotbench_backend_kit::ownership;
use iotbench_core::{
    Acknowledgement, Counts, Database, Error, OwnedObject, Promise, PromiseLevel, PromiseSource, Reader, ServerFacts,
    TableSpec, Writer,
};
use std::{collections::BTreeMap, sync::Arc};

/// The server, and the streams on it that are ours.
pub(crate) struct DatabusDatabase {
    config: Config,
    table: Arc<TableSpec>,
}

impl DatabusDatabase {
    pub(crate) fn new(config: Config, table: TableSpec) -> Self {
        Self { config, table: Arc::new(table) }
    }

    async fn client(&self) -> Result<Client, Error> {
        Client::connect(&self.config.server).await
    }

    async fn ours(&self) -> Result<Tables<'_>, Error> {
        Ok(Tables { client: self.client().await?, database: &self.config.database, table: &self.table })
    }
}

#[async_trait]
impl Database for DatabusDatabase {
    /// It tells neither its version nor its settings: a look at the catalog tells whether it is there and takes the key.
    async fn ping(&self) -> Result<ServerFacts, Error> {
        self.owned().await?;
        Ok(ServerFacts {
            product: "Databus".into(),
            version: "unknown: it does not tell".into(),
            driver: "hyper 1, own JSON".into(),
            method: "JSON over HTTP".into(),
            settings: BTreeMap::from([("database".to_owned(), self.config.database.clone())]),
            acknowledgement: Acknowledgement::Applied,
            promise: promise(),
        })
    }

    async fn create(&self) -> Result<(), Error> {
        ownership::create(&mut self.ours().await?).await
    }

    async fn adopt(&self) -> Result<bool, Error> {
        Ok(ownership::adopt(&mut self.ours().await?).await?.is_some())
    }

    /// What was acknowledged is visible: a request is answered after its rows went to the store.
    async fn count(&self) -> Result<Counts, Error> {
        let mut client = self.client().await?;
        let stem = marker::stem_of(&mut client, &self.table.name).await?;
        count(&mut client, &stem, &self.table).await.map(|(counts, _)| counts)
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
        let stem = marker::stem_of(&mut self.client().await?, &self.table.name).await?;
        Ok(Box::new(DatabusWriter::connect(&self.config.server, Arc::clone(&self.table), &stem).await?))
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        let mut client = self.client().await?;
        let stem = marker::stem_of(&mut client, &self.table.name).await?;
        Ok(Box::new(DatabusReader::new(client, stem, Arc::clone(&self.table))))
    }
}

/// What it keeps its data in is the server's own setting, `nosql.nosqltype`: Cassandra, or memory.
fn promise() -> Promise {
    let why =
        "Databus does not tell what it keeps its data in, which may be memory (nosql.nosqltype in its configuration)";
    Promise { level: PromiseLevel::Buffered, nodes: 1, source: PromiseSource::Declared(why.into()) }
}
