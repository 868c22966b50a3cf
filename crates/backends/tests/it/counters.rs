//! What each server counts of itself, on the real server: what was written is counted, and nothing that is not declared.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::harness::{backend, open, table, url};
use iotbench_core::{Batch, Counted, Counter, CounterReader, Database, Layout, Run, TableSpec, Value, ValueType};
use serde_json::{Value as Json, json};
use std::{sync::Arc, time::Duration};

const ROWS: u32 = 5_000;
/// A server may tell what it has counted some time later; the limit only ends a test that would hang.
const MAX_LOOKS: u32 = 1_200;
const PAUSE: Duration = Duration::from_millis(50);

fn counted_table(name: &str) -> TableSpec {
    table(name, Layout::Wide, &[("a", ValueType::F64)], "counters")
}

fn batch() -> Batch {
    let mut batch = Batch::new(&counted_table("a").schema);
    batch.append(Run { device: 0, first: 0, count: ROWS }, |times, columns| {
        for index in 0..ROWS {
            times.push(1_700_000_000_000_000_000 + i64::from(index) * 1_000_000_000);
            assert!(columns[0].push(Value::F64(index.into())));
        }
    });
    batch
}

/// The database, where there is a server.
fn opened(name: &'static str, settings: Json) -> Option<Arc<dyn Database>> {
    let mut url = url(name)?;
    if name == "mongodb" {
        url.set_path("iotbench_counters");
    }
    // Two engines share a server.
    let table = if settings.get("engine").is_some() { "counted_by_engine" } else { "counted" };
    Some(open(name, &url, settings, counted_table(table)))
}

fn value(counted: &[Counted], counter: Counter) -> Option<u64> {
    counted.iter().find(|(of, _)| *of == counter).map(|(_, value)| *value)
}

/// Waits until a counter has grown by so much.
#[expect(clippy::disallowed_methods, reason = "a server tells some time later what it has counted")]
async fn grown(reader: &mut Box<dyn CounterReader>, before: &[Counted], (counter, by): (Counter, u64)) {
    let before = value(before, counter).unwrap_or_else(|| panic!("{counter:?} is not counted"));
    let mut now = before;
    for _ in 0..MAX_LOOKS {
        now = value(&reader.read().await.unwrap(), counter).unwrap();
        if now >= before + by {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
    panic!("{counter:?} grew from {before} to {now}, and not by {by}");
}

/// Writes, and waits until each of these has grown by so much at least.
async fn counts_what_is_written(name: &'static str, settings: Json, expected: &[(Counter, u64)]) {
    let Some(database) = opened(name, settings) else { return };
    database.create().await.unwrap();
    let mut reader = database.counters().await.unwrap();
    let before = reader.read().await.unwrap();
    let declared = backend(name).info().counters;
    for (counter, _) in &before {
        assert!(declared.iter().any(|source| source.counter == *counter), "{counter:?} is not declared");
        assert_eq!(before.iter().filter(|(of, _)| of == counter).count(), 1, "{counter:?}");
    }
    let mut writer = database.writer().await.unwrap();
    assert_eq!(writer.write(&batch()).await.unwrap().points, u64::from(ROWS));
    drop(writer);
    for &expected in expected {
        grown(&mut reader, &before, expected).await;
    }
    drop(reader);
    database.drop_created().await.unwrap();
}

const WRITTEN: (Counter, u64) = (Counter::RowsWritten, ROWS as u64);

#[cfg(feature = "postgres")]
#[tokio::test]
async fn postgresql_counts_what_is_written() {
    let log = (Counter::WalBytes, u64::from(ROWS) * 8);
    let expected = [WRITTEN, log, (Counter::WalSyncs, 1), (Counter::Transactions, 1), (Counter::CacheHits, 1)];
    counts_what_is_written("postgres", json!({}), &expected).await;
}

#[cfg(feature = "mariadb")]
#[tokio::test]
async fn mariadb_counts_what_is_written() {
    let log = (Counter::WalBytes, u64::from(ROWS) * 8);
    let expected = [WRITTEN, log, (Counter::Transactions, 1), (Counter::CacheHits, 1)];
    counts_what_is_written("mariadb", json!({}), &expected).await;
}

#[cfg(feature = "mariadb")]
#[tokio::test]
async fn mysql_counts_what_is_written() {
    let log = (Counter::WalBytes, u64::from(ROWS) * 8);
    let expected = [WRITTEN, log, (Counter::WalSyncs, 1), (Counter::Transactions, 1), (Counter::CacheHits, 1)];
    counts_what_is_written("mysql", json!({}), &expected).await;
}

/// It counts by its own names.
#[cfg(feature = "mariadb")]
#[tokio::test]
async fn myrocks_counts_what_is_written() {
    let log = (Counter::WalBytes, u64::from(ROWS) * 8);
    counts_what_is_written("mariadb", json!({"engine": "myrocks"}), &[WRITTEN, log, (Counter::Transactions, 1)]).await;
}

#[cfg(feature = "mongodb")]
#[tokio::test]
async fn mongodb_counts_what_is_written() {
    let log = (Counter::WalBytes, u64::from(ROWS) * 8);
    counts_what_is_written("mongodb", json!({}), &[WRITTEN, log, (Counter::WalSyncs, 1), (Counter::CacheHits, 1)])
        .await;
}

#[cfg(feature = "victoriametrics")]
#[tokio::test]
async fn victoriametrics_counts_what_is_written() {
    counts_what_is_written("victoriametrics", json!({}), &[WRITTEN, (Counter::CacheHits, 0)]).await;
}

#[cfg(feature = "questdb")]
#[tokio::test]
async fn questdb_counts_what_is_written() {
    let expected = [WRITTEN, (Counter::Transactions, 1), (Counter::Rollbacks, 0)];
    counts_what_is_written("questdb", json!({}), &expected).await;
}

#[cfg(feature = "clickhouse")]
#[tokio::test]
async fn clickhouse_counts_what_is_written() {
    counts_what_is_written("clickhouse", json!({}), &[WRITTEN, (Counter::CacheHits, 0), (Counter::Compactions, 0)])
        .await;
}

#[cfg(feature = "influxdb")]
#[tokio::test]
async fn influxdb_counts_what_is_written() {
    counts_what_is_written("influxdb", json!({}), &[WRITTEN, (Counter::Flushes, 0), (Counter::Compactions, 0)]).await;
}
