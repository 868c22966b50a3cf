//! QuestDB: line protocol over HTTP in, SQL out. README.md beside this file says what it creates, what it promises and
//! which values it keeps.

mod client;
mod config;
mod counters;
mod database;
mod error;
mod facts;
mod marker;
mod read;
mod recipe;
mod sql;
mod write;

use config::{Config, SETTINGS};
use database::QuestDatabase;
use iotbench_core::{
    Acknowledgement, AddedSignals, Backend, BackendInfo, Capabilities, Database, Domain, Duplicates, Language, Layout,
    MAX_TAGS, OpenRequest, PromiseLevel, SettingError, TagSupport, TimeUnit, ValueType,
};
use marker::{FLAG, MARKER};
use std::sync::Arc;

/// QuestDB.
pub struct QuestDb;

const CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Wide, Layout::Narrow],
    time_unit: TimeUnit::Ns,
    duplicates: Duplicates::Keep,
    domain,
    acknowledgement: Acknowledgement::Queued,
    transactions: false,
    buckets: &[Layout::Wide, Layout::Narrow],
    most_writers: None,
    blocking: false,
    embedded: false,
    stores: true,
    empties: false,
};

/// The least integer stands for no value.
fn domain(value_type: ValueType) -> Domain {
    match value_type {
        ValueType::F32 | ValueType::F64 | ValueType::U16 => Domain::Full,
        ValueType::I64 => Domain::Integers { min: i64::MIN + 1, max: i64::MAX },
        ValueType::Text => Domain::TextWithoutNul,
    }
}

static INFO: BackendInfo = BackendInfo {
    settings: SETTINGS,
    default_port: Some(config::KNOWN.port),
    promise: PromiseLevel::ProcessCrash,
    recipe: Some(&recipe::RECIPE),
    tags: TagSupport { most: MAX_TAGS, typed: true, changing: true },
    met: &["9.3.4"],
    writes_by: "line protocol over HTTP",
    statements: Some(Language::Sql),
    counters: counters::SOURCES,
    added_signals: |layout| if layout == Layout::Wide { AddedSignals::Altered } else { AddedSignals::Nothing },
    ..BackendInfo::new("questdb", "QuestDB: line protocol over HTTP, read by SQL", CAPABILITIES)
};

impl Backend for QuestDb {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let config = Config::new(&request.settings, &request.target, |name| std::env::var(name).ok())?;
        if [MARKER, FLAG].iter().any(|ours| request.table.name.as_str().starts_with(ours)) {
            let message = format!("{MARKER}… and {FLAG}… are the tables that mark ours: choose another");
            return Err(SettingError { key: "table".into(), message, suggestion: None });
        }
        Ok(Arc::new(QuestDatabase::new(config, request.table)))
    }
}
