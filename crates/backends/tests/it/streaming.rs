//! An answer of half a million records passes through the client and never stays in it: while it is read, the memory of
//! this process grows by at most 64 MiB.
//!
//! The servers are named by `IOTBENCH_TEST_<NAME>_URL`. Without one its test is skipped, and fails where
//! `IOTBENCH_REQUIRE_SERVERS=1` demands it. The tests take turns, as they share a process.

#![cfg(all(feature = "sqlite", feature = "mariadb", feature = "postgres", feature = "influxdb"))]
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::harness;
use iotbench_backends::BACKENDS;
use iotbench_core::{
    Batch, Chunk, Database, Devices, Endpoint, Layout, Marker, Name, OpenRequest, Query, Registry, Run, Schema,
    Settings, Signal, TableSpec, Target, TimeRange, Value, ValueType,
};
use serde_json::json;
use std::{fs, ops::Bound, sync::Arc};
use url::Url;

const RECORDS: u32 = 500_000;
/// Records of a write.
const AT_ONCE: u32 = 5_000;
/// Of a record's text: all records together are twice what the client may take.
const TEXT_BYTES: u32 = 256;
const MAX_KIB: u64 = 64 * 1024;

fn table() -> TableSpec {
    let signal = |name: &str, value_type, max_text_bytes| Signal { name: name.into(), value_type, max_text_bytes };
    let signals = vec![
        signal("index", ValueType::I64, 0),
        signal("reading", ValueType::F32, 0),
        signal("remark", ValueType::Text, TEXT_BYTES),
    ];
    TableSpec {
        name: Name::new("streamed").unwrap(),
        layout: Layout::Wide,
        schema: Schema::new(signals).unwrap(),
        devices: 1,
        marker: Marker { run_id: "run-1".into(), fingerprint: "f".into() },
    }
}

async fn fill(database: &dyn Database) {
    let mut writer = database.writer().await.unwrap();
    let mut batch = Batch::new(&table().schema);
    for first in (0..RECORDS).step_by(AT_ONCE as usize) {
        batch.clear();
        batch.append(Run { device: 0, first: first.into(), count: AT_ONCE }, |times, columns| {
            for index in first..first + AT_ONCE {
                let text = format!("{index:->width$}", width = TEXT_BYTES as usize);
                times.push(i64::from(index) * 1_000_000);
                assert!(columns[0].push(Value::I64(index.into())));
                assert!(columns[1].push(Value::F32(0.5)));
                assert!(columns[2].push(Value::Text(&text)));
            }
        });
        writer.write(&batch).await.unwrap();
    }
}

/// The resident memory of this process.
fn rss_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

async fn streams(backend: &str, url: Url, settings: serde_json::Value) {
    let target = Target { endpoints: vec![Endpoint::new(url)], ..Target::default() };
    let settings = Settings(serde_json::from_value(settings).unwrap());
    let request = OpenRequest { target, settings, table: table() };
    let database: Arc<dyn Database> = Registry::new(BACKENDS).find(backend).unwrap().open(request).unwrap();
    database.create().await.unwrap();
    fill(&*database).await;
    let mut reader = database.reader().await.unwrap();
    let range = TimeRange { from: Bound::Unbounded, to: Bound::Unbounded };
    let query = Query::Range { devices: Devices::Some(vec![0]), signals: vec![0, 1, 2], range };
    let before_kib = rss_kib();
    let (mut most_kib, mut next) = (before_kib, 0);
    let mut sink = |chunk: &Chunk| {
        most_kib = most_kib.max(rss_kib());
        for row in 0..chunk.len() {
            assert_eq!(chunk.columns[0].get(row), Some(Value::I64(next)));
            next += 1;
        }
        Ok(())
    };
    let reply = reader.query(&query, &mut sink).await.unwrap();
    drop(reader);
    database.drop_created().await.unwrap();
    assert_eq!(reply.rows, u64::from(RECORDS));
    let grown_kib = most_kib - before_kib;
    assert!(grown_kib <= MAX_KIB, "{backend}: {grown_kib} KiB more than the {before_kib} KiB before");
}

#[tokio::test]
async fn what_is_hoarded_would_show() {
    let before_kib = rss_kib();
    let hoard = vec![1_u8; RECORDS as usize * TEXT_BYTES as usize];
    assert!(rss_kib() - before_kib > MAX_KIB);
    drop(hoard);
}

#[tokio::test]
async fn sqlite_streams() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("streamed.sqlite").display()).parse().unwrap();
    streams("sqlite", url, json!({"synchronous": "OFF"})).await;
}

#[tokio::test]
async fn mariadb_streams() {
    let Some(url) = harness::url("mariadb") else { return };
    streams("mariadb", url, json!({})).await;
}

#[tokio::test]
async fn postgres_streams() {
    let Some(mut url) = harness::url("postgres") else { return };
    url.set_path("postgres");
    streams("postgres", url, json!({"method": "copy", "unlogged": true})).await;
}

#[tokio::test]
async fn influxdb_streams() {
    let Some(url) = harness::url("influxdb") else { return };
    streams("influxdb", url, json!({"database": "streamed"})).await;
}
