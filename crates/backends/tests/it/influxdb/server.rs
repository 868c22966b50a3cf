//! The server of the tests, and a look at it from outside.

use iotbench_backends::BACKENDS;
use iotbench_conformance::patient;
use iotbench_core::{
    Backend, Batch, Database, Endpoint, Layout, Marker, Name, OpenRequest, Registry, Run, Schema, Settings, Signal,
    TableSpec, Target, Value, ValueType,
};
use serde_json::json;
use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
};
use url::Url;

const VARIABLE: &str = "IOTBENCH_TEST_INFLUXDB_URL";

/// The server's address; `None` where there is none, which is told.
pub fn url() -> Option<Url> {
    match std::env::var(VARIABLE) {
        Ok(url) => Some(url.parse().unwrap()),
        Err(_) if std::env::var("IOTBENCH_REQUIRE_SERVERS").is_ok_and(|value| value == "1") => {
            panic!("{VARIABLE} is not set, and IOTBENCH_REQUIRE_SERVERS=1")
        }
        Err(_) => {
            skipped();
            None
        }
    }
}

#[expect(clippy::print_stdout, clippy::disallowed_macros, reason = "a test that is skipped says so")]
fn skipped() {
    println!("skipped: {VARIABLE} is not set (scripts/test starts the servers)");
}

pub fn backend() -> &'static dyn Backend {
    Registry::new(BACKENDS).find("influxdb").unwrap()
}

pub fn open(url: &Url, settings: serde_json::Value, table: TableSpec) -> Arc<dyn Database> {
    let target = Target { endpoints: vec![Endpoint::new(url.clone())], ..Target::default() };
    let settings = Settings(serde_json::from_value(settings).unwrap());
    patient(backend().open(OpenRequest { target, settings, table }).unwrap())
}

/// A table of two signals on two devices.
pub fn table(layout: Layout, run_id: &str) -> TableSpec {
    let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::F64, max_text_bytes: 0 };
    TableSpec {
        name: Name::new("readings").unwrap(),
        layout,
        schema: Schema::new(vec![signal("select"), signal("signal")]).unwrap(),
        devices: 2,
        marker: Marker { run_id: run_id.into(), fingerprint: "f".into() },
    }
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
    let body = post(url, "/query", "application/x-www-form-urlencoded", &form);
    serde_json::from_str(&body).unwrap_or_else(|e| panic!("{e}: {body}"))
}

/// Writes lines from outside.
pub fn write(url: &Url, database: &str, lines: &str) {
    let body = post(url, &format!("/write?db={database}"), "text/plain", lines);
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

fn post(url: &Url, path: &str, content_type: &str, body: &str) -> String {
    let (host, port) = (url.host_str().unwrap(), url.port().unwrap());
    let mut stream = TcpStream::connect((host, port)).unwrap();
    let head = format!(
        "POST {path} HTTP/1.0\r\nHost: {host}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}
