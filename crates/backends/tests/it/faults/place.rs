//! A server, a backend in front of it, and how what ends is told from what does not.

use crate::faults::products::{LAYOUT, Product};
use iotbench_backends::BACKENDS;
use iotbench_core::{
    Batch, Database, Endpoint, Error, Marker, Name, OpenRequest, Registry, Run, Schema, Settings, Signal, TableSpec,
    Target, Value, ValueType,
};
use iotbench_oracle_server::{
    Discipline, Program, Protocol, Server, ServiceTime, Settings as ServerSettings,
    http::{Answer, Service},
};
use std::{
    fmt::Display,
    fs,
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::NamedTempFile;
use url::Url;

/// What no machine needs for one exchange: a fault that is not over by then holds its client.
const ENDED: Duration = Duration::from_secs(100);
/// A server that writes nothing for so long has nobody to write to.
const STANDSTILL: Duration = Duration::from_millis(10);

/// What the sockets of both ends hold at most, which a client has not read: how far this kernel lets their buffers grow.
pub fn on_the_way_bytes() -> u64 {
    let greatest = |buffers: &str| -> u64 {
        let text = fs::read_to_string(format!("/proc/sys/net/ipv4/{buffers}")).unwrap();
        text.split_whitespace().last().unwrap().parse().unwrap()
    };
    greatest("tcp_rmem") + greatest("tcp_wmem")
}

/// A server that serves at once what a product serves, and has these answers for faults.
pub fn serve(product: &Product, answers: Vec<Answer>) -> Server {
    start(Service::new(product.endpoints()).with_faults(answers))
}

/// A server that closes the connection after each sound answer, with these lines in its head.
pub fn serve_and_close(product: &Product, headers: &str) -> Server {
    start(Service::new(product.endpoints().into_iter().map(|endpoint| endpoint.closing(headers)).collect()))
}

fn start(service: Service) -> Server {
    let time = ServiceTime::Constant(Duration::ZERO);
    let program = Program { service: time, discipline: Discipline::Parallel, faults: vec![] };
    let protocol = Protocol::Http(service);
    let settings = ServerSettings { protocol, ledger_capacity: 1000, ..ServerSettings::new(program, Instant::now()) };
    Server::start(settings).unwrap()
}

/// What the server had written when it stands still: of an exchange that the client has given up it may go on for a moment.
pub async fn written_bytes(server: &Server) -> u64 {
    let mut written = server.ledger().written_bytes;
    loop {
        // Connections that were given up are closed meanwhile.
        tokio::time::sleep(STANDSTILL).await;
        let now = server.ledger().written_bytes;
        if now == written {
            return now;
        }
        written = now;
    }
}

/// A backend, with a secret that it must not show.
pub struct Client {
    pub database: Arc<dyn Database>,
    pub table: TableSpec,
    _token: NamedTempFile,
}

impl Client {
    /// In front of the server at a host and port.
    pub fn of(product: &Product, address: &dyn Display) -> Self {
        let token = NamedTempFile::new().unwrap();
        fs::write(token.path(), "s3cret").unwrap();
        let mut settings = (product.settings)();
        let mut url: Url = format!("http://{address}/").parse().unwrap();
        if product.name == "influxdb2" {
            settings["token_file"] = token.path().to_str().unwrap().into();
        } else {
            url.set_username("me").unwrap();
            url.set_password(Some("s3cret")).unwrap();
        }
        let target = Target { endpoints: vec![Endpoint::new(url)], ..Target::default() };
        let settings = Settings(serde_json::from_value(settings).unwrap());
        let request = OpenRequest { target, settings, table: table() };
        let database = Registry::new(BACKENDS).find(product.name).unwrap().open(request).unwrap();
        Self { database, table: table(), _token: token }
    }

    /// Three datapoints of the second device.
    pub fn batch(&self) -> Batch {
        let mut batch = Batch::new(&self.table.schema);
        batch.append(Run { device: 1, first: 0, count: 3 }, |times, columns| {
            times.extend((0..3).map(|index| 1_700_000_000_000_000_000 + index * 1_000_000));
            for column in columns {
                assert!((0..3).all(|_| column.push(Value::F64(1.5))));
            }
        });
        batch
    }
}

fn table() -> TableSpec {
    let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::F64, max_text_bytes: 0 };
    TableSpec {
        name: Name::new("readings").unwrap(),
        layout: LAYOUT,
        schema: Schema::new(vec![signal("a"), signal("b")]).unwrap(),
        devices: 2,
        marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
    }
}

/// What an exchange gives; fails where it holds its client for good.
#[expect(clippy::disallowed_methods, reason = "the deadline is the test's, as it is the engine's in a run")]
pub async fn ended<T>(what: &str, exchange: impl Future<Output = T>) -> T {
    tokio::time::timeout(ENDED, exchange).await.unwrap_or_else(|_| panic!("{what}: it holds its client"))
}

/// Gives up an exchange that must not end, once the server has taken `requests` and sent so many bytes, as the engine does
/// when the deadline has passed.
#[expect(clippy::disallowed_methods, reason = "the test waits for the server, not the backend")]
pub async fn given_up<T: std::fmt::Debug>(
    what: &str,
    exchange: impl Future<Output = T>,
    server: &Server,
    (requests, written_bytes): (usize, u64),
) {
    let struck = async {
        loop {
            let ledger = server.ledger();
            if ledger.entries.len() >= requests && ledger.written_bytes >= written_bytes {
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let exchange_or_struck = async {
        tokio::select! {
            ended = exchange => panic!("{what}: it ended with {ended:?}"),
            () = struck => {}
        }
    };
    ended(what, exchange_or_struck).await;
}

/// No secret, nothing that a terminal would obey, and not too long.
pub fn assert_harmless(what: &str, error: &Error) {
    let shown = format!("{error} {error:?}");
    for secret in ["s3cret", "bWU6czNjcmV0"] {
        assert!(!shown.contains(secret), "{what}: {shown}");
    }
    assert!(!error.message.contains(char::is_control), "{what}: {error:?}");
    assert!(error.message.chars().count() < 600, "{what}: {error}");
}
