//! Tables, datapoints, and what the server holds.

use crate::{databus::stub::Stub, harness};
use iotbench_core::{Backend, Batch, Database, Layout, Run, TableSpec, Value, ValueType};
use serde_json::json;
use std::sync::Arc;
use url::Url;

pub fn backend() -> &'static dyn Backend {
    harness::backend("databus")
}

pub fn open(url: &Url, table: TableSpec) -> Arc<dyn Database> {
    harness::open("databus", url, json!({}), table)
}

/// A table of two signals on two devices.
pub fn table(name: &str, run_id: &str) -> TableSpec {
    harness::table(name, Layout::Wide, &[("a", ValueType::F64), ("b", ValueType::I64)], run_id)
}

/// Datapoints of device 1, a millisecond apart.
pub fn batch(table: &TableSpec, first: u64, count: u32) -> Batch {
    let mut batch = Batch::new(&table.schema);
    let run = Run { device: 1, first, count };
    batch.append(run, |times, columns| {
        for index in run.indices() {
            times.push(time_ns(index));
            assert!(columns[0].push(Value::F64(1.5)) && columns[1].push(Value::I64(2_147_483_647)));
        }
    });
    batch
}

pub fn time_ns(index: u64) -> i64 {
    1_700_000_000_000_000_000 + i64::try_from(index).unwrap() * 1_000_000
}

/// Every table with its rows, as text.
pub fn contents(stub: &Stub) -> Vec<String> {
    stub.store(|store| store.tables.iter().map(|(name, table)| format!("{name}: {table:?}")).collect())
}
