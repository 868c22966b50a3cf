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

const VARIABLE: &str = "IOTBENCH_TEST_KAIROSDB_URL";

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
    Registry::new(BACKENDS).find("kairosdb").unwrap()
}

pub fn open(url: &Url, settings: serde_json::Value, table: TableSpec) -> Arc<dyn Database> {
    let target = Target { endpoints: vec![Endpoint::new(url.clone())], ..Target::default() };
    let settings = Settings(serde_json::from_value(settings).unwrap());
    patient(backend().open(OpenRequest { target, settings, table }).unwrap())
}

/// A table of two signals on two devices.
pub fn table(name: &str, run_id: &str) -> TableSpec {
    let signal = |name: &str, value_type| Signal { name: name.into(), value_type, max_text_bytes: 0 };
    TableSpec {
        name: Name::new(name).unwrap(),
        layout: Layout::Wide,
        schema: Schema::new(vec![signal("a", ValueType::F64), signal("b", ValueType::U16)]).unwrap(),
        devices: 2,
        marker: Marker { run_id: run_id.into(), fingerprint: "f".into() },
    }
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
    let (host, port) = (url.host_str().unwrap(), url.port().unwrap());
    let mut stream = TcpStream::connect((host, port)).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}
