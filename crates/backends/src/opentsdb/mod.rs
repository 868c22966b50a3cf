//! OpenTSDB 2.4 on HBase: datapoints and questions as JSON over HTTP. README.md beside this file says what it creates, what it
//! promises and which values it keeps.

mod client;
mod config;
mod database;
mod document;
mod error;
mod facts;
mod marker;
mod question;
mod read;
mod recipe;
mod write;

use config::{Config, SETTINGS};
use database::OpenTsdbDatabase;
use iotbench_core::{
    Acknowledgement, Backend, BackendInfo, Capabilities, Database, Domain, Duplicates, Layout, OpenRequest,
    SettingError, TimeUnit, ValueType,
};
use std::sync::Arc;

/// OpenTSDB 2.4.
pub struct OpenTsdb;

const CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Wide],
    time_unit: TimeUnit::Ms,
    duplicates: Duplicates::Overwrite,
    domain: |value_type| match value_type {
        ValueType::Text => Domain::Unsupported,
        _ => Domain::Full,
    },
    // With the setting sync it is applied when it is acknowledged, else queued: the facts of a server say which.
    acknowledgement: Acknowledgement::Applied,
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
    recipe: Some(&recipe::RECIPE),
    met: &["2.4.1"],
    writes_by: "JSON over HTTP",
    ..BackendInfo::new("opentsdb", "OpenTSDB 2.4 on HBase: JSON over HTTP", CAPABILITIES)
};

impl Backend for OpenTsdb {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let config = Config::new(&request.settings, &request.target, |name| std::env::var(name).ok())?;
        Ok(Arc::new(OpenTsdbDatabase::new(config, request.table)))
    }
}
