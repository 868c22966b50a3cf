//! ClickHouse: binary rows over HTTP in, SQL out. README.md beside this file says what it creates, what it promises and which
//! values it keeps.

mod client;
mod config;
mod counters;
mod database;
mod error;
mod facts;
mod marker;
mod read;
mod recipe;
mod row_binary;
mod sql;

use config::{Config, SETTINGS};
use database::ClickHouseDatabase;
use iotbench_core::{
    Acknowledgement, AddedSignals, Backend, BackendInfo, Capabilities, Database, Domain, Duplicates, Language, Layout,
    MAX_TAGS, OpenRequest, PromiseLevel, SettingError, TagSupport, TimeUnit,
};
use marker::FLAG;
use std::sync::Arc;

/// ClickHouse.
pub struct ClickHouse;

const CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Wide, Layout::Narrow],
    time_unit: TimeUnit::Ns,
    duplicates: Duplicates::Keep,
    domain: |_| Domain::Full,
    acknowledgement: Acknowledgement::Applied,
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
    promise: PromiseLevel::ProcessCrash,
    recipe: Some(&recipe::RECIPE),
    tags: TagSupport { most: MAX_TAGS, typed: true, changing: true },
    met: &["18.16.1"],
    writes_by: "RowBinary over HTTP",
    statements: Some(Language::Sql),
    counters: counters::SOURCES,
    added_signals: |layout| {
        AddedSignals::Not(match layout {
            Layout::Narrow => "the names of signals are an Enum that is fixed when the table is created",
            _ => "rows that were there before a column was added read as 0 or empty in it, not as without a value",
        })
    },
    ..BackendInfo::new("clickhouse", "ClickHouse: MergeTree, RowBinary over HTTP, read by SQL", CAPABILITIES)
};

impl Backend for ClickHouse {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let config = Config::new(&request.settings, &request.target, |name| std::env::var(name).ok())?;
        if request.table.name.as_str().starts_with(FLAG) {
            let message = format!("{FLAG}… are the tables that say who uses ours: choose another");
            return Err(SettingError { key: "table".into(), message, suggestion: None });
        }
        Ok(Arc::new(ClickHouseDatabase::new(config, request.table)))
    }
}
