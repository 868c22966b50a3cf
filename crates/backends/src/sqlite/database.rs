//! The control plane of a SQLite file.

use super::{
    config::Indexes,
    error::classify,
    file::DatabaseFile,
    layout,
    marker::Tables,
    promise::{promise, synchronous_name},
    read::{SqliteReader, has_added},
    write::SqliteWriter,
};
use async_trait::async_trait;
use iotbench_backend_kit::{devices::Filled, ownership};
use iotbench_core::{
    Acknowledgement, Counts, Database, Error, OwnedObject, Reader, ServerFacts, Settled, TableSpec, Writer,
};
use rusqlite::{Connection, TransactionBehavior};
use std::{collections::BTreeMap, sync::Arc};

/// A SQLite file and the table in it that is ours.
pub(crate) struct SqliteDatabase {
    file: DatabaseFile,
    table: Arc<TableSpec>,
    indexes: Indexes,
    filled: Filled,
}

impl SqliteDatabase {
    pub(crate) fn new(file: DatabaseFile, table: TableSpec, indexes: Indexes) -> Self {
        Self { file, table: Arc::new(table), indexes, filled: Filled::default() }
    }

    fn ours(&self) -> Result<Tables<'_>, Error> {
        Ok(Tables::new(self.file.connect()?, &self.table, self.indexes, &self.filled))
    }

    fn open_reader(&self) -> Result<SqliteReader, Error> {
        SqliteReader::new(self.file.connect_to_read()?, Arc::clone(&self.table))
    }
}

#[async_trait]
impl Database for SqliteDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        let connection = self.file.connect()?;
        facts(&connection, self.indexes).map_err(|e| classify(&e))
    }

    async fn create(&self) -> Result<(), Error> {
        let mut ours = self.ours()?;
        ownership::create(&mut ours).await?;
        if ours.has_replaced { self.file.shrink_if_ours(&ours.into_connection()?) } else { Ok(()) }
    }

    fn devices_made(&self) -> Option<u32> {
        self.filled.devices()
    }

    async fn adopt(&self) -> Result<bool, Error> {
        if !self.file.exists()? {
            return Ok(false);
        }
        Ok(ownership::adopt(&mut self.ours()?).await?.is_some())
    }

    /// What SQLite has acknowledged is visible; this moves it from the write-ahead log to its place, as far as other
    /// connections permit.
    async fn settle(&self) -> Result<Settled, Error> {
        let connection = self.file.connect()?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(|e| classify(&e))?;
        Ok(Settled::Yes)
    }

    async fn count(&self) -> Result<Counts, Error> {
        self.open_reader()?.count()
    }

    async fn add_signals(&self) -> Result<(), Error> {
        let mut connection = self.file.connect()?;
        let mut alter = || {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if !has_added(&transaction, &self.table)? {
                transaction.execute_batch(&layout::add_sql(&self.table))?;
            }
            transaction.commit()
        };
        alter().map_err(|e| classify(&e))
    }

    async fn has_added_signals(&self) -> Result<bool, Error> {
        has_added(&self.file.connect_to_read()?, &self.table).map_err(|e| classify(&e))
    }

    async fn storage_bytes(&self) -> Result<Option<u64>, Error> {
        self.file.bytes().map(Some)
    }

    async fn drop_created(&self) -> Result<(), Error> {
        if !self.file.exists()? {
            return Ok(());
        }
        let mut ours = self.ours()?;
        ownership::drop_own(&mut ours).await?;
        self.file.delete_if_ours_and_empty(ours.into_connection()?)
    }

    async fn owned(&self) -> Result<Vec<OwnedObject>, Error> {
        if !self.file.exists()? {
            return Ok(Vec::new());
        }
        ownership::owned(&mut Tables::new(self.file.connect_to_read()?, &self.table, self.indexes, &self.filled)).await
    }

    async fn drop_owned(&self, object: &OwnedObject) -> Result<(), Error> {
        let mut ours = self.ours()?;
        ownership::drop_owned(&mut ours, object).await?;
        self.file.delete_if_ours_and_empty(ours.into_connection()?)
    }

    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        Ok(Box::new(SqliteWriter::new(self.file.connect()?, Arc::clone(&self.table))?))
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(self.open_reader()?))
    }

    async fn changing_reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(SqliteReader::that_changes(self.file.connect()?, Arc::clone(&self.table))?))
    }
}

/// The version, and the settings that hold on a connection like those that write, read back.
fn facts(connection: &Connection, indexes: Indexes) -> rusqlite::Result<ServerFacts> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let journal_mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    let synchronous = number("synchronous")?;
    let settings = BTreeMap::from([
        ("journal_mode".into(), journal_mode.clone()),
        ("synchronous".into(), synchronous_name(synchronous).into()),
        ("cache_kib".into(), (-number("cache_size")?).to_string()),
        ("page_bytes".into(), number("page_size")?.to_string()),
        ("busy_timeout_ms".into(), number("busy_timeout")?.to_string()),
        ("indexes".into(), indexes.to_string()),
        ("wal_autocheckpoint_pages".into(), number("wal_autocheckpoint")?.to_string()),
    ]);
    Ok(ServerFacts {
        product: "SQLite".into(),
        version: rusqlite::version().into(),
        driver: "rusqlite 0.39, SQLite built in".into(),
        method: "prepared insert, one transaction a batch".into(),
        settings,
        acknowledgement: Acknowledgement::Durable,
        promise: promise(&journal_mode, synchronous),
    })
}
