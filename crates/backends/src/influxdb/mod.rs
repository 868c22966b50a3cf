//! InfluxDB 1.x: line protocol over HTTP or UDP, questions in InfluxQL. README.md beside this file says what it
//! creates, what it promises and which values it keeps.

mod chunk;
pub(crate) mod client;
mod config;
mod counters;
mod database;
mod diagnostics;
mod error;
mod first_user;
mod influxql;
mod marker;
mod promise;
pub(crate) mod read;
mod recipe;
mod settle;
mod write;

#[cfg(feature = "influxdb2")]
pub(crate) use write::DIALECT;

use async_trait::async_trait;
use config::{Config, SETTINGS, Transport};
use database::InfluxDatabase;
use iotbench_core::{
    Acknowledgement, AddedSignals, Backend, BackendInfo, Capabilities, Database, Domain, Duplicates, Error, Language,
    Layout, MAX_TAGS, OpenRequest, Opens, PromiseLevel, SettingError, Settings, TagSupport, Target, TimeUnit,
};
use marker::MARKER;
use std::sync::Arc;

/// InfluxDB 1.x.
pub struct InfluxDb;

const CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Wide, Layout::Narrow],
    time_unit: TimeUnit::Ns,
    duplicates: Duplicates::Overwrite,
    domain: |_| Domain::Full,
    acknowledgement: Acknowledgement::Durable,
    transactions: false,
    buckets: &[Layout::Wide, Layout::Narrow],
    most_writers: None,
    blocking: false,
    embedded: false,
    stores: true,
    empties: true,
};

static INFO: BackendInfo = BackendInfo {
    settings: SETTINGS,
    default_port: Some(config::KNOWN.port),
    counters: counters::SOURCES,
    promise: PromiseLevel::OsCrash,
    recipe: Some(&recipe::RECIPE),
    tags: TagSupport { most: MAX_TAGS, changing: true, ..TagSupport::NONE },
    met: &["1.6.7"],
    writes_by: "line protocol over HTTP, over UDP",
    statements: Some(Language::InfluxQl),
    added_signals: |_| AddedSignals::Nothing,
    ..BackendInfo::new("influxdb", "InfluxDB 1.x: line protocol over HTTP or UDP", CAPABILITIES)
};

#[async_trait]
impl Backend for InfluxDb {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    async fn join(&self, target: &Target) -> Result<(), Error> {
        first_user::create(target).await
    }

    fn opens(&self, target: &Target, settings: &Settings) -> Result<Opens, SettingError> {
        let mut opens = Opens::of(target, settings, INFO.default_port);
        if let Transport::Udp { host, port, .. } = Config::new(settings, target, |_| None)?.transport {
            opens.addresses.push((host, port));
        }
        Ok(opens)
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let config = Config::new(&request.settings, &request.target, |name| std::env::var(name).ok())?;
        if request.table.name.as_str() == MARKER {
            let message = format!("{MARKER} is the name of the measurement that marks ours: choose another");
            return Err(SettingError { key: "table".into(), message, suggestion: None });
        }
        Ok(Arc::new(InfluxDatabase::new(config, request.table)))
    }
}
