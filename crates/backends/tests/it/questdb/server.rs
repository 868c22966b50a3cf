//! The server of the tests, and a look at it from outside.

use crate::harness::{self, authorization};
use iotbench_core::{Backend, Batch, Database, Layout, Run, TableSpec, Value, ValueType};
use serde_json::json;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    sync::Arc,
};
use url::Url;

pub struct Server {
    pub url: Url,
}

/// The server; `None` where there is none, which is told.
pub fn server() -> Option<Server> {
    harness::url("questdb").map(|url| Server { url })
}

pub fn backend() -> &'static dyn Backend {
    harness::backend("questdb")
}

pub fn open(server: &Server, table: TableSpec) -> Arc<dyn Database> {
    harness::open("questdb", &server.url, json!({}), table)
}

/// A table of two signals on two devices.
pub fn table(name: &str, layout: Layout, run_id: &str) -> TableSpec {
    harness::table(name, layout, &[("select", ValueType::F64), ("signal", ValueType::F64)], run_id)
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
        let request = format!("GET /exec?nm=true&{query} HTTP/1.1\r\nHost: {host}\r\n{}\r\n", authorization(&self.url));
        stream.write_all(request.as_bytes()).unwrap();
        body_of(BufReader::new(stream))
    }

    /// Every table whose name begins so, its mark and its flags, with all rows.
    pub fn contents(&self, prefix: &str) -> Vec<String> {
        let answer = self.ask("SELECT table_name FROM tables() ORDER BY table_name");
        let of = |word: &str| {
            word.trim_start_matches("iotbench_mark_").trim_start_matches("iotbench_flag_").starts_with(prefix)
        };
        let names = answer.split('"').filter(|word| of(word));
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
