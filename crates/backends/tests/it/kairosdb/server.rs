//! The server of the tests, and a look at it from outside.

use crate::harness;
use iotbench_core::{Backend, Batch, Database, Layout, Run, TableSpec, Value, ValueType};
use serde_json::json;
use std::sync::Arc;
use url::Url;

/// The server's address; `None` where there is none, which is told.
pub fn url() -> Option<Url> {
    harness::url("kairosdb")
}

pub fn backend() -> &'static dyn Backend {
    harness::backend("kairosdb")
}

pub fn open(url: &Url, settings: serde_json::Value, table: TableSpec) -> Arc<dyn Database> {
    harness::open("kairosdb", url, settings, table)
}

/// A table of two signals on two devices.
pub fn table(name: &str, run_id: &str) -> TableSpec {
    harness::table(name, Layout::Wide, &[("a", ValueType::F64), ("b", ValueType::U16)], run_id)
}

/// Datapoints of device 1, a millisecond apart.
pub fn batch(table: &TableSpec, first: u64, count: u32) -> Batch {
    let mut batch = Batch::new(&table.schema);
    let run = Run { device: 1, first, count };
    batch.append(run, |times, columns| {
        for index in run.indices() {
            times.push(1_700_000_000_000_000_000 + i64::try_from(index).unwrap() * 1_000_000);
            assert!(columns[0].push(Value::F64(1.5)) && columns[1].push(Value::U16(7)));
        }
    });
    batch
}

/// Every metric that is not the server's own, with its values, as text.
pub fn contents(url: &Url) -> Vec<String> {
    let names: serde_json::Value = serde_json::from_str(&request(url, "GET", "/api/v1/metricnames", "")).unwrap();
    let names = names["results"].as_array().unwrap().iter().filter_map(|name| name.as_str().map(str::to_owned));
    let mut contents: Vec<_> = names
        .filter(|name| !name.starts_with("kairosdb."))
        .map(|name| {
            let question =
                json!({"start_absolute": 0, "end_absolute": 4_102_444_800_000_i64, "metrics": [{"name": name}]});
            let answer = request(url, "POST", "/api/v1/datapoints/query", &question.to_string());
            let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
            format!("{name}: {}", answer["queries"][0]["results"][0]["values"])
        })
        .collect();
    contents.sort_unstable();
    contents
}

/// Writes a value from outside.
pub fn write(url: &Url, metric: &str, value: &str) {
    let body = json!([{"name": metric, "timestamp": 1, "type": "string", "value": value, "tags": {"by": "somebody"}}]);
    assert_eq!(request(url, "POST", "/api/v1/datapoints", &body.to_string()), "");
}

pub fn delete(url: &Url, metric: &str) {
    request(url, "DELETE", &format!("/api/v1/metric/{metric}"), "");
}

fn request(url: &Url, method: &str, path: &str, body: &str) -> String {
    harness::request(url, method, path, "application/json", body)
}
