//! The control plane of a VictoriaMetrics server.

use super::{
    client::Client,
    config::Config,
    facts,
    marker::{self, Tables},
    read::{VictoriaReader, count},
    series::Own,
    write,
};
use async_trait::async_trait;
use iotbench_backend_kit::ownership;
use iotbench_core::{Counts, Database, Error, OwnedObject, Reader, ServerFacts, Settled, TableSpec, Writer};
use std::sync::{Arc, Mutex, PoisonError};

/// A server, and the series on it that are ours.
pub(crate) struct VictoriaDatabase {
    config: Config,
    table: Arc<TableSpec>,
    /// Which series these are, once they were made, taken over or found.
    own: Mutex<Option<Own>>,
}

impl VictoriaDatabase {
    pub(crate) fn new(config: Config, table: TableSpec) -> Self {
        Self { config, table: Arc::new(table), own: Mutex::default() }
    }

    async fn client(&self) -> Result<Client, Error> {
        Client::connect(&self.config.server).await
    }

    /// Our tables, for what is done to one of this run.
    async fn tables_of<'a>(&'a self, run_id: &'a str) -> Result<Tables<'a>, Error> {
        let (client, database) = (self.client().await?, &self.config.database);
        Ok(Tables { client, database, table: &self.table, run_id, own: None })
    }

    async fn ours(&self) -> Result<Tables<'_>, Error> {
        self.tables_of(&self.table.marker.run_id).await
    }

    fn keep(&self, own: Option<Own>) {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) = own;
    }

    /// Our series, as known or as their marker says.
    async fn own(&self, client: &mut Client) -> Result<Own, Error> {
        let known = self.own.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match known {
            Some(own) => Ok(own),
            None => self.find(client).await,
        }
    }

    async fn find(&self, client: &mut Client) -> Result<Own, Error> {
        let own = marker::find(client, &self.config.database, &self.table.name).await?;
        self.keep(Some(own.clone()));
        Ok(own)
    }
}

#[async_trait]
impl Database for VictoriaDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        facts::facts(&mut self.client().await?, self.config.gzip).await
    }

    async fn create(&self) -> Result<(), Error> {
        let mut ours = self.ours().await?;
        ownership::create(&mut ours).await?;
        self.keep(ours.own);
        Ok(())
    }

    async fn adopt(&self) -> Result<bool, Error> {
        let mut ours = self.ours().await?;
        let is_adopted = ownership::adopt(&mut ours).await?.is_some();
        if is_adopted {
            self.keep(ours.own);
        }
        Ok(is_adopted)
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

    async fn drop_created(&self) -> Result<(), Error> {
        self.keep(None);
        ownership::drop_own(&mut self.ours().await?).await
    }

    async fn owned(&self) -> Result<Vec<OwnedObject>, Error> {
        ownership::owned(&mut self.ours().await?).await
    }

    async fn drop_owned(&self, object: &OwnedObject) -> Result<(), Error> {
        ownership::drop_owned(&mut self.tables_of(&object.run_id).await?, object).await
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
