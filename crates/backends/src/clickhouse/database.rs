//! The control plane of a ClickHouse server.

use super::{
    client::{Client, address, improper},
    config::{Config, Insert},
    counters::ClickHouseCounters,
    error, facts,
    marker::{self, Tables},
    read::ClickHouseReader,
    row_binary::RowBinary,
    sql::{self, quoted, text},
};
use async_trait::async_trait;
use hyper::StatusCode;
use iotbench_backend_kit::{
    cell::Cell,
    changes::Changes,
    http::HttpWriter,
    ownership,
    sql::{AskRows, SqlRows},
};
use iotbench_core::{
    CounterReader, Counts, Database, Error, OwnedObject, Reader, ServerFacts, Settled, TableSpec, Writer,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::sync::Arc;

/// A server, and the table on it that is ours.
pub(crate) struct ClickHouseDatabase {
    config: Arc<Config>,
    table: Arc<TableSpec>,
    changes: Changes,
}

impl ClickHouseDatabase {
    pub(crate) fn new(config: Config, table: TableSpec) -> Self {
        Self { config: Arc::new(config), table: Arc::new(table), changes: Changes::default() }
    }

    async fn client(&self) -> Result<Client, Error> {
        Client::connect(&self.config).await
    }

    /// What is ours, for calls that outlive this one.
    fn ours(&self) -> impl Future<Output = Result<Tables, Error>> + Send + use<> {
        let (config, table) = (Arc::clone(&self.config), Arc::clone(&self.table));
        async move {
            let client = Client::connect(&config).await?;
            Ok(Tables { client, table, partition_by: config.partition_by })
        }
    }
}

#[async_trait]
impl Database for ClickHouseDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        facts::facts(&mut self.client().await?, &self.config).await
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

    /// What is answered is stored, unless the answer came before.
    async fn settle(&self) -> Result<Settled, Error> {
        Ok(if self.config.insert == Insert::AsyncNoWait { Settled::CannotTell } else { Settled::Yes })
    }

    async fn count(&self) -> Result<Counts, Error> {
        let mut client = self.client().await?;
        marker::check_exists(&mut client, &self.table.name).await?;
        let mut rows = SqlRows { client: &mut client, table: &self.table };
        rows.counts(&sql::count(&self.table)).await.map(|(counts, _)| counts)
    }

    async fn storage_bytes(&self) -> Result<Option<u64>, Error> {
        let mut bytes = None;
        let note = |row: &[Cell<'_>]| match row {
            [Cell::Integer(size)] => {
                bytes = u64::try_from(*size).ok();
                Ok(())
            }
            _ => Err(improper(&"a size of other columns")),
        };
        let name = text(self.table.name.as_str());
        let select = format!(
            "SELECT sum(bytes_on_disk) FROM system.parts WHERE database = currentDatabase() AND table = {name} AND active"
        );
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
        let insert = format!("INSERT INTO {} FORMAT RowBinary", quoted(self.table.name.as_str()));
        let insert = utf8_percent_encode(&insert, NON_ALPHANUMERIC);
        let place = address(&self.config, &format!("query={insert}{}", self.config.insert.parameters()))?;
        let encoder = RowBinary::new(Arc::clone(&self.table));
        let connection = self.config.server.connect().await?;
        let writer = HttpWriter::new(connection, place, encoder, self.config.gzip, error::of_write);
        Ok(Box::new(writer.acknowledged_by(StatusCode::OK)))
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(ClickHouseReader::new(self.client().await?, Arc::clone(&self.table))))
    }

    async fn counters(&self) -> Result<Box<dyn CounterReader>, Error> {
        Ok(Box::new(ClickHouseCounters::new(self.client().await?)))
    }
}
