//! What a user says to a server by its own client program; to MongoDB, whose shell is not part of it, by its driver.

use base64::prelude::*;
use http_body_util::BodyExt;
use hyper::{Request, client::conn::http1::handshake};
use hyper_util::rt::TokioIo;
use mongodb::{
    Client,
    bson::{Bson, Document},
};
use std::process::Command;
use tokio::net::TcpStream;
use url::Url;

/// Says it as who the address names, or as whoever may do anything, and returns what was printed.
pub fn say(backend: &str, address: &Url, words: &str) -> String {
    if backend == "mongodb" {
        return run_command(address, words);
    }
    let port = address.port().unwrap().to_string();
    let mut command = match backend {
        "postgres" => {
            let mut psql = Command::new("psql");
            psql.args(["-X", "-q", "-A", "-t", address.as_str(), "-c", words]);
            psql
        }
        "mariadb" => {
            let mut mariadb = Command::new("mariadb");
            mariadb.args(["--no-defaults", "--protocol=tcp", "-h127.0.0.1", "-uroot", "-P", &port, "-e", words]);
            mariadb.env("MYSQL_PWD", address.password().unwrap_or_default());
            mariadb
        }
        _ => {
            let database = address.query_pairs().find(|(key, _)| key == "db").map(|(_, name)| name.into_owned());
            let mut influx = Command::new("influx");
            influx.args(["-host", "127.0.0.1", "-port", &port, "-database", &database.unwrap_or("iotbench".into())]);
            if let Some(password) = address.password() {
                influx.args(["-username", address.username(), "-password", password]);
            }
            influx.args(["-execute", words]);
            influx
        }
    };
    let output = command.output().unwrap();
    assert!(output.status.success(), "{backend}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a command, written as JSON, in the database that the address names. A reply with a cursor is its documents.
fn run_command(address: &Url, json: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = Client::with_uri_str(address.as_str()).await.unwrap();
        let name = Some(address.path().trim_start_matches('/')).filter(|name| !name.is_empty());
        let command: Document = serde_json::from_str(json).unwrap();
        let reply = client.database(name.unwrap_or("iotbench")).run_command(command).await.unwrap();
        match reply.get_document("cursor").and_then(|cursor| cursor.get_array("firstBatch")) {
            Ok(documents) => documents.iter().map(Bson::to_string).collect::<Vec<_>>().join("\n"),
            Err(_) => reply.to_string(),
        }
    })
}

/// Sends a request by HTTP and returns the body of the answer, which must be a success. On a thread of its own, so that it
/// can be called from a runtime.
pub fn http(server: &Url, method: &str, path: &str, content_type: &str, body: &str) -> String {
    let exchange = async {
        let address = (server.host_str().unwrap(), server.port().unwrap());
        let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
        let (mut sender, connection) = handshake(stream).await.unwrap();
        tokio::spawn(connection);
        let mut request = Request::builder().method(method).uri(path).header("Host", "localhost");
        if let Some(password) = server.password() {
            let login = BASE64_STANDARD.encode(format!("{}:{password}", server.username()));
            request = request.header("Authorization", format!("Basic {login}"));
        }
        let request = request.header("Content-Type", content_type).body(body.to_owned()).unwrap();
        let answer = sender.send_request(request).await.unwrap();
        let status = answer.status();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let body = String::from_utf8(body.to_vec()).unwrap();
        assert!(status.is_success(), "{method} {path}: {status} {body}");
        body
    };
    let run = move || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(exchange);
    std::thread::scope(|scope| scope.spawn(run).join().unwrap())
}

/// The media type of most bodies.
pub const JSON: &str = "application/json";

/// A statement to ClickHouse, and its answer.
pub fn ask_clickhouse(url: &Url, statement: &str) -> String {
    http(url, "POST", "/", JSON, statement)
}

/// A statement to QuestDB, and its answer.
pub fn exec(server: &Url, statement: &str) -> String {
    let query: String = url::form_urlencoded::byte_serialize(statement.as_bytes()).collect();
    http(server, "GET", &format!("/exec?query={query}"), JSON, "")
}
