//! SQLite in a file, by rusqlite: the default backend, with nothing to install. README.md beside this file says what it
//! creates, what it promises and which values it keeps.

mod config;
mod database;
mod devices;
mod error;
mod file;
mod interrupt;
mod layout;
mod marker;
mod promise;
mod read;
mod write;

use config::{Config, SETTINGS, file_of};
use database::SqliteDatabase;
use file::DatabaseFile;
use iotbench_core::{
    Acknowledgement, AddedSignals, Backend, BackendInfo, Capabilities, Database, Domain, Duplicates, Language, Layout,
    MAX_TAGS, OpenRequest, PromiseLevel, SettingError, TagSupport, TimeUnit, ValueType,
};
use marker::MARKER_TABLE;
use std::sync::Arc;

/// SQLite.
pub struct Sqlite;

const CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Wide, Layout::Narrow, Layout::Document, Layout::Bulk],
    time_unit: TimeUnit::Ns,
    duplicates: Duplicates::Keep,
    domain,
    acknowledgement: Acknowledgement::Durable,
    transactions: true,
    buckets: &[Layout::Wide, Layout::Narrow, Layout::Document],
    most_writers: Some(1),
    blocking: true,
    embedded: true,
    stores: true,
    empties: true,
};

/// Numbers come back equal: a column of type REAL keeps a whole number as an integer, and so loses the sign of -0.0.
fn domain(value_type: ValueType) -> Domain {
    match value_type {
        ValueType::F32 | ValueType::F64 => Domain::Rounded { relative: 0.0 },
        ValueType::I64 | ValueType::U16 | ValueType::Text => Domain::Full,
    }
}

/// SQLite's `SQLITE_MAX_COLUMN` of 2000, without device and time.
const MOST_COLUMNS: usize = 1998;

static INFO: BackendInfo = BackendInfo {
    settings: SETTINGS,
    promise: PromiseLevel::OsCrash,
    most_wide_signals: MOST_COLUMNS,
    tags: TagSupport { most: MAX_TAGS, typed: true, ..TagSupport::NONE },
    met: &["3.51.3"],
    writes_by: "a prepared INSERT a record, a transaction a batch",
    statements: Some(Language::Sql),
    statements_write: true,
    added_signals: |layout| if layout == Layout::Wide { AddedSignals::Altered } else { AddedSignals::Nothing },
    ..BackendInfo::new("sqlite", "SQLite in a file, embedded: nothing to install", CAPABILITIES)
};

impl Backend for Sqlite {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let config = Config::new(&request.settings)?;
        let file = DatabaseFile::new(file_of(&request.target)?, config);
        if request.table.name.as_str() == MARKER_TABLE {
            let message = format!("{MARKER_TABLE} is the name of the table that marks ours: choose another");
            return Err(SettingError { key: "table".into(), message, suggestion: None });
        }
        Ok(Arc::new(SqliteDatabase::new(file, request.table, config.indexes)))
    }
}
