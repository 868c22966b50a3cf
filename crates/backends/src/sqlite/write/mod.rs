//! One connection that writes: transactions around what a layout inserts.

mod bind;
mod bulk;
mod document;
mod narrow;
mod wide;

use super::{
    error::{applied_by_failed_commit, classify},
    interrupt::Interruption,
};
use async_trait::async_trait;
use bulk::BulkInsert;
use document::DocumentInsert;
use iotbench_backend_kit::refuse::refuse;
use iotbench_core::{Acknowledged, Action, Applied, Batch, Cause, Error, Interrupt, Layout, TableSpec, Writer};
use narrow::NarrowInsert;
use rusqlite::{Connection, ErrorCode, Statement};
use std::sync::Arc;
use wide::WideInsert;

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
    interruption: Interruption,
}

impl SqliteWriter {
    pub(crate) fn new(connection: Connection, table: Arc<TableSpec>) -> Result<Self, Error> {
        let insert: Box<dyn Insert> = match table.layout {
            Layout::Wide => Box::new(WideInsert::new(&table)),
            Layout::Narrow => Box::new(NarrowInsert::new(&table)),
            Layout::Document => Box::new(DocumentInsert::new(&table)),
            Layout::Bulk => Box::new(BulkInsert::new(&table)),
        };
        let interruption = Interruption::install(&connection).map_err(|e| classify(&e))?;
        Ok(Self { connection, table, insert, interruption })
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
        match self.execute(COMMIT) {
            // One that was interrupted before it committed leaves the transaction open.
            Err(e) if is_interruption(&e) && !self.in_transaction() => Ok(()),
            committed => committed.map_err(|e| {
                let applied = applied_by_failed_commit(&e);
                self.rolled_back(classify(&e).applied(applied))
            }),
        }
    }

    /// The error, after the open transaction was undone as a whole.
    fn rolled_back(&self, error: Error) -> Error {
        if !self.in_transaction() {
            return error;
        }
        match self.execute(ROLLBACK) {
            Ok(()) => error,
            Err(_) => error.applied(Applied::Maybe).action(Action::DiscardWriter),
        }
    }

    fn in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.raw_execute().map(|_| ())
    }
}

/// SQLite asks whether to end once more when a statement has done all that it had to do: what is committed by then says that it
/// was interrupted.
fn is_interruption(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}

/// Runs an INSERT whose values are bound.
fn execute(statement: &mut Statement<'_>, connection: &Connection) -> rusqlite::Result<()> {
    match statement.raw_execute() {
        // It was a transaction of its own, and of one that is undone no row counts as changed.
        Err(e) if is_interruption(&e) && connection.is_autocommit() && connection.changes() > 0 => Ok(()),
        executed => executed.map(|_| ()),
    }
}

const BEGIN: &str = "BEGIN IMMEDIATE";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";

#[async_trait]
impl Writer for SqliteWriter {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        refuse(batch, &self.table)?;
        self.interruption.begin_call();
        let bytes = if batch.is_empty() { 0 } else { self.insert(batch)? };
        Ok(Acknowledged { points: batch.len() as u64, bytes })
    }

    async fn begin(&mut self) -> Result<(), Error> {
        if self.in_transaction() {
            return Err(Error::new(Cause::Client, "a transaction is open already"));
        }
        self.interruption.begin_call();
        self.execute(BEGIN).map_err(|e| classify(&e))
    }

    async fn commit(&mut self) -> Result<(), Error> {
        if !self.in_transaction() {
            return Err(Error::new(Cause::Client, "no transaction is open: an error in it undid it"));
        }
        self.interruption.begin_call();
        self.commit_open()
    }

    fn interrupt(&self) -> Option<Arc<dyn Interrupt>> {
        Some(self.interruption.handle(&self.connection))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::{config::Indexes, layout::create_sql};
    use iotbench_core::{Marker, Name, Run, Schema, Signal, Value, ValueType};

    fn table(layout: Layout) -> TableSpec {
        let signal = Signal { name: "a".into(), value_type: ValueType::Text, max_text_bytes: 4096 };
        TableSpec {
            name: Name::new("t").unwrap(),
            layout,
            schema: Schema::new(vec![signal]).unwrap(),
            devices: 1,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        }
    }

    fn batch(table: &TableSpec, count: u32) -> Batch {
        let mut batch = Batch::new(&table.schema);
        let text = "x".repeat(4096);
        batch.append(Run { device: 0, first: 0, count }, |timestamps, columns| {
            for time in 0..count {
                timestamps.push(time.into());
                assert!(columns[0].push(Value::Text(&text)));
            }
        });
        batch
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    fn rows(writer: &SqliteWriter) -> i64 {
        writer.connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn an_interrupt_between_two_rows_ends_the_write_and_undoes_it() {
        for layout in [Layout::Wide, Layout::Narrow, Layout::Document] {
            let table = table(layout);
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(&create_sql(&table, Indexes::Time)).unwrap();
            let batch = batch(&table, 1000);
            let mut writer = SqliteWriter::new(connection, Arc::new(table)).unwrap();
            let interrupt = writer.interrupt().unwrap();
            interrupt.interrupt();
            block_on(writer.write(&batch)).unwrap();
            // The row is nearly inserted: the statement ends before SQLite looks at its own interrupt.
            let hook = move |_, _: &str, _: &str, row| {
                if row == 1100 {
                    interrupt.interrupt();
                }
            };
            writer.connection.update_hook(Some(hook)).unwrap();
            let error = block_on(writer.write(&batch)).unwrap_err();
            assert_eq!((error.cause, error.applied), (Cause::TimedOut, Applied::No), "layout {layout}");
            assert_eq!(rows(&writer), 1000, "layout {layout}");
        }
    }

    /// Asked to end as it commits, a write says that it is stored when it is.
    #[test]
    fn an_interrupt_while_it_commits_leaves_no_doubt_of_a_write() {
        let table = table(Layout::Wide);
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(&create_sql(&table, Indexes::Time)).unwrap();
        let batches = [batch(&table, 1), batch(&table, 2)];
        let mut writer = SqliteWriter::new(connection, Arc::new(table)).unwrap();
        let interrupt = writer.interrupt().unwrap();
        writer
            .connection
            .commit_hook(Some(move || {
                interrupt.interrupt();
                false
            }))
            .unwrap();
        let (mut stored, mut refused) = (0, 0);
        // SQLite looks every 1,000 steps of a statement: one or the other of so many ends with a look.
        for batch in batches.iter().cycle().take(1000) {
            match block_on(writer.write(batch)) {
                Ok(acknowledged) => stored += acknowledged.points,
                Err(error) => {
                    assert_eq!(error.applied, Applied::No);
                    refused += 1;
                }
            }
            assert_eq!(rows(&writer).unsigned_abs(), stored, "{refused} were refused");
        }
        assert!(stored > 0);
    }

    /// The other way round: rows that an earlier write changed do not make a write that is undone look stored.
    #[test]
    fn a_single_write_that_is_interrupted_before_it_commits_is_not_stored() {
        let table = table(Layout::Wide);
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(&create_sql(&table, Indexes::Time)).unwrap();
        let batch = batch(&table, 1);
        let mut writer = SqliteWriter::new(connection, Arc::new(table)).unwrap();
        block_on(writer.write(&batch)).unwrap();
        let interrupt = writer.interrupt().unwrap();
        // Asked when the row is in, the statement has work left that is long enough for a look.
        let long_work = "CREATE TRIGGER works AFTER INSERT ON t BEGIN SELECT count(*) FROM (WITH RECURSIVE n(i) AS \
            (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i FROM n); END";
        writer.connection.execute_batch(long_work).unwrap();
        writer.connection.update_hook(Some(move |_, _: &str, _: &str, _| interrupt.interrupt())).unwrap();
        let error = block_on(writer.write(&batch)).unwrap_err();
        assert_eq!((error.cause, error.applied), (Cause::TimedOut, Applied::No));
        assert_eq!(rows(&writer), 1);
    }

    #[test]
    fn a_full_database_keeps_nothing_of_the_write_nor_of_its_transaction() {
        for layout in Layout::ALL {
            let table = table(layout);
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(&create_sql(&table, Indexes::Time)).unwrap();
            connection.pragma_update(None, "max_page_count", 30).unwrap();
            let (small, large) = (batch(&table, 1), batch(&table, 100));
            let mut writer = SqliteWriter::new(connection, Arc::new(table)).unwrap();
            block_on(async {
                writer.write(&small).await.unwrap();
                let error = writer.write(&large).await.unwrap_err();
                assert_eq!((error.cause, error.action, error.applied), (Cause::Full, Action::Stop, Applied::No));
                assert_eq!(rows(&writer), 1, "layout {layout}");
                writer.begin().await.unwrap();
                writer.write(&small).await.unwrap();
                assert_eq!(writer.write(&large).await.unwrap_err().cause, Cause::Full);
                assert_eq!(writer.commit().await.unwrap_err().cause, Cause::Client);
                assert_eq!(rows(&writer), 1, "layout {layout}");
                writer.write(&small).await.unwrap();
                assert_eq!(rows(&writer), 2, "layout {layout}");
            });
        }
    }
}
