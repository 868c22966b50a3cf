//! The server of the tests, and a look at it from outside.

use crate::harness::{self, authorization};
use iotbench_core::{Backend, Database, Layout, TableSpec, ValueType};
use serde_json::{Value, json};
use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
};
use url::Url;

pub struct Server {
    pub url: Url,
    database: &'static str,
}

/// The server, with a new database of this name; `None` where there is none, which is told.
pub fn server(database: &'static str) -> Option<Server> {
    let url = harness::url("clickhouse")?;
    let server = Server { url: url.clone(), database: "default" };
    server.ask(&format!("DROP DATABASE IF EXISTS {database}"));
    server.ask(&format!("CREATE DATABASE {database}"));
    Some(Server { url, database })
}

pub fn backend() -> &'static dyn Backend {
    harness::backend("clickhouse")
}

pub fn open(server: &Server, table: TableSpec) -> Arc<dyn Database> {
    harness::open("clickhouse", &server.url, server.settings(json!({})), table)
}

/// A table of two signals on two devices, whose names are not the server's friends.
pub fn table(name: &str, layout: Layout, run_id: &str) -> TableSpec {
    harness::table(name, layout, &[("select", ValueType::F64), ("iotbench_d", ValueType::F64)], run_id)
}

impl Server {
    /// These settings, and the one that names the database.
    pub fn settings(&self, mut settings: Value) -> Value {
        settings["database"] = self.database.into();
        settings
    }

    /// Asks from outside, and gives the answer's text.
    pub fn ask(&self, sql: &str) -> String {
        let (host, port) = (self.url.host_str().unwrap(), self.url.port().unwrap());
        let mut stream = TcpStream::connect((host, port)).unwrap();
        let authorization = authorization(&self.url);
        let request = format!(
            "POST /?database={} HTTP/1.0\r\nHost: {host}\r\nContent-Length: {}\r\n{authorization}\r\n{sql}",
            self.database,
            sql.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.trim_end().to_owned()
    }

    /// Every table and flag with its columns and all rows.
    pub fn contents(&self) -> Vec<String> {
        let columns = "SELECT name, type, default_expression FROM system.columns WHERE database = currentDatabase()";
        let of = |name: &str| {
            let columns = self.ask(&format!("{columns} AND table = '{name}'"));
            format!("{name}: {columns}: {}", self.ask(&format!("SELECT * FROM `{name}`")))
        };
        self.ask("SHOW TABLES").lines().map(of).collect()
    }
}
