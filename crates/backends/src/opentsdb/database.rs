//! The control plane of one TSD, or of several over one HBase.

use super::{
    client::Client,
    config::Config,
    facts::facts,
    marker::{self, Tables},
    read::{OpenTsdbReader, count},
    write::HttpWriter,
};
use async_trait::async_trait;
use iotbench_backend_kit::{changes::Changes, http::Server, metrics::Queued, ownership};
use iotbench_core::{Cause, Counts, Database, Error, OwnedObject, Reader, ServerFacts, Settled, TableSpec, Writer};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// So many looks in a row that find nothing new mean that nothing more comes: before each, what is queued is waited for.
const QUIET_LOOKS: u32 = 3;

/// The servers, and the metrics on them that are ours.
pub(crate) struct OpenTsdbDatabase {
    config: Arc<Config>,
    table: Arc<TableSpec>,
    queued: Arc<Queued>,
    changes: Changes,
    /// How many writers and readers there were: each next one is another server's.
    opened: AtomicUsize,
}

impl OpenTsdbDatabase {
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
        client(&self.config.servers).await
    }

    /// What is ours, for calls that outlive this one.
    fn ours(&self) -> impl Future<Output = Result<Tables, Error>> + Send + use<> {
        let (config, table, looks) = (Arc::clone(&self.config), Arc::clone(&self.table), self.changes.looks());
        async move {
            let client = client(&config.servers).await?;
            Ok(Tables { config, client, table, looks })
        }
    }

    fn next_server(&self) -> &Server {
        let servers = &self.config.servers;
        &servers[self.opened.fetch_add(1, Ordering::Relaxed) % servers.len()]
    }

    async fn counts(&self, client: &mut Client) -> Result<Counts, Error> {
        count(client, &self.table, self.table.schema.width()).await.map(|(counts, _)| counts)
    }
}

/// The first server that can be reached: they share one HBase.
async fn client(servers: &[Server]) -> Result<Client, Error> {
    let (last, others) = servers.split_last().ok_or_else(|| Error::new(Cause::Client, "no server"))?;
    for server in others {
        match Client::connect(server).await {
            Err(e) if e.cause == Cause::Connect => {}
            connected => return connected,
        }
    }
    Client::connect(last).await
}

#[async_trait]
impl Database for OpenTsdbDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        for server in &self.config.servers {
            let mut client = Client::connect(server).await?;
            client.version().await?.check(&client.told().await?)?;
        }
        let mut client = self.client().await?;
        Ok(facts(&client.version().await?, &client.told().await?, self.config.method))
    }

    async fn create(&self) -> Result<(), Error> {
        self.client().await?.told().await?.check()?;
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
        marker::flush(&self.config.servers, &self.table.name).await?;
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
        let (table, queued) = (Arc::clone(&self.table), Arc::clone(&self.queued));
        Ok(Box::new(HttpWriter::connect(self.next_server(), table, self.config.method, queued).await?))
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        let client = Client::connect(self.next_server()).await?;
        Ok(Box::new(OpenTsdbReader::new(client, Arc::clone(&self.table))))
    }
}
