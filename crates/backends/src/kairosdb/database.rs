//! The control plane of one KairosDB, or of several over one store.

use super::{
    client::Client,
    config::{Config, Node, Store, Transport},
    marker::{self, Tables},
    promise::{acknowledgement, promise},
    read::{KairosReader, count},
    write::{HttpWriter, TelnetWriter},
};
use async_trait::async_trait;
use iotbench_backend_kit::{changes::Changes, metrics::Queued, ownership};
use iotbench_core::{
    Action, Cause, Counts, Database, Error, OwnedObject, Reader, ServerFacts, Settled, TableSpec, Writer,
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// So many looks in a row that find nothing new mean that nothing more comes: they follow each other at once.
const QUIET_LOOKS: u32 = 50;

/// The servers, and the metrics on them that are ours.
pub(crate) struct KairosDatabase {
    config: Arc<Config>,
    table: Arc<TableSpec>,
    queued: Arc<Queued>,
    changes: Changes,
    /// How many writers and readers there were: each next one is another server's.
    opened: AtomicUsize,
}

impl KairosDatabase {
    pub(crate) fn new(config: Config, table: TableSpec) -> Self {
        Self {
            config: Arc::new(config),
            table: Arc::new(table),
            queued: Arc::new(Queued::new(QUIET_LOOKS)),
            changes: Changes::default(),
            opened: AtomicUsize::new(0),
        }
    }

    async fn client(&self) -> Result<Client, Error> {
        Client::of_any(&self.config.nodes).await
    }

    /// What is ours, for calls that outlive this one.
    fn ours(&self) -> impl Future<Output = Result<Tables, Error>> + Send + use<> {
        let (config, table, looks) = (Arc::clone(&self.config), Arc::clone(&self.table), self.changes.looks());
        async move {
            let client = Client::of_any(&config.nodes).await?;
            Ok(Tables { config, client, table, looks })
        }
    }

    fn next_node(&self) -> &Node {
        let nodes = &self.config.nodes;
        &nodes[self.opened.fetch_add(1, Ordering::Relaxed) % nodes.len()]
    }

    async fn counts(&self, client: &mut Client) -> Result<Counts, Error> {
        count(client, &self.table, self.table.schema.width()).await.map(|(counts, _)| counts)
    }
}

#[async_trait]
impl Database for KairosDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        let mut version = String::new();
        for node in &self.config.nodes {
            version = Client::connect(&node.server).await?.version().await?;
            if !version.starts_with("1.") {
                let message = format!("this is no KairosDB 1.x: it says version {version:?}");
                return Err(Error::new(Cause::Server, message).action(Action::Stop));
            }
        }
        let &Config { transport, store, .. } = &*self.config;
        Ok(ServerFacts {
            product: "KairosDB".into(),
            version,
            driver: "hyper 1, own JSON".into(),
            method: method(transport).into(),
            acknowledgement: acknowledgement(transport, store),
            promise: promise(transport, store),
            settings: BTreeMap::from([("store".into(), name(store).into())]),
        })
    }

    async fn create(&self) -> Result<(), Error> {
        self.changes.create(self.ours()).await?;
        self.queued.begin(0);
        Ok(())
    }

    async fn adopt(&self) -> Result<bool, Error> {
        let is_adopted = self.changes.adopt(self.ours()).await?;
        if is_adopted {
            self.queued.begin(self.counts(&mut self.client().await?).await?.values);
        }
        Ok(is_adopted)
    }

    async fn proceed(&self) -> Result<Settled, Error> {
        self.changes.proceed().await
    }

    async fn settle(&self) -> Result<Settled, Error> {
        let values = self.counts(&mut self.client().await?).await?.values;
        Ok(self.queued.look(values))
    }

    async fn count(&self) -> Result<Counts, Error> {
        let mut client = self.client().await?;
        marker::check_exists(&mut client, &self.table.name).await?;
        self.counts(&mut client).await
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
        let (node, table, queued) = (self.next_node(), Arc::clone(&self.table), Arc::clone(&self.queued));
        Ok(match self.config.transport {
            Transport::Http { gzip } => Box::new(HttpWriter::connect(&node.server, table, gzip, queued).await?),
            Transport::Telnet => Box::new(TelnetWriter::connect(&node.telnet, table, queued).await?),
        })
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        let client = Client::connect(&self.next_node().server).await?;
        Ok(Box::new(KairosReader::new(client, Arc::clone(&self.table))))
    }
}

fn method(transport: Transport) -> &'static str {
    match transport {
        Transport::Http { gzip: false } => "JSON over HTTP",
        Transport::Http { gzip: true } => "JSON over HTTP, compressed",
        Transport::Telnet => "a line a value over TCP",
    }
}

fn name(store: Option<Store>) -> &'static str {
    match store {
        Some(Store::H2) => "h2",
        Some(Store::Cassandra) => "cassandra",
        None => "unknown",
    }
}
