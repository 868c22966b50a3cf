//! The control plane of a VictoriaMetrics server.

use super::{
    client::Client,
    config::Config,
    counters::VictoriaCounters,
    facts,
    marker::{self, Known, Tables},
    read::{VictoriaReader, count},
    series::Own,
    write,
};
use async_trait::async_trait;
use iotbench_backend_kit::{changes::Changes, ownership};
use iotbench_core::{
    CounterReader, Counts, Database, Error, OwnedObject, Reader, ServerFacts, Settled, TableSpec, Writer,
};
use std::sync::Arc;

/// A server, and the series on it that are ours.
pub(crate) struct VictoriaDatabase {
    config: Config,
    table: Arc<TableSpec>,
    /// Which series these are, once they were made, taken over or found.
    own: Known,
    changes: Changes,
}

impl VictoriaDatabase {
    pub(crate) fn new(config: Config, table: TableSpec) -> Self {
        Self { config, table: Arc::new(table), own: Known::default(), changes: Changes::default() }
    }

    async fn client(&self) -> Result<Client, Error> {
        Client::connect(&self.config.server).await
    }

    /// Our tables, for what is done to one of this run by calls that outlive this one.
    fn tables_of(&self, run_id: &str) -> impl Future<Output = Result<Tables, Error>> + Send + use<> {
        let (server, database) = (Arc::clone(&self.config.server), self.config.database.clone());
        let (table, run_id, own) = (Arc::clone(&self.table), run_id.to_owned(), self.own.clone());
        async move { Ok(Tables { client: Client::connect(&server).await?, database, table, run_id, own }) }
    }

    fn ours(&self) -> impl Future<Output = Result<Tables, Error>> + Send + use<> {
        self.tables_of(&self.table.marker.run_id)
    }

    /// Our series, as known or as their marker says.
    async fn own(&self, client: &mut Client) -> Result<Own, Error> {
        match self.own.get() {
            Some(own) => Ok(own),
            None => self.find(client).await,
        }
    }

    async fn find(&self, client: &mut Client) -> Result<Own, Error> {
        let own = marker::find(client, &self.config.database, &self.table.name).await?;
        self.own.keep(Some(own.clone()));
        Ok(own)
    }
}

#[async_trait]
impl Database for VictoriaDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        facts::facts(&mut self.client().await?, self.config.gzip).await
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

    /// One flush. One that somebody else has begun may hold rows that this one does not wait for: only counts tell.
    async fn settle(&self) -> Result<Settled, Error> {
        self.client().await?.flush().await?;
        Ok(Settled::CannotTell)
    }

    async fn count(&self) -> Result<Counts, Error> {
        let mut client = self.client().await?;
        let own = self.find(&mut client).await?;
        count(&mut client, &own).await.map(|(counts, _)| counts)
    }

    async fn storage_bytes(&self) -> Result<Option<u64>, Error> {
        facts::disk_bytes(&mut self.client().await?).await
    }

    async fn counters(&self) -> Result<Box<dyn CounterReader>, Error> {
        Ok(Box::new(VictoriaCounters::new(self.client().await?)))
    }

    async fn drop_created(&self) -> Result<(), Error> {
        self.own.keep(None);
        self.changes.drop_own(self.ours()).await
    }

    async fn owned(&self) -> Result<Vec<OwnedObject>, Error> {
        ownership::owned(&mut self.ours().await?).await
    }

    async fn drop_owned(&self, object: &OwnedObject) -> Result<(), Error> {
        self.changes.drop_owned(self.tables_of(&object.run_id), object).await
    }

    async fn renew(&self) -> Result<(), Error> {
        self.changes.renew(self.ours()).await
    }

    async fn release(&self) -> Result<(), Error> {
        self.changes.release(self.ours()).await
    }

    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        let own = self.own(&mut self.client().await?).await?;
        Ok(Box::new(write::writer(&self.config, &own, Arc::clone(&self.table)).await?))
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        let mut client = self.client().await?;
        let own = self.own(&mut client).await?;
        Ok(Box::new(VictoriaReader::new(client, own, Arc::clone(&self.table))))
    }
}
