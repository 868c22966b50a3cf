//! MariaDB, with the engines InnoDB and MyRocks, and MySQL, by sqlx. README.md beside this file says what it creates,
//! what it promises and which values it keeps.

mod address;
mod config;
mod counters;
mod database;
mod devices;
mod error;
mod facts;
mod greeting;
mod layout;
mod lease;
mod marker;
mod mysql;
mod promise;
mod read;
mod recipe;
mod server;
mod write;

use address::{Address, DEFAULT_PORT, PASSWORD_VARIABLE, Secret};
use config::{Config, SETTINGS};
use database::MariaDbDatabase;
use iotbench_core::{
    Acknowledgement, AddedSignals, Backend, BackendInfo, Capabilities, Database, Domain, Duplicates, Language, Layout,
    MAX_TAGS, OpenRequest, PromiseLevel, SettingError, TagSupport, TimeUnit, ValueType,
};
pub use mysql::MySql;
use server::Server;
use std::sync::Arc;

/// MariaDB; by `--url` also MySQL.
pub struct MariaDb;

const CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Wide, Layout::Narrow, Layout::Document, Layout::Bulk],
    time_unit: TimeUnit::Ns,
    duplicates: Duplicates::Keep,
    domain,
    acknowledgement: Acknowledgement::Durable,
    transactions: true,
    buckets: &[Layout::Wide, Layout::Narrow, Layout::Document],
    most_writers: None,
    blocking: false,
    embedded: false,
    stores: true,
    empties: true,
};

/// Numbers come back equal: MariaDB's columns of floats lose the sign of -0.0.
fn domain(value_type: ValueType) -> Domain {
    match value_type {
        ValueType::F32 | ValueType::F64 => Domain::Rounded { relative: 0.0 },
        ValueType::I64 | ValueType::U16 | ValueType::Text => Domain::Full,
    }
}

/// InnoDB's 1017 columns, without device and time.
const MOST_COLUMNS: usize = 1015;

const INFO: BackendInfo = BackendInfo {
    settings: SETTINGS,
    default_port: Some(DEFAULT_PORT),
    promise: PromiseLevel::OsCrash,
    recipe: Some(&recipe::RECIPE),
    plain_text: Some(("sslmode", "disable")),
    unlimited_answers: true,
    most_wide_signals: MOST_COLUMNS,
    tags: TagSupport { most: MAX_TAGS, typed: true, ..TagSupport::NONE },
    met: &["10.11.19"],
    writes_by: "prepared INSERT of many rows",
    statements: Some(Language::Sql),
    statements_write: true,
    added_signals: |layout| if layout == Layout::Wide { AddedSignals::Altered } else { AddedSignals::Nothing },
    counters: counters::SOURCES,
    ..BackendInfo::new("mariadb", "MariaDB with InnoDB or MyRocks, and MySQL", CAPABILITIES)
};

impl Backend for MariaDb {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        open(request)
    }
}

fn open(request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
    let config = Config::new(&request.settings)?;
    let address = Address::new(&request.target)?;
    address.refuse_idle_ca(&config)?;
    let environment = std::env::var(PASSWORD_VARIABLE).ok().map(Secret);
    let server = Server::new(address, config, environment);
    Ok(Arc::new(MariaDbDatabase::new(server, request.table)))
}
