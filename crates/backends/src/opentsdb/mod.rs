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
    Acknowledgement, Backend, Capabilities, Database, Domain, Duplicates, Layout, OpenRequest, Recipe, Setting,
    SettingError, TimeUnit, ValueType,
};
use std::sync::Arc;

/// OpenTSDB 2.4.
pub struct OpenTsdb;

static CAPABILITIES: Capabilities = Capabilities {
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
    most_writers: None,
    blocking: false,
    embedded: false,
    stores: true,
    empties: false,
};

impl Backend for OpenTsdb {
    fn name(&self) -> &'static str {
        "opentsdb"
    }

    fn summary(&self) -> &'static str {
        "OpenTSDB 2.4 on HBase: JSON over HTTP"
    }

    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn default_port(&self) -> Option<u16> {
        Some(config::KNOWN.port)
    }

    fn settings(&self) -> &'static [Setting] {
        SETTINGS
    }

    fn recipe(&self) -> Option<&'static Recipe> {
        Some(&recipe::RECIPE)
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let config = Config::new(&request.settings, &request.target, |name| std::env::var(name).ok())?;
        Ok(Arc::new(OpenTsdbDatabase::new(config, request.table)))
    }
}
