//! What the tests of all backends share: the servers that there are and what is opened on them, tables, requests from outside,
//! and requests as a stub sees them.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use base64::prelude::*;
use iotbench_backends::BACKENDS;
use iotbench_conformance::patient;
use iotbench_core::{
    Backend, Database, Endpoint, Layout, Marker, Name, OpenRequest, Registry, Schema, Settings, Signal, TableSpec,
    Target, ValueType,
};
use serde_json::Value as Json;
use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
};
use tokio::io::{AsyncRead, AsyncReadExt};
use url::Url;

pub(crate) fn backend(name: &str) -> &'static dyn Backend {
    Registry::new(BACKENDS).find(name).unwrap()
}

/// The address of a backend's server; `None` where there is none and none is demanded, which is told.
pub(crate) fn url(backend: &str) -> Option<Url> {
    address(&format!("IOTBENCH_TEST_{}_URL", backend.to_uppercase()), true)
}

/// The address in a variable. `is_needed`: this server can always be had.
pub(crate) fn address(variable: &str, is_needed: bool) -> Option<Url> {
    if let Ok(url) = std::env::var(variable) {
        return Some(url.parse().unwrap());
    }
    let is_required = is_needed && std::env::var("IOTBENCH_REQUIRE_SERVERS").is_ok_and(|value| value == "1");
    assert!(!is_required, "{variable} is not set, and IOTBENCH_REQUIRE_SERVERS=1");
    skipped(&format!("{variable} is not set (scripts/test starts the servers, scripts/long that of opentsdb)"));
    None
}

#[expect(clippy::print_stdout, clippy::disallowed_macros, reason = "a test that is skipped says so")]
pub(crate) fn skipped(reason: &str) {
    println!("skipped: {reason}");
}

pub(crate) fn request_to_open(url: &Url, settings: Json, table: TableSpec) -> OpenRequest {
    let target = Target { endpoints: vec![Endpoint::new(url.clone())], ..Target::default() };
    OpenRequest { target, settings: Settings(serde_json::from_value(settings).unwrap()), table }
}

pub(crate) fn open(name: &str, url: &Url, settings: Json, table: TableSpec) -> Arc<dyn Database> {
    patient(backend(name).open(request_to_open(url, settings, table)).unwrap())
}

/// A table of these signals on two devices.
pub(crate) fn table(name: &str, layout: Layout, signals: &[(&str, ValueType)], run_id: &str) -> TableSpec {
    let signals = signals.iter().map(|&(name, value_type)| Signal { name: name.into(), value_type, max_text_bytes: 0 });
    TableSpec {
        name: Name::new(name).unwrap(),
        layout,
        schema: Schema::new(signals.collect()).unwrap(),
        devices: 2,
        marker: Marker { run_id: run_id.into(), fingerprint: "f".into() },
    }
}

/// The body of the answer to a request from outside, which the server ends by closing the connection.
pub(crate) fn request(url: &Url, method: &str, path: &str, content_type: &str, body: &str) -> String {
    let (host, port) = (url.host_str().unwrap(), url.port().unwrap());
    let mut stream = TcpStream::connect((host, port)).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.0\r\nHost: {host}\r\n{}Content-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
        authorization(url),
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// The header with the user and the password of an address, with the end of its line; nothing where it has none.
pub(crate) fn authorization(url: &Url) -> String {
    let login = |password| BASE64_STANDARD.encode(format!("{}:{password}", url.username()));
    url.password().map_or_else(String::new, |password| format!("Authorization: Basic {}\r\n", login(password)))
}

/// One request as a stub sees it: its head and its body.
pub(crate) async fn request_of(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let read = stream.read_buf(&mut bytes).await.unwrap();
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]);
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
            if bytes.len() - end - 4 >= length.parse().unwrap() {
                return bytes;
            }
        }
        assert!(read > 0, "the client closed in the middle of a request");
    }
}

/// The same, where it is text.
pub(crate) async fn text_of(stream: &mut (impl AsyncRead + Unpin)) -> String {
    String::from_utf8(request_of(stream).await).unwrap()
}

/// The answer of a stub.
pub(crate) fn answer(status: &str, body: &str) -> String {
    answer_with(status, "", body)
}

/// The same with headers, each with the end of its line.
pub(crate) fn answer_with(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}
