//! One connection that writes: statements of many rows, and the commits around them.

mod bulk;
mod document;
mod narrow;
mod records;
mod statement;
mod wide;

use super::{
    config::{Commit, Config},
    error::classify,
    layout::qualified,
    server::execute,
};
use async_trait::async_trait;
use bulk::BulkRecords;
use document::DocumentRecords;
use iotbench_backend_kit::refuse::refuse;
use iotbench_core::{Acknowledged, Action, Applied, Batch, Cause, Error, Layout, TableSpec, Writer};
use narrow::NarrowRecords;
use records::{Places, Records};
use sqlx::{MySqlConnection, Row};
use statement::InsertStatement;
use std::{ops::Range, sync::Arc};
use wide::WideRecords;

/// A connection that inserts batches.
pub(crate) struct MariaDbWriter {
    connection: MySqlConnection,
    table: Arc<TableSpec>,
    records: Box<dyn Records>,
    statement: InsertStatement,
    /// What sends the batches of the other kind: without the signals that are added, or with them.
    other: Option<(Box<dyn Records>, InsertStatement)>,
    /// Whether `records` lack them.
    lacks_added: bool,
    commit: Commit,
    /// Rows bypass the engine's transactions.
    bulk_load: bool,
    in_transaction: bool,
}

impl MariaDbWriter {
    pub(crate) async fn new(
        mut connection: MySqlConnection,
        database: &str,
        table: Arc<TableSpec>,
        config: &Config,
    ) -> Result<Self, Error> {
        let records: Box<dyn Records> = match table.layout {
            Layout::Wide => Box::new(WideRecords::new(&table, table.schema.signals())),
            Layout::Narrow => Box::new(NarrowRecords::new(&table)),
            Layout::Document => Box::new(DocumentRecords::new(&table)),
            Layout::Bulk => Box::new(BulkRecords::new(&table)),
        };
        let packet_bytes = most_packet_bytes(&mut connection).await?;
        let most_rows = usize::from(config.statement_rows);
        let name = qualified(database, &table);
        let statement =
            |records: &dyn Records| InsertStatement::new(&name, &records.columns(), most_rows, packet_bytes);
        let other = (table.layout == Layout::Wide && table.schema.added() > 0).then(|| {
            let before = WideRecords::new(&table, table.schema.first_signals());
            let statement = statement(&before);
            (Box::new(before) as Box<dyn Records>, statement)
        });
        let statement = statement(&*records);
        let (commit, bulk_load, lacks_added) = (config.commit, config.bulk_load, false);
        let in_transaction = false;
        Ok(Self { connection, table, records, statement, other, lacks_added, commit, bulk_load, in_transaction })
    }

    /// Goes over to the records of batches that lack the signals that are added, or back, where these are others.
    fn follow(&mut self, batch: &Batch) {
        let lacks_added = batch.lacking() > 0;
        if let Some((records, statement)) = self.other.as_mut().filter(|_| self.lacks_added != lacks_added) {
            std::mem::swap(&mut self.records, records);
            std::mem::swap(&mut self.statement, statement);
            self.lacks_added = lacks_added;
        }
    }

    /// Inserts the batch as the settings say, and counts its bytes.
    async fn insert(&mut self, batch: &Batch) -> Result<u64, Error> {
        self.follow(batch);
        let count = self.records.take(batch);
        if self.in_transaction {
            return match self.insert_records(batch, 0..count).await {
                Ok(bytes) => Ok(bytes),
                Err(e) => Err(self.rolled_back(e).await),
            };
        }
        let of_commit = match self.commit {
            Commit::Batch => count,
            Commit::Datapoint => self.records.of_datapoint(),
        };
        let (mut bytes, mut done) = (0, 0);
        while done < count {
            let end = count.min(done + of_commit);
            match self.insert_and_commit(batch, done..end).await {
                Ok(more) => bytes += more,
                Err(e) if e.applied == Applied::No && done > 0 => {
                    let rows = self.records.rows_of_first(done);
                    return Err(e.applied(Applied::Rows(rows)));
                }
                Err(e) => return Err(e),
            }
            done = end;
        }
        Ok(bytes)
    }

    /// Inserts records as one transaction: by one statement, which is one of its own, if they fit.
    async fn insert_and_commit(&mut self, batch: &Batch, of: Range<usize>) -> Result<u64, Error> {
        let (fitting, bytes) = self.statement.fitting(&*self.records, batch, of.clone());
        if fitting == of {
            return match self.insert_statement(batch, of, bytes).await {
                Ok(()) => Ok(bytes as u64),
                Err(e) => Err(in_doubt_when_lost(e)),
            };
        }
        self.begin_open().await?;
        match self.insert_records(batch, of).await {
            Ok(bytes) => self.commit_open().await.map(|()| bytes),
            Err(e) => Err(self.rolled_back(e).await),
        }
    }

    async fn insert_records(&mut self, batch: &Batch, of: Range<usize>) -> Result<u64, Error> {
        let mut sent = 0;
        let mut next = of.start;
        while next < of.end {
            let (records, bytes) = self.statement.fitting(&*self.records, batch, next..of.end);
            next = records.end;
            sent += bytes as u64;
            self.insert_statement(batch, records, bytes).await?;
        }
        Ok(sent)
    }

    async fn insert_statement(&mut self, batch: &Batch, records: Range<usize>, bytes: usize) -> Result<(), Error> {
        let rows = records.len();
        let mut places = Places::with_room(rows * self.statement.columns(), bytes);
        for record in records {
            self.records.bind(batch, record, &mut places).map_err(|e| Error::new(Cause::Data, e))?;
        }
        let query = sqlx::query_with(self.statement.sql(rows), places.0);
        let inserted = query.execute(&mut self.connection).await.map_err(|e| {
            let error = classify(&e);
            if self.bulk_load { error.applied(Applied::Maybe) } else { error }
        })?;
        if inserted.rows_affected() == rows as u64 {
            return Ok(());
        }
        let message = format!("{rows} rows were sent and the server took {}", inserted.rows_affected());
        Err(Error::new(Cause::Server, message).applied(Applied::Maybe))
    }

    /// Begins a transaction, which stores nothing, whatever comes of it.
    async fn begin_open(&mut self) -> Result<(), Error> {
        execute(&mut self.connection, BEGIN).await.map_err(|e| e.applied(Applied::No))
    }

    async fn commit_open(&mut self) -> Result<(), Error> {
        match execute(&mut self.connection, COMMIT).await.map_err(in_doubt_when_lost) {
            Ok(()) => Ok(()),
            // What may still be open must not be committed by the next BEGIN.
            Err(e) => {
                let applied = e.applied.clone();
                Err(self.rolled_back(e).await.applied(applied))
            }
        }
    }

    /// The error, after the open transaction was undone as a whole. With a lost connection the server undoes it.
    async fn rolled_back(&mut self, error: Error) -> Error {
        self.in_transaction = false;
        let undone = execute(&mut self.connection, ROLLBACK).await;
        let error = if self.bulk_load { error } else { error.applied(Applied::No) };
        match undone {
            Err(_) if error.action != Action::Stop => error.action(Action::DiscardWriter),
            _ => error,
        }
    }
}

const BEGIN: &str = "BEGIN";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";

/// An error of what commits: without the server's answer nobody knows whether it did.
fn in_doubt_when_lost(error: Error) -> Error {
    match error.cause {
        Cause::Connect | Cause::Protocol | Cause::Tls => error.applied(Applied::Maybe),
        _ => error,
    }
}

/// The largest packet that the server takes.
async fn most_packet_bytes(connection: &mut MySqlConnection) -> Result<usize, Error> {
    let row = sqlx::query("SELECT @@max_allowed_packet").fetch_one(connection).await.map_err(|e| classify(&e))?;
    let bytes: u64 = row.try_get_unchecked(0).map_err(|e| classify(&e))?;
    Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
}

#[async_trait]
impl Writer for MariaDbWriter {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        refuse(batch, &self.table)?;
        let bytes = self.insert(batch).await?;
        Ok(Acknowledged { points: batch.len() as u64, bytes })
    }

    async fn begin(&mut self) -> Result<(), Error> {
        if self.in_transaction {
            return Err(Error::new(Cause::Client, "a transaction is open already"));
        }
        self.begin_open().await?;
        self.in_transaction = true;
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), Error> {
        if !self.in_transaction {
            return Err(Error::new(Cause::Client, "no transaction is open: an error in it undid it"));
        }
        self.in_transaction = false;
        self.commit_open().await
    }
}
