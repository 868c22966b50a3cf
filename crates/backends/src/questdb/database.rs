//! The control plane of a QuestDB server.

use super::{
    client::{Client, improper},
    config::Config,
    counters::QuestCounters,
    error, facts,
    marker::{self, Tables},
    read::QuestReader,
    sql::{self, text},
    write,
};
use async_trait::async_trait;
use iotbench_backend_kit::{
    cell::Cell,
    changes::Changes,
    ownership,
    sql::{AskRows, SqlRows},
};
use iotbench_core::{
    CounterReader, Counts, Database, Error, OwnedObject, Reader, ServerFacts, Settled, TableSpec, Writer,
};
use std::sync::Arc;

/// A server, and the table on it that is ours.
pub(crate) struct QuestDatabase {
    config: Arc<Config>,
    table: Arc<TableSpec>,
    changes: Changes,
}

impl QuestDatabase {
    pub(crate) fn new(config: Config, table: TableSpec) -> Self {
        Self { config: Arc::new(config), table: Arc::new(table), changes: Changes::default() }
    }

    async fn client(&self) -> Result<Client, Error> {
        Client::connect(&self.config.server).await
    }

    /// What is ours, for calls that outlive this one.
    fn ours(&self) -> impl Future<Output = Result<Tables, Error>> + Send + use<> {
        let (config, table) = (Arc::clone(&self.config), Arc::clone(&self.table));
        async move {
            let client = Client::connect(&config.server).await?;
            Ok(Tables { client, table, partition_by: config.partition_by })
        }
    }
}

#[async_trait]
impl Database for QuestDatabase {
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
        let has_added = marker::has_added(&mut client, &self.table).await?;
        let mut rows = SqlRows { client: &mut client, table: &self.table };
        rows.counts(&sql::count(&self.table, has_added)).await.map(|(counts, _)| counts)
    }

    async fn add_signals(&self) -> Result<(), Error> {
        let mut client = self.client().await?;
        for alter in sql::add_columns(&self.table) {
            client.run(&alter).await?;
        }
        Ok(())
    }

    async fn has_added_signals(&self) -> Result<bool, Error> {
        marker::has_added(&mut self.client().await?, &self.table).await
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
        Ok(Box::new(write::writer(&self.config, Arc::clone(&self.table)).await?))
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(QuestReader::new(self.client().await?, Arc::clone(&self.table))))
    }

    async fn counters(&self) -> Result<Box<dyn CounterReader>, Error> {
        Ok(Box::new(QuestCounters::new(self.client().await?)))
    }
}
