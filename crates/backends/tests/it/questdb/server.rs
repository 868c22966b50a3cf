//! The server of the tests, and a look at it from outside.

use iotbench_backends::BACKENDS;
use iotbench_core::{
    Backend, Batch, Database, Endpoint, Layout, Marker, Name, OpenRequest, Registry, Run, Schema, Settings, Signal,
    TableSpec, Target, Value, ValueType,
};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    sync::Arc,
};
use url::Url;

const VARIABLE: &str = "IOTBENCH_TEST_QUESTDB_URL";

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
    Registry::new(BACKENDS).find("questdb").unwrap()
}

pub fn open(server: &Server, table: TableSpec) -> Arc<dyn Database> {
    let target = Target { endpoints: vec![Endpoint::new(server.url.clone())], ..Target::default() };
    backend().open(OpenRequest { target, settings: Settings::default(), table }).unwrap()
}

/// A table of two signals on two devices.
pub fn table(name: &str, layout: Layout, run_id: &str) -> TableSpec {
    let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::F64, max_text_bytes: 0 };
    TableSpec {
        name: Name::new(name).unwrap(),
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
    /// Asks from outside, and gives the answer's text.
    pub fn ask(&self, sql: &str) -> String {
        let query: String = url::form_urlencoded::Serializer::new(String::new()).append_pair("query", sql).finish();
        let (host, port) = (self.url.host_str().unwrap(), self.url.port().unwrap());
        let mut stream = TcpStream::connect((host, port)).unwrap();
        let request = format!("GET /exec?nm=true&{query} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        body_of(BufReader::new(stream))
    }

    /// Every table whose name begins so, and its mark, with all rows.
    pub fn contents(&self, prefix: &str) -> Vec<String> {
        let answer = self.ask("SELECT table_name FROM tables() ORDER BY table_name");
        let names = answer.split('"').filter(|word| word.trim_start_matches("iotbench_mark_").starts_with(prefix));
        names.map(|name| format!("{name}: {}", self.ask(&format!("SELECT * FROM \"{name}\"")))).collect()
    }

    /// Drops whatever an earlier test left.
    pub fn clear(&self, prefix: &str) {
        for table in self.contents(prefix) {
            self.ask(&format!("DROP TABLE \"{}\"", table.split(':').next().unwrap()));
        }
    }
}

/// The body of an answer that comes in chunks. The server leaves the connection open behind it.
fn body_of(mut answer: impl BufRead) -> String {
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        assert!(answer.read_line(&mut line).unwrap() > 0, "the answer ends in its head");
    }
    let mut body = Vec::new();
    loop {
        line.clear();
        answer.read_line(&mut line).unwrap();
        let length = u64::from_str_radix(line.trim(), 16).unwrap();
        if length == 0 {
            return String::from_utf8(body).unwrap();
        }
        answer.by_ref().take(length).read_to_end(&mut body).unwrap();
        answer.read_line(&mut line).unwrap();
    }
}
