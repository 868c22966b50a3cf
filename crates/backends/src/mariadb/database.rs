//! The control plane of a server.

use super::{
    config::Engine,
    counters::MariaDbCounters,
    error::classify,
    facts::facts,
    layout::{add_sql, quoted},
    lease::HeldByRun,
    marker::{self, Tables},
    read::{MariaDbReader, ReadTable},
    server::{Server, execute, text_at},
    write::MariaDbWriter,
};
use async_trait::async_trait;
use iotbench_backend_kit::{devices::Filled, lease::OwnLease, ownership};
use iotbench_core::{
    Cause, CounterReader, Counts, Database, Error, OwnedObject, Reader, ServerFacts, Settled, TableSpec, Writer,
};
use sqlx::MySqlConnection;
use std::sync::Arc;

/// A server and the table on it that is ours.
pub(crate) struct MariaDbDatabase {
    server: Server,
    table: Arc<TableSpec>,
    lease: OwnLease<HeldByRun>,
    filled: Filled,
}

impl MariaDbDatabase {
    pub(crate) fn new(server: Server, table: TableSpec) -> Self {
        Self { server, table: Arc::new(table), lease: OwnLease::default(), filled: Filled::default() }
    }

    fn database(&self) -> &str {
        &self.server.address.database
    }

    /// The table, and where devices have tags the table of devices.
    fn names(&self) -> impl Iterator<Item = String> + Send + use<> {
        let devices =
            (!self.table.schema.tags().is_empty()).then(|| iotbench_backend_kit::devices::name(&self.table.name));
        std::iter::once(self.table.name.to_string()).chain(devices)
    }

    async fn open_reader(&self) -> Result<MariaDbReader, Error> {
        let mut connection = self.server.connect_to_read().await?;
        // Somebody may have dropped it, and a statement that names it would fail.
        let has_index = marker::has_index(&mut connection, self.database(), &self.table).await?;
        let place = ReadTable::new(self.database(), Arc::clone(&self.table), has_index);
        Ok(MariaDbReader::new(connection, place))
    }

    /// Says on the server that this run uses its table.
    async fn hold(&self) -> Result<(), Error> {
        self.lease.hold(HeldByRun::take(&self.server, &self.table.name)).await
    }

    async fn ours(&self) -> Result<Tables<'_>, Error> {
        Tables::connect(&self.server, &self.table, self.lease.is_held().await, &self.filled).await
    }

    /// Writes what the engine holds in memory of our table to its files.
    async fn flush(&self, connection: &mut MySqlConnection) -> Result<(), Error> {
        match self.server.config.engine {
            Engine::InnoDb => {
                let names = self.names().map(|name| format!("{}.{}", quoted(self.database()), quoted(&name)));
                let names = names.collect::<Vec<_>>().join(", ");
                execute(connection, "SET SESSION lock_wait_timeout = 1").await?;
                execute(connection, &format!("FLUSH TABLES {names} FOR EXPORT")).await?;
                execute(connection, "UNLOCK TABLES").await
            }
            Engine::MyRocks => execute(connection, "SET GLOBAL rocksdb_force_flush_memtable_now = 1").await,
        }
    }
}

#[async_trait]
impl Database for MariaDbDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        facts(&self.server).await
    }

    async fn create(&self) -> Result<(), Error> {
        self.hold().await?;
        ownership::create(&mut self.ours().await?).await
    }

    fn devices_made(&self) -> Option<u32> {
        self.filled.devices()
    }

    async fn adopt(&self) -> Result<bool, Error> {
        self.hold().await?;
        let adopted = ownership::adopt(&mut self.ours().await?).await?.is_some();
        if !adopted {
            self.lease.end().await;
        }
        Ok(adopted)
    }

    /// What the server has acknowledged is visible, but under bulk load, where nobody tells. This moves it from memory
    /// and log to its place, where we may.
    async fn settle(&self) -> Result<Settled, Error> {
        let mut connection = self.server.connect().await?;
        match self.flush(&mut connection).await {
            Ok(()) if self.server.config.bulk_load => Ok(Settled::CannotTell),
            Ok(()) => Ok(Settled::Yes),
            Err(e) if e.cause == Cause::Auth => Ok(Settled::CannotTell),
            // A statement that is still running holds the table.
            Err(e) if e.message.starts_with("error 1205:") => Ok(Settled::NotYet),
            Err(e) => Err(e),
        }
    }

    async fn count(&self) -> Result<Counts, Error> {
        self.open_reader().await?.count().await
    }

    async fn add_signals(&self) -> Result<(), Error> {
        let mut connection = self.server.connect().await?;
        if marker::has_added(&mut connection, self.database(), &self.table).await? {
            return Ok(());
        }
        execute(&mut connection, &add_sql(self.database(), &self.table)).await
    }

    async fn has_added_signals(&self) -> Result<bool, Error> {
        marker::has_added(&mut self.server.connect().await?, self.database(), &self.table).await
    }

    async fn storage_bytes(&self) -> Result<Option<u64>, Error> {
        let mut connection = self.server.connect().await?;
        let mut sum = 0;
        for name in self.names() {
            let of_file = match self.server.config.engine {
                Engine::InnoDb => file_bytes(&mut connection, self.database(), &name).await,
                Engine::MyRocks => None,
            };
            let bytes = match of_file {
                None => statistics_bytes(&mut connection, self.database(), &name).await?,
                of_file => of_file,
            };
            let Some(bytes) = bytes else { return Ok(None) };
            sum += bytes;
        }
        Ok(Some(sum))
    }

    async fn counters(&self) -> Result<Box<dyn CounterReader>, Error> {
        Ok(Box::new(MariaDbCounters::new(self.server.connect().await?, self.server.config.engine)))
    }

    async fn drop_created(&self) -> Result<(), Error> {
        ownership::drop_own(&mut self.ours().await?).await?;
        self.lease.end().await;
        Ok(())
    }

    async fn owned(&self) -> Result<Vec<OwnedObject>, Error> {
        ownership::owned(&mut self.ours().await?).await
    }

    async fn drop_owned(&self, object: &OwnedObject) -> Result<(), Error> {
        ownership::drop_owned(&mut self.ours().await?, object).await
    }

    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        let connection = self.server.connect_to_write().await?;
        let table = Arc::clone(&self.table);
        Ok(Box::new(MariaDbWriter::new(connection, self.database(), table, &self.server.config).await?))
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(self.open_reader().await?))
    }

    async fn changing_reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(self.open_reader().await?.that_changes()))
    }
}

/// The size of the table's file, if the server keeps one for it and lets us see it. MariaDB and MySQL name the view
/// differently; names that a file system would not take are written differently there, and are not found.
async fn file_bytes(connection: &mut MySqlConnection, database: &str, table: &str) -> Option<u64> {
    let file = format!("{database}/{table}");
    for view in ["innodb_sys_tablespaces", "innodb_tablespaces"] {
        let sql = format!("SELECT file_size FROM information_schema.{view} WHERE name = ?");
        if let Ok(Some(row)) = sqlx::query(&sql).bind(&file).fetch_optional(&mut *connection).await {
            return sqlx::Row::try_get_unchecked(&row, 0).ok();
        }
    }
    None
}

/// Data and indexes by the engine's statistics, made anew; `None` where there is no such table.
async fn statistics_bytes(connection: &mut MySqlConnection, database: &str, table: &str) -> Result<Option<u64>, Error> {
    let analyze = format!("ANALYZE NO_WRITE_TO_BINLOG TABLE {}.{}", quoted(database), quoted(table));
    sqlx::query(&analyze).persistent(false).fetch_all(&mut *connection).await.map_err(|e| classify(&e))?;
    let sql = "SELECT CONCAT(data_length + index_length) FROM information_schema.tables \
               WHERE table_schema = ? AND table_name = ?";
    let query = sqlx::query(sql).bind(database).bind(table);
    let row = query.fetch_optional(connection).await.map_err(|e| classify(&e))?;
    Ok(row.map(|row| text_at(&row, 0)).transpose()?.flatten().and_then(|bytes| bytes.parse().ok()))
}
