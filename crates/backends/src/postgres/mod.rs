//! PostgreSQL, by sqlx. README.md beside this file says what it creates, how it writes, what it promises and which
//! values it keeps.

mod address;
mod citus;
mod config;
mod connector;
mod counters;
mod database;
mod devices;
mod error;
mod facts;
mod layout;
mod lease;
mod own_database;
mod ownership;
mod promise;
mod quoting;
mod read;
mod recipe;
mod timescale;
mod write;

use address::Address;
use async_trait::async_trait;
use config::{Config, Division, SETTINGS};
use connector::Connector;
use database::PostgresDatabase;
use iotbench_core::{
    Acknowledgement, AddedSignals, Backend, BackendInfo, Capabilities, Database, Domain, Duplicates, Error, Language,
    Layout, MAX_TAGS, OpenRequest, PromiseLevel, Recipe, SettingError, Settings, TableSpec, TagSupport, Target,
    TimeUnit, ValueType,
};
use layout::Table;
use std::sync::Arc;

/// PostgreSQL.
pub struct Postgres;

const CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Wide, Layout::Narrow, Layout::Document, Layout::Bulk],
    time_unit: TimeUnit::Ns,
    duplicates: Duplicates::Keep,
    domain,
    acknowledgement: Acknowledgement::Durable,
    transactions: true,
    buckets: &[Layout::Wide, Layout::Narrow, Layout::Document, Layout::Bulk],
    most_writers: None,
    blocking: false,
    embedded: false,
    stores: true,
    empties: true,
};

/// Numbers come back equal: JSONB keeps them as decimals, and so loses the sign of -0.0. No text may hold U+0000.
fn domain(value_type: ValueType) -> Domain {
    match value_type {
        ValueType::F32 | ValueType::F64 => Domain::Rounded { relative: 0.0 },
        ValueType::I64 | ValueType::U16 => Domain::Full,
        ValueType::Text => Domain::TextWithoutNul,
    }
}

/// PostgreSQL's 1600 columns, without device and time; how many fit into a page depends on their types besides.
const MOST_COLUMNS: usize = 1598;

static INFO: BackendInfo = BackendInfo {
    settings: SETTINGS,
    default_port: Some(address::DEFAULT_PORT),
    promise: PromiseLevel::OsCrash,
    recipe: Some(&recipe::RECIPE),
    variants: &recipe::VARIANTS,
    plain_text: Some(("sslmode", "disable")),
    unlimited_answers: true,
    most_wide_signals: MOST_COLUMNS,
    tags: TagSupport { most: MAX_TAGS, typed: true, ..TagSupport::NONE },
    met: &["15.18"],
    writes_by: "prepared INSERT of many rows, arrays (unnest), binary COPY",
    statements: Some(Language::Sql),
    statements_write: true,
    added_signals: |layout| if layout == Layout::Wide { AddedSignals::Altered } else { AddedSignals::Nothing },
    counters: counters::SOURCES,
    ..BackendInfo::new(
        "postgres",
        "PostgreSQL: rows or JSONB, by prepared inserts, arrays or binary COPY; Citus, TimescaleDB",
        CAPABILITIES,
    )
};

#[async_trait]
impl Backend for Postgres {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    fn recipe_for(&self, settings: &Settings) -> Option<&'static Recipe> {
        let workers = settings.0.get("citus_workers").and_then(serde_json::Value::as_u64).unwrap_or(0);
        let is_hypertable = settings.0.get("hypertable").and_then(serde_json::Value::as_bool).unwrap_or(false);
        match recipe::with_workers(workers) {
            None if is_hypertable => Some(&recipe::WITH_TIMESCALEDB),
            None => INFO.recipe,
            cluster => cluster,
        }
    }

    async fn join(&self, target: &Target) -> Result<(), Error> {
        citus::join(target).await
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let config = Config::new(&request.settings, request.table.layout)?;
        let address = address(&request.target, &config)?;
        refuse_table(&request.table)?;
        let connector = Connector::new(address, &config);
        Ok(Arc::new(PostgresDatabase::new(connector, Table::new(request.table, &config), config)))
    }
}

/// The server that is talked to: of a cluster that was just started, the first, which is its coordinator.
fn address(target: &Target, config: &Config) -> Result<Address, SettingError> {
    let variable = |name: &str| std::env::var(name).ok();
    if config.division() != Division::Shards {
        return Address::of(target, &variable);
    }
    let mut coordinator = target.clone();
    if config.citus_workers > 0 {
        coordinator.endpoints.truncate(1);
    }
    let address = Address::of(&coordinator, &variable)?;
    if address.database.is_none() {
        let message = "a distributed table lies in the database that has the extension citus: write \
                       postgres://HOST/DATABASE";
        return Err(SettingError { key: "url".into(), message: message.into(), suggestion: None });
    }
    Ok(address)
}

fn refuse_table(table: &TableSpec) -> Result<(), SettingError> {
    let refuse =
        |key: &str, message: &str| Err(SettingError { key: key.into(), message: message.into(), suggestion: None });
    if i32::try_from(table.devices).is_err() {
        return refuse("devices", "the device column is an INTEGER: at most 2147483647 devices");
    }
    if table.layout == Layout::Narrow && table.schema.uniform_type().is_none() {
        return refuse("layout", "layout narrow stores values of one type, and this dataset mixes types");
    }
    Ok(())
}
