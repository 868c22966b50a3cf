//! The backend, its table, and the servers of the tests.

use iotbench_backends::BACKENDS;
use iotbench_core::{
    Backend, Batch, Database, Endpoint, Layout, Marker, Name, OpenRequest, Registry, Run, Schema, Settings, Signal,
    TableSpec, Target, Value, ValueType,
};
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
};
use tempfile::NamedTempFile;
use url::Url;

/// The address in a variable; `None` where it is not set, which is told. `is_needed`: this server can always be had.
#[expect(clippy::print_stdout, clippy::disallowed_macros, reason = "a test that is skipped says so")]
pub fn address(variable: &str, is_needed: bool) -> Option<Url> {
    match std::env::var(variable) {
        Ok(url) => Some(url.parse().unwrap()),
        Err(_) if is_needed && std::env::var("IOTBENCH_REQUIRE_SERVERS").is_ok_and(|value| value == "1") => {
            panic!("{variable} is not set, and IOTBENCH_REQUIRE_SERVERS=1")
        }
        Err(_) => {
            println!("skipped: {variable} is not set (scripts/test starts the servers that there are)");
            None
        }
    }
}

pub fn backend() -> &'static dyn Backend {
    Registry::new(BACKENDS).find("influxdb2").unwrap()
}

/// A file with a token, which goes with the test.
pub fn token_file(token: &str) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    fs::write(file.path(), format!("{token}\n")).unwrap();
    file
}

pub fn open(url: &Url, settings: serde_json::Value, table: TableSpec) -> Arc<dyn Database> {
    let target = Target { endpoints: vec![Endpoint::new(url.clone())], ..Target::default() };
    let settings = Settings(serde_json::from_value(settings).unwrap());
    backend().open(OpenRequest { target, settings, table }).unwrap()
}

/// A table of two signals on two devices.
pub fn table(name: &str, layout: Layout) -> TableSpec {
    let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::F64, max_text_bytes: 0 };
    TableSpec {
        name: Name::new(name).unwrap(),
        layout,
        schema: Schema::new(vec![signal("a"), signal("b")]).unwrap(),
        devices: 2,
        marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
    }
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
    let (host, port) = (url.host_str().unwrap(), url.port().unwrap());
    let mut stream = TcpStream::connect((host, port)).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}
