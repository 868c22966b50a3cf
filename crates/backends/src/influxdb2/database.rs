//! The control plane of an InfluxDB 2.x server.

#[cfg(feature = "influxdb2-crate")]
use super::by_crate;
use super::{
    api::{Api, escaped, improper},
    bucket::{self, Buckets},
    config::{Client as WhoSpeaks, Config, Language},
    error,
    read::FluxReader,
};
use crate::influxdb::{
    DIALECT,
    client::Client,
    read::{InfluxReader, count},
};
use async_trait::async_trait;
use iotbench_backend_kit::{
    changes::Changes, http::HttpWriter, http::connection::uri, line_protocol::Encoder, ownership,
};
use iotbench_core::{
    Acknowledgement, Action, Cause, Counts, Database, Error, Name, OwnedObject, Promise, PromiseLevel, PromiseSource,
    Reader, ServerFacts, SettingError, Settled, TableSpec, Writer,
};
use std::{collections::BTreeMap, sync::Arc};

/// A server, and the bucket on it that is ours.
pub(crate) struct Influx2Database {
    config: Arc<Config>,
    table: Arc<TableSpec>,
    bucket: Name,
    changes: Changes,
}

impl Influx2Database {
    pub(crate) fn new(config: Config, table: TableSpec) -> Result<Self, SettingError> {
        let bucket = bucket::name_of(&config, &table.name)?;
        Ok(Self { config: Arc::new(config), table: Arc::new(table), bucket, changes: Changes::default() })
    }

    async fn api(&self) -> Result<Api, Error> {
        Api::connect(&self.config.server).await
    }

    /// What is ours, for calls that outlive this one.
    fn ours(&self) -> impl Future<Output = Result<Buckets, Error>> + Send + use<> {
        let (config, bucket, marker) = (Arc::clone(&self.config), self.bucket.clone(), self.table.marker.clone());
        async move { Ok(Buckets { api: Api::connect(&config.server).await?, config, bucket, marker }) }
    }

    /// The bucket as InfluxQL sees it: a database of the same name.
    async fn client(&self) -> Result<Client, Error> {
        Client::connect(&self.config.server, &self.bucket).await
    }
}

#[async_trait]
impl Database for Influx2Database {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        let mut api = self.api().await?;
        let health = api.get("/health").await?;
        let version = health["version"].as_str().ok_or_else(|| improper(&"/health tells no version"))?;
        if !version.trim_start_matches('v').starts_with("2.") {
            let message = format!("this is no InfluxDB 2.x (version {version:?})");
            return Err(Error::new(Cause::Server, message).action(Action::Stop));
        }
        bucket::set_up(&mut api, &self.config).await?;
        bucket::check_access(&mut api, &self.config).await?;
        let method = if self.config.gzip { "line protocol over HTTP, compressed" } else { "line protocol over HTTP" };
        let language = match self.config.language {
            Language::InfluxQl => "InfluxQL",
            Language::Flux => "Flux",
        };
        Ok(ServerFacts {
            product: "InfluxDB".into(),
            version: version.to_owned(),
            driver: driver(self.config.client).into(),
            method: method.into(),
            settings: BTreeMap::from([("language".to_owned(), language.to_owned())]),
            acknowledgement: Acknowledgement::Durable,
            promise: promise(),
        })
    }

    async fn create(&self) -> Result<(), Error> {
        self.changes.create(self.ours()).await
    }

    async fn adopt(&self) -> Result<bool, Error> {
        self.changes.adopt(self.ours()).await
    }

    async fn proceed(&self) -> Result<Settled, Error> {
        self.changes.proceed().await
    }

    /// What was acknowledged is visible.
    async fn count(&self) -> Result<Counts, Error> {
        bucket::check_exists(&mut self.api().await?, &self.config, &self.bucket).await?;
        count(&mut self.client().await?, &self.table).await.map(|(counts, _)| counts)
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
        #[cfg(feature = "influxdb2-crate")]
        if self.config.client == WhoSpeaks::Crate {
            let client = by_crate::client(&self.config)?;
            return Ok(Box::new(by_crate::CrateWriter::new(client, self.bucket.clone(), Arc::clone(&self.table))?));
        }
        let (path, org) = (&self.config.server.base_path, escaped(&self.config.org));
        let address = uri(&format!("{path}/api/v2/write?org={org}&bucket={}&precision=ns", self.bucket))?;
        let encoder = Encoder::new(DIALECT, Arc::clone(&self.table))?;
        let connection = self.config.server.connect().await?;
        Ok(Box::new(HttpWriter::new(connection, address, encoder, self.config.gzip, error::of_write)))
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(match self.config.language {
            Language::InfluxQl => Box::new(InfluxReader::new(self.client().await?, Arc::clone(&self.table))),
            Language::Flux => {
                Box::new(FluxReader::connect(&self.config, self.bucket.clone(), Arc::clone(&self.table)).await?)
            }
        })
    }
}

fn driver(client: WhoSpeaks) -> &'static str {
    match client {
        WhoSpeaks::Own => "hyper 1, own line protocol",
        #[cfg(feature = "influxdb2-crate")]
        WhoSpeaks::Crate => by_crate::DRIVER,
    }
}

/// The server does not tell `storage-wal-fsync-delay` over HTTP; it lets writes share a flush, which each of them waits
/// for.
fn promise() -> Promise {
    let source = "InfluxDB 2.x flushes its log before it answers a write \
                  (https://docs.influxdata.com/influxdb/v2/reference/internals/storage-engine/)";
    Promise { level: PromiseLevel::OsCrash, nodes: 1, source: PromiseSource::Declared(source.into()) }
}
