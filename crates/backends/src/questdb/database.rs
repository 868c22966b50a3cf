//! The control plane of a QuestDB server.

use super::{
    client::Client,
    config::Config,
    error, facts,
    marker::{self, Tables},
    read::{QuestReader, count},
    rows::improper,
    sql::text,
    write,
};
use async_trait::async_trait;
use iotbench_backend_kit::{cell::Cell, ownership};
use iotbench_core::{Counts, Database, Error, OwnedObject, Reader, ServerFacts, Settled, TableSpec, Writer};
use std::sync::Arc;

/// A server, and the table on it that is ours.
pub(crate) struct QuestDatabase {
    config: Config,
    table: Arc<TableSpec>,
}

impl QuestDatabase {
    pub(crate) fn new(config: Config, table: TableSpec) -> Self {
        Self { config, table: Arc::new(table) }
    }

    async fn client(&self) -> Result<Client, Error> {
        Client::connect(&self.config.server).await
    }

    async fn ours(&self) -> Result<Tables<'_>, Error> {
        let (client, partition_by) = (self.client().await?, self.config.partition_by);
        Ok(Tables { client, table: &self.table, partition_by })
    }
}

#[async_trait]
impl Database for QuestDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        facts::facts(&mut self.client().await?, self.config.gzip).await
    }

    async fn create(&self) -> Result<(), Error> {
        ownership::create(&mut self.ours().await?).await
    }

    async fn adopt(&self) -> Result<bool, Error> {
        Ok(ownership::adopt(&mut self.ours().await?).await?.is_some())
    }

    /// One look: settled when all transactions of the table's log have been applied.
    async fn settle(&self) -> Result<Settled, Error> {
        let mut looked = None;
        let note = |row: &[Cell<'_>]| {
            let [Cell::Integer(writer), Cell::Integer(sequencer), Cell::Bool(is_suspended), reason] = row else {
                return Err(improper(&"wal_tables() has other columns"));
            };
            if *is_suspended {
                return Err(error::suspended(&format!("table {} is suspended {reason}", self.table.name)));
            }
            looked = Some(if writer == sequencer { Settled::Yes } else { Settled::NotYet });
            Ok(())
        };
        let name = text(self.table.name.as_str());
        let select =
            format!("SELECT writerTxn, sequencerTxn, suspended, errorMessage FROM wal_tables() WHERE name = {name}");
        self.client().await?.ask(&select, note).await?;
        Ok(looked.unwrap_or(Settled::CannotTell))
    }

    async fn count(&self) -> Result<Counts, Error> {
        let mut client = self.client().await?;
        marker::check_exists(&mut client, &self.table.name).await?;
        count(&mut client, &self.table).await.map(|(counts, _)| counts)
    }

    async fn storage_bytes(&self) -> Result<Option<u64>, Error> {
        let mut bytes = None;
        let note = |row: &[Cell<'_>]| {
            if let [Cell::Integer(size)] = row {
                bytes = u64::try_from(*size).ok();
            }
            Ok(())
        };
        let name = text(self.table.name.as_str());
        let select = format!("SELECT diskSize FROM table_storage() WHERE tableName = {name}");
        self.client().await?.ask(&select, note).await?;
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
        Ok(Box::new(write::writer(&self.config, Arc::clone(&self.table)).await?))
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(QuestReader::new(self.client().await?, Arc::clone(&self.table))))
    }
}
