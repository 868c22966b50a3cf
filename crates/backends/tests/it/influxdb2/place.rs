//! The backend, its table, and the servers of the tests.

use crate::harness;
pub(crate) use crate::harness::address;
use iotbench_core::{Backend, Batch, Database, Layout, Run, TableSpec, Value, ValueType};
use std::{fs, sync::Arc};
use tempfile::NamedTempFile;
use url::Url;

pub fn backend() -> &'static dyn Backend {
    harness::backend("influxdb2")
}

/// A file with a token, which goes with the test.
pub fn token_file(token: &str) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    fs::write(file.path(), format!("{token}\n")).unwrap();
    file
}

pub fn open(url: &Url, settings: serde_json::Value, table: TableSpec) -> Arc<dyn Database> {
    harness::open("influxdb2", url, settings, table)
}

/// A table of two signals on two devices.
pub fn table(name: &str, layout: Layout) -> TableSpec {
    harness::table(name, layout, &[("a", ValueType::F64), ("b", ValueType::F64)], "r")
}

/// So many datapoints of the second device, a second each.
pub fn batch(table: &TableSpec, count: u32) -> Batch {
    let mut batch = Batch::new(&table.schema);
    batch.append(Run { device: 1, first: 0, count }, |times, columns| {
        for index in 0..count {
            times.push(1_700_000_000_000_000_000 + i64::from(index) * 1_000_000_000);
            for column in columns.iter_mut() {
                assert!(column.push(Value::F64(f64::from(index) + 0.5)));
            }
        }
    });
    batch
}

/// The whole of an answer to a request that a server ends by closing the connection.
pub fn get(url: &Url, path: &str) -> String {
    harness::request(url, "GET", path, "text/plain", "")
}
