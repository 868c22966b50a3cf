//! One connection that writes: transactions around what a layout inserts.

use super::error::{applied_by_failed_commit, classify};
use crate::refuse::refuse;
use async_trait::async_trait;
use iotbench_core::{Acknowledged, Applied, Batch, Cause, Error, Interrupt, TableSpec, Writer};
use rusqlite::{Connection, InterruptHandle};
use std::sync::Arc;

/// How one layout inserts a batch.
pub(crate) trait Insert: Send {
    /// Whether this batch is a single statement, which SQLite makes a transaction of its own accord.
    fn is_one_statement(&self, batch: &Batch) -> bool;

    /// Inserts the batch and says how many bytes of timestamps and values went to SQLite.
    fn insert(&mut self, connection: &Connection, batch: &Batch) -> rusqlite::Result<u64>;
}

/// A connection that inserts batches, each as one transaction.
pub(crate) struct SqliteWriter {
    connection: Connection,
    table: Arc<TableSpec>,
    insert: Box<dyn Insert>,
}

impl SqliteWriter {
    pub(crate) fn new(connection: Connection, table: Arc<TableSpec>, insert: Box<dyn Insert>) -> Self {
        Self { connection, table, insert }
    }

    fn insert(&mut self, batch: &Batch) -> Result<u64, Error> {
        let in_transaction = self.in_transaction();
        if !in_transaction && self.insert.is_one_statement(batch) {
            let inserted = self.insert.insert(&self.connection, batch);
            return inserted.map_err(|e| classify(&e).applied(applied_by_failed_commit(&e)));
        }
        if !in_transaction {
            self.execute(BEGIN).map_err(|e| classify(&e))?;
        }
        match self.insert.insert(&self.connection, batch) {
            Err(e) => Err(self.rolled_back(classify(&e))),
            Ok(bytes) if in_transaction => Ok(bytes),
            Ok(bytes) => self.commit_open().map(|()| bytes),
        }
    }

    fn commit_open(&mut self) -> Result<(), Error> {
        self.execute(COMMIT).map_err(|e| {
            let applied = applied_by_failed_commit(&e);
            self.rolled_back(classify(&e).applied(applied))
        })
    }

    /// The error, after the open transaction was undone as a whole.
    fn rolled_back(&self, error: Error) -> Error {
        if !self.in_transaction() {
            return error;
        }
        match self.execute(ROLLBACK) {
            Ok(()) => error,
            Err(_) => error.applied(Applied::Maybe).action(iotbench_core::Action::DiscardWriter),
        }
    }

    fn in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.raw_execute().map(|_| ())
    }
}

const BEGIN: &str = "BEGIN IMMEDIATE";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";

#[async_trait]
impl Writer for SqliteWriter {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        refuse(batch, &self.table)?;
        let bytes = if batch.is_empty() { 0 } else { self.insert(batch)? };
        Ok(Acknowledged { points: batch.len() as u64, bytes })
    }

    async fn begin(&mut self) -> Result<(), Error> {
        if self.in_transaction() {
            return Err(Error::new(Cause::Client, "a transaction is open already"));
        }
        self.execute(BEGIN).map_err(|e| classify(&e))
    }

    async fn commit(&mut self) -> Result<(), Error> {
        if !self.in_transaction() {
            return Err(Error::new(Cause::Client, "no transaction is open: an error in it undid it"));
        }
        self.commit_open()
    }

    fn interrupt(&self) -> Option<Arc<dyn Interrupt>> {
        Some(Arc::new(SqliteInterrupt(self.connection.get_interrupt_handle())))
    }
}

/// Ends the statement that a connection is in.
pub(crate) struct SqliteInterrupt(pub(crate) InterruptHandle);

impl Interrupt for SqliteInterrupt {
    fn interrupt(&self) {
        self.0.interrupt();
    }
}
