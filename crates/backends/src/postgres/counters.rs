//! What the server counts of itself: its views of statistics, in one query.

use super::error::classify;
use async_trait::async_trait;
use iotbench_core::{Counted, Counter, CounterReader, CounterSource, Error};
use sqlx::{PgConnection, Row};

/// Where each is from; of the database that holds the table, or of the whole server.
pub(crate) const SOURCES: &[CounterSource] = &[
    CounterSource::new(Counter::RowsWritten, "pg_stat_database.tup_inserted"),
    CounterSource::new(Counter::RowsRead, "pg_stat_database.tup_returned"),
    CounterSource::new(Counter::Transactions, "pg_stat_database.xact_commit"),
    CounterSource::new(Counter::Rollbacks, "pg_stat_database.xact_rollback"),
    CounterSource::new(Counter::CacheHits, "pg_stat_database.blks_hit"),
    CounterSource::new(Counter::CacheMisses, "pg_stat_database.blks_read"),
    CounterSource::new(Counter::WalBytes, "pg_stat_wal.wal_bytes (from 14)"),
    CounterSource::new(Counter::WalSyncs, "pg_stat_wal.wal_sync (14 to 17)"),
    CounterSource::new(
        Counter::Checkpoints,
        "pg_stat_bgwriter.checkpoints_timed + checkpoints_req; from 17 pg_stat_checkpointer.num_timed + num_requested",
    ),
    CounterSource::new(
        Counter::PagesWritten,
        "pg_stat_bgwriter.buffers_checkpoint + buffers_clean; from 17 pg_stat_checkpointer.buffers_written + \
         pg_stat_bgwriter.buffers_clean",
    ),
    CounterSource::new(Counter::Deadlocks, "pg_stat_database.deadlocks"),
    CounterSource::new(Counter::TempBytes, "pg_stat_database.temp_bytes"),
];

/// A figure of the query, and from which of `server_version_num` to before which the server has it.
struct Column {
    counter: Counter,
    sql: &'static str,
    from: i32,
    before: i32,
}

const fn column(counter: Counter, sql: &'static str) -> Column {
    Column { counter, sql, from: 0, before: i32::MAX }
}

const COLUMNS: [Column; 14] = [
    column(Counter::RowsWritten, "d.tup_inserted"),
    column(Counter::RowsRead, "d.tup_returned"),
    column(Counter::Transactions, "d.xact_commit"),
    column(Counter::Rollbacks, "d.xact_rollback"),
    column(Counter::CacheHits, "d.blks_hit"),
    column(Counter::CacheMisses, "d.blks_read"),
    column(Counter::Deadlocks, "d.deadlocks"),
    column(Counter::TempBytes, "d.temp_bytes"),
    Column { from: WAL, ..column(Counter::WalBytes, "(SELECT wal_bytes FROM pg_stat_wal)") },
    Column { from: WAL, before: WAL_IO, ..column(Counter::WalSyncs, "(SELECT wal_sync FROM pg_stat_wal)") },
    Column { before: CHECKPOINTER, ..column(Counter::Checkpoints, "b.checkpoints_timed + b.checkpoints_req") },
    Column { before: CHECKPOINTER, ..column(Counter::PagesWritten, "b.buffers_checkpoint + b.buffers_clean") },
    Column {
        from: CHECKPOINTER,
        ..column(Counter::Checkpoints, "(SELECT num_timed + num_requested FROM pg_stat_checkpointer)")
    },
    Column {
        from: CHECKPOINTER,
        ..column(Counter::PagesWritten, "b.buffers_clean + (SELECT buffers_written FROM pg_stat_checkpointer)")
    },
];
/// The first with `pg_stat_wal`.
const WAL: i32 = 140_000;
/// The first with `pg_stat_checkpointer`.
const CHECKPOINTER: i32 = 170_000;
/// The first that counts the log's syncs in `pg_stat_io`.
const WAL_IO: i32 = 180_000;

/// A connection that reads them.
pub(crate) struct PostgresCounters {
    connection: PgConnection,
    counters: Vec<Counter>,
    sql: String,
}

impl PostgresCounters {
    pub(crate) async fn new(mut connection: PgConnection) -> Result<Self, Error> {
        let sql = "SELECT current_setting('server_version_num')::int";
        let version: i32 = sqlx::query_scalar(sql).fetch_one(&mut connection).await.map_err(|e| classify(&e))?;
        let (counters, sql) = query(version);
        Ok(Self { connection, counters, sql })
    }
}

/// The query of a server of this version, and what its columns are.
fn query(version: i32) -> (Vec<Counter>, String) {
    let has = |column: &&Column| (column.from..column.before).contains(&version);
    let columns: Vec<_> = COLUMNS.iter().filter(has).collect();
    let figures: Vec<_> = columns.iter().map(|column| format!("({})::bigint", column.sql)).collect();
    let sql = format!(
        "SELECT {} FROM pg_stat_database d, pg_stat_bgwriter b WHERE d.datname = current_database()",
        figures.join(", ")
    );
    (columns.iter().map(|column| column.counter).collect(), sql)
}

#[async_trait]
impl CounterReader for PostgresCounters {
    async fn read(&mut self) -> Result<Vec<Counted>, Error> {
        let row = sqlx::query(&self.sql).fetch_one(&mut self.connection).await.map_err(|e| classify(&e))?;
        let mut counted = Vec::with_capacity(self.counters.len());
        for (place, &counter) in self.counters.iter().enumerate() {
            let value: Option<i64> = row.try_get(place).map_err(|e| classify(&e))?;
            counted.extend(value.and_then(|value| u64::try_from(value).ok()).map(|value| (counter, value)));
        }
        Ok(counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_is_asked_for_what_it_has() {
        let (of_15, sql) = query(150_018);
        assert_eq!(of_15.len(), SOURCES.len());
        assert!(
            sql.contains("checkpoints_timed") && sql.contains("wal_sync ") && !sql.contains("checkpointer"),
            "{sql}"
        );
        let (of_13, sql) = query(130_000);
        assert!(!of_13.contains(&Counter::WalBytes) && !sql.contains("pg_stat_wal"), "{sql}");
        let (of_18, sql) = query(180_000);
        assert!(!of_18.contains(&Counter::WalSyncs) && of_18.contains(&Counter::WalBytes));
        assert!(sql.contains("pg_stat_checkpointer") && !sql.contains("checkpoints_timed"), "{sql}");
        let mut sorted = of_15.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().eq(SOURCES.iter().map(|source| &source.counter)), "each has its source");
    }
}
