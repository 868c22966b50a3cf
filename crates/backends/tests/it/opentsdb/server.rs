//! The server of the tests, and a look at it from outside.

use crate::harness;
use iotbench_core::{Backend, Batch, Database, Layout, Run, TableSpec, Value, ValueType};
use serde_json::json;
use std::sync::Arc;
use url::Url;

/// The server's address; `None` where there is none, which is told.
pub fn url() -> Option<Url> {
    harness::url("opentsdb")
}

pub fn backend() -> &'static dyn Backend {
    harness::backend("opentsdb")
}

pub fn open(url: &Url, settings: serde_json::Value, table: TableSpec) -> Arc<dyn Database> {
    harness::open("opentsdb", url, settings, table)
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

/// Every value that is stored, of whichever metric, and every note, as text.
pub fn contents(url: &Url) -> Vec<String> {
    let names: Vec<String> =
        serde_json::from_str(&request(url, "GET", "/api/suggest?type=metrics&max=100000", "")).unwrap();
    let mut contents = Vec::new();
    for name in names {
        let question = json!({
            "start": "31536000000", "end": "4102444800000", "msResolution": true,
            "queries": [{"aggregator": "none", "metric": name}],
        });
        let answer: serde_json::Value =
            serde_json::from_str(&request(url, "POST", "/api/query", &question.to_string())).unwrap();
        let series = answer.as_array().unwrap().iter();
        contents.extend(series.map(|series| format!("{name} {} {}", series["tags"], series["dps"])));
    }
    let notes = request(url, "GET", "/api/annotations?start_time=1&end_time=4102444799", "");
    let notes: Vec<serde_json::Value> = serde_json::from_str(&notes).unwrap();
    contents.extend(notes.iter().map(|note| format!("note {} {}", note["description"], note["custom"])));
    contents.sort_unstable();
    contents
}

/// Writes a value from outside.
pub fn write(url: &Url, metric: &str, value: u16) {
    let body = json!({"metric": metric, "timestamp": 1_700_000_000, "value": value, "tags": {"device": "0"}});
    let answer = request(url, "POST", "/api/put?details&sync", &body.to_string());
    assert!(answer.contains("\"success\":1"), "{answer}");
}

/// Deletes a metric's values, and looks until they are gone.
pub fn delete(url: &Url, metric: &str) {
    let path = format!("/api/query?start=31536000000&end=4102444800000&m=none:0all-count:{metric}");
    request(url, "DELETE", &path, "");
    while contents(url).iter().any(|line| line.starts_with(&format!("{metric} "))) {}
}

pub fn request(url: &Url, method: &str, path: &str, body: &str) -> String {
    harness::request(url, method, path, "application/json", body)
}
