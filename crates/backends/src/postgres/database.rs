//! The control plane of a PostgreSQL database.

use super::{
    citus,
    config::{Config, Division},
    connector::Connector,
    counters::PostgresCounters,
    error::classify,
    facts,
    layout::Table,
    lease::HeldByRun,
    own_database,
    ownership::Tables,
    read::{PostgresReader, has_added},
    timescale,
    write::PostgresWriter,
};
use async_trait::async_trait;
use iotbench_backend_kit::{lease::OwnLease, ownership};
use iotbench_core::{CounterReader, Counts, Database, Error, OwnedObject, Reader, ServerFacts, Settled, Writer};
use sqlx::Executor;
use std::sync::Arc;

/// A server and the table on it that is ours.
pub(crate) struct PostgresDatabase {
    connector: Connector,
    table: Arc<Table>,
    config: Config,
    lease: OwnLease<HeldByRun>,
}

impl PostgresDatabase {
    pub(crate) fn new(connector: Connector, table: Table, config: Config) -> Self {
        Self { connector, table: Arc::new(table), config, lease: OwnLease::default() }
    }

    /// The table, and where devices have tags the table of devices.
    fn names(&self) -> impl Iterator<Item = &str> + Send {
        let devices = self.table.has_devices().then_some(self.table.devices.as_str());
        std::iter::once(self.table.qualified.as_str()).chain(devices)
    }

    async fn open_reader(&self) -> Result<PostgresReader, Error> {
        let mut connection = self.connector.connect().await?;
        // A question that names a column which is not there fails.
        let lacks_added = !self.table.added_columns().is_empty() && !has_added(&mut connection, &self.table).await?;
        let table = if lacks_added { Arc::new(self.table.before_addition()) } else { Arc::clone(&self.table) };
        Ok(PostgresReader::new(connection, table))
    }

    /// Says on the server that this run uses its table.
    async fn hold(&self) -> Result<(), Error> {
        self.lease.hold(async { HeldByRun::take(self.connector.connect().await?, &self.table).await }).await
    }

    /// Our database, if it is there; that is dropped with the last of what is ours in it.
    async fn ours(&self) -> Result<Option<Tables<'_>>, Error> {
        let connection = self.connector.connect_if_exists().await?;
        let is_leased = self.lease.is_held().await;
        Ok(connection.map(|connection| Tables { connection, table: &self.table, is_leased }))
    }
}

#[async_trait]
impl Database for PostgresDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        let mut connection = own_database::connect_to_any(&self.connector).await?;
        facts::facts(&mut connection, &self.connector, &self.config, &self.table).await
    }

    async fn create(&self) -> Result<(), Error> {
        let mut connection = own_database::connect_or_create(&self.connector, &self.table.spec.marker).await?;
        if let Division::Chunks(_) = self.table.division {
            timescale::ensure(&mut connection).await?;
        }
        self.hold().await?;
        ownership::create(&mut Tables { connection, table: &self.table, is_leased: true }).await
    }

    fn devices_made(&self) -> Option<u32> {
        self.table.filled.devices()
    }

    async fn adopt(&self) -> Result<bool, Error> {
        let Some(connection) = self.connector.connect_if_exists().await? else { return Ok(false) };
        self.hold().await?;
        let mut ours = Tables { connection, table: &self.table, is_leased: true };
        let Some(earlier) = ownership::adopt(&mut ours).await? else {
            self.lease.end().await;
            return Ok(false);
        };
        let marker = &self.table.spec.marker;
        own_database::adopt(&self.connector, &mut ours.connection, &earlier.run_id, marker).await?;
        Ok(true)
    }

    /// What PostgreSQL has acknowledged is visible; this counts it for the planner, which autovacuum does only after a while,
    /// and writes it from the buffers to its files, where we may.
    async fn settle(&self) -> Result<Settled, Error> {
        let mut connection = self.connector.connect().await?;
        for name in self.names() {
            let is_there = sqlx::query_scalar("SELECT to_regclass($1) IS NOT NULL").bind(name);
            let is_there: bool = is_there.fetch_one(&mut connection).await.map_err(|e| classify(&e))?;
            if is_there {
                connection.execute(format!("ANALYZE {name}").as_str()).await.map_err(|e| classify(&e))?;
            }
        }
        let sql = "SELECT rolsuper OR EXISTS (SELECT FROM pg_roles p WHERE p.rolname = 'pg_checkpoint' \
                   AND pg_has_role(current_user, p.oid, 'USAGE')) FROM pg_roles WHERE rolname = current_user";
        let may_checkpoint: bool =
            sqlx::query_scalar(sql).fetch_one(&mut connection).await.map_err(|e| classify(&e))?;
        if may_checkpoint {
            connection.execute("CHECKPOINT").await.map_err(|e| classify(&e))?;
            if self.table.division == Division::Shards {
                connection.execute(citus::CHECKPOINT).await.map_err(|e| classify(&e))?;
            }
        }
        Ok(Settled::Yes)
    }

    async fn count(&self) -> Result<Counts, Error> {
        self.open_reader().await?.count().await
    }

    async fn add_signals(&self) -> Result<(), Error> {
        let mut connection = self.connector.connect().await?;
        connection.execute(self.table.add_sql().as_str()).await.map(|_| ()).map_err(|e| classify(&e))
    }

    async fn has_added_signals(&self) -> Result<bool, Error> {
        has_added(&mut self.connector.connect().await?, &self.table).await
    }

    async fn storage_bytes(&self) -> Result<Option<u64>, Error> {
        let mut connection = self.connector.connect().await?;
        let mut bytes = 0;
        for (name, sql) in self.names().zip([self.table.storage_sql(), self.table.storage_of_devices_sql()]) {
            let of_table = sqlx::query_scalar::<_, i64>(sql).bind(name);
            bytes += of_table.fetch_one(&mut connection).await.map_err(|e| classify(&e))?;
        }
        Ok(u64::try_from(bytes).ok())
    }

    async fn counters(&self) -> Result<Box<dyn CounterReader>, Error> {
        Ok(Box::new(PostgresCounters::new(self.connector.connect().await?).await?))
    }

    async fn drop_created(&self) -> Result<(), Error> {
        let Some(mut ours) = self.ours().await? else { return Ok(()) };
        ownership::drop_own(&mut ours).await?;
        self.lease.end().await;
        own_database::drop_if_empty(&self.connector, ours.connection, &self.table.spec.marker.run_id).await
    }

    async fn owned(&self) -> Result<Vec<OwnedObject>, Error> {
        match self.ours().await? {
            Some(mut ours) => ownership::owned(&mut ours).await,
            None => Ok(Vec::new()),
        }
    }

    async fn drop_owned(&self, object: &OwnedObject) -> Result<(), Error> {
        let Some(mut ours) = self.ours().await? else { return Err(ownership::not_of_run(object)) };
        ownership::drop_owned(&mut ours, object).await?;
        own_database::drop_if_empty(&self.connector, ours.connection, &object.run_id).await
    }

    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        Ok(Box::new(PostgresWriter::new(self.connector.connect().await?, Arc::clone(&self.table), &self.config)))
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(self.open_reader().await?))
    }

    async fn changing_reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(self.open_reader().await?.that_changes()))
    }
}
