//! The server of the tests, and a look at it from outside.

use crate::harness::{self, request};
use iotbench_core::{Backend, Batch, Database, Layout, Run, TableSpec, Value, ValueType};
use serde_json::json;
use std::sync::Arc;
use url::Url;

/// The server's address; `None` where there is none, which is told.
pub fn url() -> Option<Url> {
    harness::url("influxdb")
}

pub fn backend() -> &'static dyn Backend {
    harness::backend("influxdb")
}

pub fn open(url: &Url, settings: serde_json::Value, table: TableSpec) -> Arc<dyn Database> {
    harness::open("influxdb", url, settings, table)
}

/// A table of two signals on two devices.
pub fn table(layout: Layout, run_id: &str) -> TableSpec {
    harness::table("readings", layout, &[("select", ValueType::F64), ("signal", ValueType::F64)], run_id)
}

pub fn batch(table: &TableSpec, first: u64, count: u32) -> Batch {
    let mut batch = Batch::new(&table.schema);
    let run = Run { device: 1, first, count };
    batch.append(run, |times, columns| {
        for index in run.indices() {
            times.push(i64::try_from(index).unwrap());
            for column in columns.iter_mut() {
                assert!(column.push(Value::F64(1.5)));
            }
        }
    });
    batch
}

/// Settings for a database of the test's own.
pub fn of_database(name: &str) -> serde_json::Value {
    json!({ "database": name })
}

/// Asks the server from outside.
pub fn ask(url: &Url, database: &str, statement: &str) -> serde_json::Value {
    let form: String = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("db", database)
        .append_pair("epoch", "ns")
        .append_pair("q", statement)
        .finish();
    let body = request(url, "POST", "/query", "application/x-www-form-urlencoded", &form);
    serde_json::from_str(&body).unwrap_or_else(|e| panic!("{e}: {body}"))
}

/// Writes lines from outside.
pub fn write(url: &Url, database: &str, lines: &str) {
    let body = request(url, "POST", &format!("/write?db={database}"), "text/plain", lines);
    assert_eq!(body, "", "{lines}");
}

/// Every measurement of a database with its points, as text; empty where there is no such database.
pub fn contents(url: &Url, database: &str) -> Vec<String> {
    let names = ask(url, database, "SHOW MEASUREMENTS");
    let values = names["results"][0]["series"][0]["values"].as_array().cloned().unwrap_or_default();
    let mut contents = Vec::new();
    for name in values.iter().filter_map(|row| row[0].as_str()) {
        let points = ask(url, database, &format!("SELECT * FROM \"{name}\""));
        contents.push(format!("{name}: {}", points["results"][0]["series"]));
    }
    contents
}

/// A database that goes with the test.
pub struct Scratch {
    pub url: Url,
    pub name: String,
}

impl Scratch {
    pub fn new(url: &Url, name: &str) -> Self {
        ask(url, name, &format!("DROP DATABASE \"{name}\""));
        Self { url: url.clone(), name: name.to_owned() }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        ask(&self.url, &self.name, &format!("DROP DATABASE \"{}\"", self.name));
    }
}
