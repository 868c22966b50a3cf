//! InfluxDB 2.x: line protocol over HTTP, questions in InfluxQL or Flux. README.md beside this file says what it
//! creates, what it promises, and what of it was never run against a real server.

mod api;
mod bucket;
#[cfg(feature = "influxdb2-crate")]
mod by_crate;
mod config;
mod csv;
mod database;
mod error;
mod flux;
mod read;
mod recipe;

use config::{Config, SETTINGS};
use database::Influx2Database;
use iotbench_core::{
    Acknowledgement, Backend, BackendInfo, Capabilities, Database, Domain, Duplicates, Layout, MAX_TAGS, OpenRequest,
    PromiseLevel, SettingError, TagSupport, TimeUnit,
};
use std::sync::Arc;

/// InfluxDB 2.x.
pub struct InfluxDb2;

const CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Wide, Layout::Narrow],
    time_unit: TimeUnit::Ns,
    duplicates: Duplicates::Overwrite,
    domain: |_| Domain::Full,
    acknowledgement: Acknowledgement::Durable,
    transactions: false,
    buckets: &[],
    most_writers: None,
    blocking: false,
    embedded: false,
    stores: true,
    empties: false,
};

static INFO: BackendInfo = BackendInfo {
    settings: SETTINGS,
    default_port: Some(config::KNOWN.port),
    promise: PromiseLevel::OsCrash,
    recipe: Some(&recipe::RECIPE),
    tags: TagSupport { most: MAX_TAGS, ..TagSupport::NONE },
    writes_by: "line protocol over HTTP",
    ..BackendInfo::new("influxdb2", "InfluxDB 2.x: line protocol over HTTP, read by InfluxQL or Flux", CAPABILITIES)
};

impl Backend for InfluxDb2 {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let config = Config::new(&request.settings, &request.target, |name| std::env::var(name).ok())?;
        Ok(Arc::new(Influx2Database::new(config, request.table)?))
    }
}
