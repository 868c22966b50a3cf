//! The control plane of an InfluxDB server.

use super::{
    client::Client,
    config::{Config, Datagram, Transport},
    counters::InfluxCounters,
    diagnostics::{Part, disk_bytes, parts},
    marker::{self, Measurements},
    promise::{acknowledgement, promise},
    read::{InfluxReader, count},
    settle::Datagrams,
    write::{UdpWriter, over_http},
};
use async_trait::async_trait;
use iotbench_backend_kit::{changes::Changes, ownership};
use iotbench_core::{
    Action, Cause, CounterReader, Counts, Database, Error, OwnedObject, Reader, ServerFacts, Settled, TableSpec, Writer,
};
use std::{collections::BTreeMap, sync::Arc};

/// A server, the database on it, and the measurement that is ours.
pub(crate) struct InfluxDatabase {
    config: Arc<Config>,
    table: Arc<TableSpec>,
    datagrams: Arc<Datagrams>,
    changes: Changes,
}

impl InfluxDatabase {
    pub(crate) fn new(config: Config, table: TableSpec) -> Self {
        Self {
            config: Arc::new(config),
            table: Arc::new(table),
            datagrams: Arc::default(),
            changes: Changes::default(),
        }
    }

    async fn client(&self) -> Result<Client, Error> {
        Client::connect(&self.config.server, &self.config.database).await
    }

    /// What is ours, for calls that outlive this one.
    fn ours(&self) -> impl Future<Output = Result<Measurements, Error>> + Send + use<> {
        let (config, table) = (Arc::clone(&self.config), Arc::clone(&self.table));
        async move {
            let client = Client::connect(&config.server, &config.database).await?;
            Ok(Measurements { client, database: config.database.clone(), table })
        }
    }

    /// Counts the datagrams of this run from here on.
    async fn begin_datagrams(&self, client: &mut Client) -> Result<(), Error> {
        match &self.config.transport {
            Transport::Http { .. } => Ok(()),
            Transport::Udp { port, .. } => self.datagrams.begin(client, *port).await,
        }
    }

    /// Refuses to send datagrams to where nobody listens, or where they would become another's data.
    fn check_listener(&self, parts: &[Part]) -> Result<(), Error> {
        let Transport::Udp { port, .. } = &self.config.transport else { return Ok(()) };
        let of = |part: &Part, key: &str| part.figures.get(key).cloned().unwrap_or_default();
        let database = self.config.database.as_str();
        let wrong = |what: String| Err(Error::new(Cause::Server, what).action(Action::Stop));
        match listener(parts, *port) {
            None => wrong(format!("no UDP listener has port {port}: see [[udp]] in the server's configuration")),
            Some(part) if of(part, "database") != database => wrong(format!(
                "the UDP listener at port {port} writes to database {:?}: set database to that, or change [[udp]]",
                of(part, "database")
            )),
            Some(part) if !matches!(of(part, "precision").as_str(), "" | "n" | "ns") => {
                wrong(format!("the UDP listener at port {port} does not read times as nanoseconds: change [[udp]]"))
            }
            Some(_) => Ok(()),
        }
    }
}

#[async_trait]
impl Database for InfluxDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        let mut client = self.client().await?;
        let parts = parts(&mut client, "SHOW DIAGNOSTICS").await;
        let version = client.version().unwrap_or_default().to_owned();
        if parts.is_ok() || !version.is_empty() {
            refuse_other_versions(&version)?;
        }
        let parts = parts.map_err(ask_for_an_administrator)?;
        self.check_listener(&parts)?;
        let settings = settings(&parts, &self.config.transport);
        let delay = settings.get("wal-fsync-delay").map(String::as_str);
        Ok(ServerFacts {
            product: "InfluxDB".into(),
            version,
            driver: "hyper 1, own line protocol".into(),
            method: method(&self.config.transport).into(),
            acknowledgement: acknowledgement(&self.config.transport),
            promise: promise(&self.config.transport, delay),
            settings,
        })
    }

    async fn create(&self) -> Result<(), Error> {
        self.changes.create(self.ours()).await?;
        self.begin_datagrams(&mut self.client().await?).await
    }

    async fn adopt(&self) -> Result<bool, Error> {
        let is_adopted = self.changes.adopt(self.ours()).await?;
        if is_adopted {
            self.begin_datagrams(&mut self.client().await?).await?;
        }
        Ok(is_adopted)
    }

    /// What is on its way in datagrams arrives before a change.
    async fn proceed(&self) -> Result<Settled, Error> {
        match &self.config.transport {
            _ if self.changes.proceed().await? == Settled::NotYet => Ok(Settled::NotYet),
            Transport::Http { .. } => Ok(Settled::Yes),
            Transport::Udp { port, .. } => self.datagrams.rest(&mut self.client().await?, *port).await,
        }
    }

    /// What was acknowledged over HTTP is visible. Over UDP this is a look at how far the listener is.
    async fn settle(&self) -> Result<Settled, Error> {
        match &self.config.transport {
            Transport::Http { .. } => Ok(Settled::Yes),
            Transport::Udp { port, .. } => self.datagrams.settle(&mut self.client().await?, *port).await,
        }
    }

    async fn count(&self) -> Result<Counts, Error> {
        let mut client = self.client().await?;
        marker::check_exists(&mut client, &self.config.database, &self.table.name).await?;
        count(&mut client, &self.table).await.map(|(counts, _)| counts)
    }

    async fn storage_bytes(&self) -> Result<Option<u64>, Error> {
        disk_bytes(&mut self.client().await?, &self.config.database).await
    }

    async fn counters(&self) -> Result<Box<dyn CounterReader>, Error> {
        Ok(Box::new(InfluxCounters::new(self.client().await?, self.config.database.clone())))
    }

    async fn drop_created(&self) -> Result<(), Error> {
        self.changes.drop_own(self.ours()).await
    }

    async fn owned(&self) -> Result<Vec<OwnedObject>, Error> {
        ownership::owned(&mut self.ours().await?).await
    }

    async fn drop_owned(&self, object: &OwnedObject) -> Result<(), Error> {
        self.changes.drop_owned(self.ours(), object).await
    }

    async fn renew(&self) -> Result<(), Error> {
        self.changes.renew(self.ours()).await
    }

    async fn release(&self) -> Result<(), Error> {
        self.changes.release(self.ours()).await
    }

    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        let (server, table) = (&self.config.server, Arc::clone(&self.table));
        Ok(match &self.config.transport {
            Transport::Http { gzip } => Box::new(over_http(server, &self.config.database, table, *gzip).await?),
            Transport::Udp { datagram, host, port } => {
                Box::new(UdpWriter::connect(host, *port, table, *datagram, Arc::clone(&self.datagrams)).await?)
            }
        })
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(InfluxReader::new(self.client().await?, Arc::clone(&self.table))))
    }
}

fn refuse_other_versions(version: &str) -> Result<(), Error> {
    if version.trim_start_matches('v').starts_with("1.") {
        return Ok(());
    }
    let message = format!("this is no InfluxDB 1.x, or something between hides it (version {version:?})");
    Err(Error::new(Cause::Server, message).action(Action::Stop))
}

/// Anybody else could write, but not clean up: only `DROP MEASUREMENT` forgets the types of the fields too.
fn ask_for_an_administrator(error: Error) -> Error {
    let is_forbidden = error.cause == Cause::Auth && error.message.contains("not authorized");
    let hint = if is_forbidden { ": a run makes and drops its measurement, which takes an administrator" } else { "" };
    Error { message: format!("{}{hint}", error.message), ..error }
}

fn method(transport: &Transport) -> &'static str {
    match transport {
        Transport::Http { gzip: false } => "line protocol over HTTP",
        Transport::Http { gzip: true } => "line protocol over HTTP, compressed",
        Transport::Udp { datagram: Datagram::Line, .. } => "line protocol over UDP, a line a datagram",
        Transport::Udp { datagram: Datagram::Mtu, .. } => "line protocol over UDP, datagrams of at most 1432 bytes",
        Transport::Udp { datagram: Datagram::Largest, .. } => {
            "line protocol over UDP, datagrams of at most 65507 bytes"
        }
    }
}

/// The settings that matter for a result: those of the listener only where datagrams go to it.
fn settings(parts: &[Part], transport: &Transport) -> BTreeMap<String, String> {
    const OF_ENGINE: (&str, &[&str]) = (
        "config-data",
        &[
            "cache-max-memory-size",
            "cache-snapshot-memory-size",
            "cache-snapshot-write-cold-duration",
            "max-concurrent-compactions",
            "max-series-per-database",
            "max-values-per-tag",
            "wal-fsync-delay",
        ],
    );
    const OF_COORDINATOR: (&str, &[&str]) = ("config-coordinator", &["max-concurrent-queries", "write-timeout"]);
    const OF_LISTENER: &[&str] = &["batch-size", "batch-pending", "batch-timeout"];
    let mut settings = BTreeMap::new();
    let mut show = |part: Option<&Part>, keys: &[&str]| {
        let figures = part.into_iter().flat_map(|part| keys.iter().filter_map(|&key| part.figures.get_key_value(key)));
        settings.extend(figures.map(|(key, value)| (key.clone(), value.clone())));
    };
    for (name, keys) in [OF_ENGINE, OF_COORDINATOR] {
        show(parts.iter().find(|part| part.name == name), keys);
    }
    if let Transport::Udp { port, .. } = transport {
        show(listener(parts, *port), OF_LISTENER);
    }
    settings
}

/// The UDP listener at this port.
fn listener(parts: &[Part], port: u16) -> Option<&Part> {
    let ends = format!(":{port}");
    let is_at_port = |part: &&Part| part.figures.get("bind-address").is_some_and(|address| address.ends_with(&ends));
    parts.iter().filter(|part| part.name == "config-udp").find(is_at_port)
}
