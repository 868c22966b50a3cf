//! The server of the tests, and a look at it from outside.

use iotbench_backends::BACKENDS;
use iotbench_core::{
    Backend, Batch, Database, Endpoint, Layout, Marker, Name, OpenRequest, Registry, Run, Schema, Settings, Signal,
    TableSpec, Target, Value, ValueType,
};
use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
};
use url::Url;

const VARIABLE: &str = "IOTBENCH_TEST_VICTORIAMETRICS_URL";

pub struct Server {
    pub url: Url,
}

/// The server's address; `None` where there is none, which is told.
#[expect(clippy::print_stdout, clippy::disallowed_macros, reason = "a test that is skipped says so")]
pub fn server() -> Option<Server> {
    match std::env::var(VARIABLE) {
        Ok(url) => Some(Server { url: url.parse().unwrap() }),
        Err(_) if std::env::var("IOTBENCH_REQUIRE_SERVERS").is_ok_and(|value| value == "1") => {
            panic!("{VARIABLE} is not set, and IOTBENCH_REQUIRE_SERVERS=1")
        }
        Err(_) => {
            println!("skipped: {VARIABLE} is not set (scripts/test starts the servers)");
            None
        }
    }
}

pub fn backend() -> &'static dyn Backend {
    Registry::new(BACKENDS).find("victoriametrics").unwrap()
}

pub fn open(server: &Server, settings: serde_json::Value, table: TableSpec) -> Arc<dyn Database> {
    let target = Target { endpoints: vec![Endpoint::new(server.url.clone())], ..Target::default() };
    let settings = Settings(serde_json::from_value(settings).unwrap());
    backend().open(OpenRequest { target, settings, table }).unwrap()
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
        let mut contents: Vec<String> = self.post(&path, "").lines().map(Into::into).collect();
        contents.sort_unstable();
        contents
    }

    /// Drops whatever an earlier test left.
    pub fn clear(&self, database: &str) {
        self.post("/internal/force_flush", "");
        self.post(&format!("/api/v1/admin/tsdb/delete_series?match[]=%7Bdb=%22{database}%22%7D"), "");
    }

    fn post(&self, path: &str, body: &str) -> String {
        let (host, port) = (self.url.host_str().unwrap(), self.url.port().unwrap());
        let mut stream = TcpStream::connect((host, port)).unwrap();
        let head = format!("POST {path} HTTP/1.0\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }
}
