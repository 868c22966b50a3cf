//! One connection that writes: a layout encodes a batch as records, a method sends them, transactions stand around it.

mod bulk;
mod copy;
mod document;
mod insert;
mod narrow;
mod records;
mod unnest;
mod wide;

use super::{
    config::{self, Commit, Config},
    error::classify,
    layout::Table,
};
use async_trait::async_trait;
use bulk::BulkRecords;
use copy::Copy;
use document::DocumentRecords;
use insert::Insert;
use iotbench_backend_kit::refuse::refuse;
use iotbench_core::{self as core, Acknowledged, Action, Applied, Batch, Cause, Column, Error, TableSpec, Writer};
use narrow::NarrowRecords;
use records::{Portion, Records};
use sqlx::{Executor, PgConnection};
use std::sync::Arc;
use unnest::Unnest;
use wide::WideRecords;

/// How one layout makes records of datapoints.
trait Layout: Send {
    /// Fills the empty records with those of a batch.
    fn encode(&mut self, batch: &Batch, records: &mut Records);
}

/// How records are sent.
#[async_trait]
trait Method: Send {
    /// Whether so many records are a single statement, which PostgreSQL makes a transaction of its own accord.
    fn is_one_statement(&mut self, records: usize) -> bool;

    /// Sends the records.
    async fn send(&mut self, connection: &mut PgConnection, records: Portion<'_>) -> Result<(), sqlx::Error>;
}

/// A connection that writes batches, each as one transaction.
pub(crate) struct PostgresWriter {
    connection: PgConnection,
    table: Arc<Table>,
    layout: Box<dyn Layout>,
    method: Box<dyn Method>,
    commit: Commit,
    records: Records,
    /// What sends the batches of the other kind: without the signals that are added, or with them.
    other: Option<(Box<dyn Method>, Records)>,
    /// Whether `records` lack them.
    lacks_added: bool,
    in_transaction: bool,
}

impl PostgresWriter {
    pub(crate) fn new(connection: PgConnection, table: Arc<Table>, config: &Config) -> Self {
        let has_device = table.spec.has_device_column();
        let layout: Box<dyn Layout> = match table.spec.layout {
            core::Layout::Wide => Box::new(WideRecords { has_device }),
            core::Layout::Narrow => Box::new(NarrowRecords { has_device }),
            core::Layout::Document => Box::new(DocumentRecords::new(&table.spec.schema, has_device)),
            core::Layout::Bulk => Box::new(BulkRecords::new(has_device)),
        };
        let sending = |table: &Table| -> (Box<dyn Method>, Records) {
            let method: Box<dyn Method> = match config.method {
                config::Method::Insert => Box::new(Insert::new(table)),
                config::Method::Unnest => Box::new(Unnest::new(table)),
                config::Method::Copy => Box::new(Copy::new(table)),
            };
            (method, Records::new(&table.columns))
        };
        let (method, records) = sending(&table);
        let other = (!table.added_columns().is_empty()).then(|| sending(&table.before_addition()));
        let (commit, lacks_added, in_transaction) = (config.commit, false, false);
        Self { connection, table, layout, method, commit, records, other, lacks_added, in_transaction }
    }

    /// Goes over to the records of batches that lack the signals that are added, or back, where these are others.
    fn follow(&mut self, batch: &Batch) {
        let lacks_added = batch.lacking() > 0;
        if let Some((method, records)) = self.other.as_mut().filter(|_| self.lacks_added != lacks_added) {
            std::mem::swap(&mut self.method, method);
            std::mem::swap(&mut self.records, records);
            self.lacks_added = lacks_added;
        }
    }

    /// Sends the encoded batch as its transactions.
    async fn send(&mut self, points: usize) -> Result<(), Error> {
        if self.in_transaction {
            return self.send_in_transaction().await;
        }
        match self.commit {
            Commit::Batch => {
                let all = self.records.all();
                transact(&mut self.connection, &mut *self.method, all).await
            }
            Commit::Datapoint => self.send_each(points).await,
        }
    }

    /// As a part of the open transaction, which an error undoes as a whole.
    async fn send_in_transaction(&mut self) -> Result<(), Error> {
        let sent = self.method.send(&mut self.connection, self.records.all()).await;
        let Err(e) = sent else { return Ok(()) };
        self.in_transaction = false;
        Err(rolled_back(&mut self.connection, &e).await)
    }

    /// A transaction a datapoint. The first that fails ends the batch: those before it are stored.
    async fn send_each(&mut self, points: usize) -> Result<(), Error> {
        let each = self.records.count / points.max(1);
        let mut left = self.records.all();
        for point in 0..points {
            let one = left.split_front(each);
            if let Err(e) = transact(&mut self.connection, &mut *self.method, one).await {
                let stored = (0..u32::try_from(point).unwrap_or(u32::MAX)).collect::<Vec<_>>();
                let applied = match &e.applied {
                    Applied::No if !stored.is_empty() => Applied::Rows(stored),
                    other => other.clone(),
                };
                return Err(e.applied(applied));
            }
        }
        Ok(())
    }
}

/// Sends records as one transaction.
async fn transact(connection: &mut PgConnection, method: &mut dyn Method, records: Portion<'_>) -> Result<(), Error> {
    if method.is_one_statement(records.count) {
        return method.send(connection, records).await.map_err(|e| classify(&e));
    }
    connection.execute(BEGIN).await.map_err(|e| classify(&e).applied(Applied::No))?;
    if let Err(e) = method.send(connection, records).await {
        return Err(rolled_back(connection, &e).await);
    }
    commit_open(connection).await
}

/// The error, after the open transaction was undone as a whole. Where the connection ended the server undoes it.
async fn rolled_back(connection: &mut PgConnection, error: &sqlx::Error) -> Error {
    let error = classify(error).applied(Applied::No);
    if error.action == Action::DiscardWriter {
        return error;
    }
    match connection.execute(ROLLBACK).await {
        Ok(_) => error,
        Err(_) => error.action(Action::DiscardWriter),
    }
}

/// A commit that the server refuses is undone; one whose answer is lost may be found committed.
async fn commit_open(connection: &mut PgConnection) -> Result<(), Error> {
    connection.execute(COMMIT).await.map(|_| ()).map_err(|e| classify(&e))
}

const BEGIN: &str = "BEGIN";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";

/// PostgreSQL's text and JSONB hold every character but U+0000.
fn refuse_nul(batch: &Batch, table: &TableSpec) -> Result<(), Error> {
    for (signal, column) in table.schema.signals().iter().zip(batch.columns()) {
        let Column::Text(texts) = column else { continue };
        let bad_row = (0..texts.len()).find(|&row| texts.get(row).is_some_and(|text| text.contains('\0')));
        if let Some(row) = bad_row {
            let message = format!("signal {} of row {row} holds the character U+0000, which no text may", signal.name);
            return Err(Error::new(Cause::Data, message));
        }
    }
    Ok(())
}

#[async_trait]
impl Writer for PostgresWriter {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        refuse(batch, &self.table.spec)?;
        refuse_nul(batch, &self.table.spec)?;
        if batch.is_empty() {
            return Ok(Acknowledged::default());
        }
        self.follow(batch);
        self.records.clear();
        self.layout.encode(batch, &mut self.records);
        self.send(batch.len()).await?;
        Ok(Acknowledged { points: batch.len() as u64, bytes: self.records.bytes() })
    }

    async fn begin(&mut self) -> Result<(), Error> {
        if self.in_transaction {
            return Err(Error::new(Cause::Client, "a transaction is open already"));
        }
        self.connection.execute(BEGIN).await.map_err(|e| classify(&e).applied(Applied::No))?;
        self.in_transaction = true;
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), Error> {
        if !self.in_transaction {
            return Err(Error::new(Cause::Client, "no transaction is open: an error in it undid it"));
        }
        self.in_transaction = false;
        commit_open(&mut self.connection).await
    }
}
