//! A target that acknowledges at once and keeps nothing: what a run against it costs is the cost of the tool itself.

use async_trait::async_trait;
use iotbench_backend_kit::refuse::refuse;
use iotbench_core::{
    Acknowledged, Acknowledgement, Backend, BackendInfo, Batch, Capabilities, ComputedBy, Counts, Database, Domain,
    Duplicates, Error, Layout, MAX_TAGS, OpenRequest, Promise, PromiseLevel, PromiseSource, Query, Reader, Reply,
    ServerFacts, Setting, SettingError, Sink, TableSpec, TagSupport, TimeUnit, Writer,
};
use std::{collections::BTreeMap, sync::Arc};

/// The black hole.
pub struct Blackhole;

const SETTINGS: &[Setting] = &[];

const CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Wide, Layout::Narrow, Layout::Document, Layout::Bulk],
    time_unit: TimeUnit::Ns,
    duplicates: Duplicates::Keep,
    domain: |_| Domain::Full,
    acknowledgement: Acknowledgement::None,
    transactions: true,
    buckets: &[],
    most_writers: None,
    blocking: false,
    embedded: true,
    stores: false,
    empties: false,
};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {}

static INFO: BackendInfo = BackendInfo {
    settings: SETTINGS,
    tags: TagSupport { most: MAX_TAGS, changing: true, ..TagSupport::NONE },
    ..BackendInfo::new("blackhole", "acknowledges at once and keeps nothing: prices the tool itself", CAPABILITIES)
};

impl Backend for Blackhole {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let Config {} = request.settings.typed(SETTINGS)?;
        Ok(Arc::new(Void { table: Arc::new(request.table) }))
    }
}

#[derive(Clone)]
struct Void {
    table: Arc<TableSpec>,
}

#[async_trait]
impl Database for Void {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        Ok(ServerFacts {
            product: "blackhole".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            driver: "none".into(),
            method: "none".into(),
            settings: BTreeMap::new(),
            acknowledgement: Acknowledgement::None,
            promise: Promise {
                level: PromiseLevel::Buffered,
                nodes: 0,
                source: PromiseSource::Declared("it keeps nothing".into()),
            },
        })
    }

    async fn create(&self) -> Result<(), Error> {
        Ok(())
    }

    async fn count(&self) -> Result<Counts, Error> {
        Ok(Counts::default())
    }

    async fn drop_created(&self) -> Result<(), Error> {
        Ok(())
    }

    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        Ok(Box::new(self.clone()))
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(self.clone()))
    }
}

#[async_trait]
impl Writer for Void {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        refuse(batch, &self.table)?;
        Ok(Acknowledged { points: batch.len() as u64, bytes: 0 })
    }

    async fn begin(&mut self) -> Result<(), Error> {
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

#[async_trait]
impl Reader for Void {
    async fn query(&mut self, _query: &Query, _sink: &mut dyn Sink) -> Result<Reply, Error> {
        Ok(Reply { rows: 0, bytes: 0, computed_by: ComputedBy::Server })
    }
}
