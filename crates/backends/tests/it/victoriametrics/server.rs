//! The server of the tests, and a look at it from outside.

use crate::harness;
use iotbench_core::{Backend, Batch, Database, Layout, Run, TableSpec, Value, ValueType};
use std::sync::Arc;
use url::Url;

pub struct Server {
    pub url: Url,
}

/// The server; `None` where there is none, which is told.
pub fn server() -> Option<Server> {
    harness::url("victoriametrics").map(|url| Server { url })
}

pub fn backend() -> &'static dyn Backend {
    harness::backend("victoriametrics")
}

pub fn open(server: &Server, settings: serde_json::Value, table: TableSpec) -> Arc<dyn Database> {
    harness::open("victoriametrics", &server.url, settings, table)
}

/// A table of two signals on two devices.
pub fn table(layout: Layout, run_id: &str) -> TableSpec {
    harness::table("readings", layout, &[("select", ValueType::F64), ("signal", ValueType::F64)], run_id)
}

/// Datapoints of the second device, a millisecond each, with these values.
pub fn batch(table: &TableSpec, first_ms: i64, values: &[f64]) -> Batch {
    let mut batch = Batch::new(&table.schema);
    let run = Run { device: 1, first: 0, count: u32::try_from(values.len()).unwrap() };
    batch.append(run, |times, columns| {
        for (ms, value) in (first_ms..).zip(values) {
            times.push(ms * 1_000_000);
            for column in columns.iter_mut() {
                assert!(column.push(Value::F64(*value)));
            }
        }
    });
    batch
}

impl Server {
    /// Writes lines from outside, with times in milliseconds.
    pub fn write(&self, database: &str, lines: &str) {
        assert_eq!(self.post(&format!("/write?db={database}&precision=ms"), lines), "", "{lines}");
    }

    /// Every series of a database with its samples, as text.
    pub fn contents(&self, database: &str) -> Vec<String> {
        self.post("/internal/force_flush", "");
        let path = format!("/api/v1/export?match[]=%7Bdb=%22{database}%22%7D&start=0&end=4102444800");
        let mut contents: Vec<String> = self.post(&path, "").lines().map(in_order).collect();
        contents.sort_unstable();
        contents
    }

    /// Drops whatever an earlier test left.
    pub fn clear(&self, database: &str) {
        self.post("/internal/force_flush", "");
        self.post(&format!("/api/v1/admin/tsdb/delete_series?match[]=%7Bdb=%22{database}%22%7D"), "");
    }

    fn post(&self, path: &str, body: &str) -> String {
        harness::request(&self.url, "POST", path, "text/plain", body)
    }
}

/// A series of an export; the server gives samples of equal times in any order.
fn in_order(line: &str) -> String {
    let mut series: serde_json::Value = serde_json::from_str(line).unwrap();
    let of = |key: &str| series[key].as_array().cloned().unwrap_or_default();
    let mut samples: Vec<_> = of("timestamps").into_iter().zip(of("values")).collect();
    samples.sort_by_key(|(time, value)| (time.as_i64(), value.to_string()));
    let (times, values): (Vec<_>, Vec<_>) = samples.into_iter().unzip();
    series["timestamps"] = times.into();
    series["values"] = values.into();
    series.to_string()
}
