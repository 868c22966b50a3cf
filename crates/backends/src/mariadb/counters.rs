//! What the server counts of itself: its status variables. MariaDB, MySQL and their engines name some things differently.

use super::{config::Engine, error::classify, server::text_at};
use async_trait::async_trait;
use iotbench_core::{Counted, Counter, CounterReader, CounterSource, Error};
use sqlx::{Executor, MySqlConnection};
use std::collections::BTreeMap;

/// Where each is from; all are of the whole server.
pub(crate) const SOURCES: &[CounterSource] = &[
    CounterSource::new(
        Counter::RowsWritten,
        "Innodb_rows_inserted; where that is gone, and with MyRocks, Handler_write",
    ),
    CounterSource::new(Counter::RowsRead, "Innodb_rows_read; where that is gone, and with MyRocks, Rows_read"),
    CounterSource::new(Counter::Transactions, "Handler_commit: of a transaction, one of each engine that took part"),
    CounterSource::new(Counter::Rollbacks, "Handler_rollback"),
    CounterSource::new(
        Counter::CacheHits,
        "Innodb_buffer_pool_read_requests - Innodb_buffer_pool_reads; with MyRocks Rocksdb_block_cache_hit",
    ),
    CounterSource::new(Counter::CacheMisses, "Innodb_buffer_pool_reads; with MyRocks Rocksdb_block_cache_miss"),
    CounterSource::new(Counter::WalBytes, "Innodb_os_log_written; with MyRocks Rocksdb_wal_bytes"),
    CounterSource::new(Counter::WalSyncs, "Innodb_os_log_fsyncs, where there is one; with MyRocks Rocksdb_wal_synced"),
    CounterSource::new(Counter::PagesWritten, "Innodb_pages_written; not with MyRocks"),
    CounterSource::new(Counter::LockWaits, "Innodb_row_lock_waits; not with MyRocks"),
    CounterSource::new(
        Counter::Deadlocks,
        "Innodb_deadlocks, where there is one; with MyRocks Rocksdb_row_lock_deadlocks",
    ),
];

/// A way to a counter: a variable, and what is taken from it.
struct Way {
    counter: Counter,
    variable: &'static str,
    less: Option<&'static str>,
}

const fn way(counter: Counter, variable: &'static str) -> Way {
    Way { counter, variable, less: None }
}

/// Of several ways to one counter the first counts whose variables the server has.
const OF_INNODB: &[Way] = &[
    way(Counter::RowsWritten, "Innodb_rows_inserted"),
    way(Counter::RowsWritten, "Handler_write"),
    way(Counter::RowsRead, "Innodb_rows_read"),
    way(Counter::RowsRead, "Rows_read"),
    way(Counter::Transactions, "Handler_commit"),
    way(Counter::Rollbacks, "Handler_rollback"),
    Way { less: Some("Innodb_buffer_pool_reads"), ..way(Counter::CacheHits, "Innodb_buffer_pool_read_requests") },
    way(Counter::CacheMisses, "Innodb_buffer_pool_reads"),
    way(Counter::WalBytes, "Innodb_os_log_written"),
    way(Counter::WalSyncs, "Innodb_os_log_fsyncs"),
    way(Counter::PagesWritten, "Innodb_pages_written"),
    way(Counter::LockWaits, "Innodb_row_lock_waits"),
    way(Counter::Deadlocks, "Innodb_deadlocks"),
];
const OF_MYROCKS: &[Way] = &[
    way(Counter::RowsWritten, "Handler_write"),
    way(Counter::RowsRead, "Rows_read"),
    way(Counter::Transactions, "Handler_commit"),
    way(Counter::Rollbacks, "Handler_rollback"),
    way(Counter::CacheHits, "Rocksdb_block_cache_hit"),
    way(Counter::CacheMisses, "Rocksdb_block_cache_miss"),
    way(Counter::WalBytes, "Rocksdb_wal_bytes"),
    way(Counter::WalSyncs, "Rocksdb_wal_synced"),
    way(Counter::Deadlocks, "Rocksdb_row_lock_deadlocks"),
];

fn ways(engine: Engine) -> &'static [Way] {
    match engine {
        Engine::InnoDb => OF_INNODB,
        Engine::MyRocks => OF_MYROCKS,
    }
}

/// A connection that reads them.
pub(crate) struct MariaDbCounters {
    connection: MySqlConnection,
    ways: &'static [Way],
    sql: String,
}

impl MariaDbCounters {
    pub(crate) fn new(connection: MySqlConnection, engine: Engine) -> Self {
        let ways = ways(engine);
        let names = ways.iter().flat_map(|way| std::iter::once(way.variable).chain(way.less));
        let names: Vec<_> = names.map(|name| format!("'{name}'")).collect();
        let sql = format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({})", names.join(", "));
        Self { connection, ways, sql }
    }
}

#[async_trait]
impl CounterReader for MariaDbCounters {
    async fn read(&mut self) -> Result<Vec<Counted>, Error> {
        let rows = self.connection.fetch_all(self.sql.as_str()).await.map_err(|e| classify(&e))?;
        let mut status = BTreeMap::new();
        for row in &rows {
            let (name, value) = (text_at(row, 0)?, text_at(row, 1)?);
            status.extend(name.zip(value.and_then(|value| value.parse().ok())));
        }
        Ok(counted(self.ways, &status))
    }
}

fn counted(ways: &[Way], status: &BTreeMap<String, u64>) -> Vec<Counted> {
    let mut counted: Vec<Counted> = Vec::new();
    for way in ways {
        let value = status.get(way.variable).copied();
        let less = way.less.map_or(Some(0), |less| status.get(less).copied());
        let is_new = counted.iter().all(|(counter, _)| *counter != way.counter);
        // The two are not read at one instant.
        let value = value.zip(less).map(|(value, less)| value.saturating_sub(less));
        counted.extend(value.filter(|_| is_new).map(|value| (way.counter, value)));
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(of: &[(&str, u64)]) -> BTreeMap<String, u64> {
        of.iter().map(|(name, value)| ((*name).into(), *value)).collect()
    }

    #[test]
    fn a_server_is_asked_in_its_own_words() {
        let mariadb = status(&[("Handler_write", 7), ("Rows_read", 3)]);
        assert_eq!(counted(OF_INNODB, &mariadb), [(Counter::RowsWritten, 7), (Counter::RowsRead, 3)]);
        let mysql = status(&[("Handler_write", 900), ("Innodb_rows_inserted", 7)]);
        assert_eq!(counted(OF_INNODB, &mysql), [(Counter::RowsWritten, 7)], "temporary tables are no rows of ours");
        let cache = status(&[("Innodb_buffer_pool_read_requests", 10), ("Innodb_buffer_pool_reads", 4)]);
        assert_eq!(counted(OF_INNODB, &cache), [(Counter::CacheHits, 6), (Counter::CacheMisses, 4)]);
        let half = status(&[("Innodb_buffer_pool_read_requests", 10)]);
        assert_eq!(counted(OF_INNODB, &half), []);
    }

    #[test]
    fn each_counter_of_an_engine_is_listed() {
        for way in OF_INNODB.iter().chain(OF_MYROCKS) {
            let source = SOURCES.iter().find(|source| source.counter == way.counter);
            assert!(source.is_some_and(|source| source.field.contains(way.variable)), "{}", way.variable);
        }
    }
}
