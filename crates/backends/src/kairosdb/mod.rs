//! KairosDB 1.x on H2 or Cassandra: datapoints as JSON over HTTP or as lines over TCP, questions as JSON. README.md beside
//! this file says what it creates, what it promises and which values it keeps.

mod client;
mod config;
mod database;
mod document;
mod error;
mod marker;
mod names;
mod promise;
mod question;
mod read;
mod recipe;
mod write;

use config::{Config, SETTINGS, Store, Transport};
use database::KairosDatabase;
use iotbench_core::{
    Acknowledgement, AddedSignals, Backend, BackendInfo, Capabilities, Database, Domain, Duplicates, Layout, MAX_TAGS,
    OpenRequest, Opens, Recipe, SettingError, Settings, TagSupport, Target, TimeUnit, ValueType,
};
use std::sync::Arc;

/// KairosDB 1.x.
pub struct KairosDb;

const CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Wide],
    time_unit: TimeUnit::Ms,
    duplicates: Duplicates::Overwrite,
    domain: |value_type| match value_type {
        ValueType::Text => Domain::TextNotEmpty,
        _ => Domain::Full,
    },
    // On H2 it is applied when it is acknowledged: the facts of a server say so.
    acknowledgement: Acknowledgement::Applied,
    transactions: false,
    buckets: &[],
    most_writers: None,
    blocking: false,
    embedded: false,
    stores: true,
    empties: true,
};

static INFO: BackendInfo = BackendInfo {
    settings: SETTINGS,
    default_port: Some(config::KNOWN.port),
    recipe: Some(&recipe::ON_H2),
    variants: &recipe::VARIANTS,
    tags: TagSupport { most: MAX_TAGS, changing: true, ..TagSupport::NONE },
    met: &["1.3.0"],
    writes_by: "JSON over HTTP, lines over TCP (telnet)",
    added_signals: |_| AddedSignals::Nothing,
    ..BackendInfo::new("kairosdb", "KairosDB 1.x on H2 or Cassandra: JSON over HTTP, or lines over TCP", CAPABILITIES)
};

impl Backend for KairosDb {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    fn recipe_for(&self, settings: &Settings) -> Option<&'static Recipe> {
        match Store::of(settings) {
            Some(Store::Cassandra) => Some(&recipe::ON_CASSANDRA),
            Some(Store::H2) | None => INFO.recipe,
        }
    }

    fn opens(&self, target: &Target, settings: &Settings) -> Result<Opens, SettingError> {
        let mut opens = Opens::of(target, settings, INFO.default_port);
        let config = Config::new(settings, target, |_| None)?;
        if matches!(config.transport, Transport::Telnet) {
            opens.addresses.extend(config.nodes.into_iter().map(|node| node.telnet));
        }
        Ok(opens)
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let config = Config::new(&request.settings, &request.target, |name| std::env::var(name).ok())?;
        if [names::RESERVED_TABLE, names::RESERVED_FOR_FLAGS].contains(&request.table.name.as_str()) {
            let message = format!("{} is the name of metrics that mark ours: choose another", request.table.name);
            return Err(SettingError { key: "table".into(), message, suggestion: None });
        }
        Ok(Arc::new(KairosDatabase::new(config, request.table)))
    }
}
