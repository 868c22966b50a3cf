//! MongoDB, by its own driver and raw BSON. README.md beside this file says what it creates, how it writes, what it promises
//! and which times it keeps.

mod address;
mod clients;
mod cluster;
mod config;
mod counters;
mod database;
mod encode;
mod error;
mod facts;
mod first_user;
mod layout;
mod ownership;
mod promise;
mod read;
mod recipe;
mod replica_set;
mod shards;
mod statement;
mod time;
mod write;

use address::Address;
use async_trait::async_trait;
use clients::Clients;
use config::{Config, SETTINGS};
use database::MongoDatabase;
use iotbench_core::{
    Acknowledgement, AddedSignals, Backend, BackendInfo, Capabilities, Database, Domain, Duplicates, Error, Language,
    Layout, MAX_TAGS, OpenRequest, Opens, Recipe, SettingError, Settings, Statement, TableSpec, TagSupport, Target,
    TimeUnit,
};
use layout::Table;
use std::sync::Arc;

/// MongoDB.
pub struct MongoDb;

const CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Document, Layout::Bulk, Layout::Narrow, Layout::Wide],
    time_unit: TimeUnit::Ns,
    duplicates: Duplicates::Keep,
    domain: |_| Domain::Full,
    acknowledgement: Acknowledgement::Durable,
    // A single server has none, and what a backend can do is known before its server is.
    transactions: false,
    buckets: &[Layout::Document, Layout::Bulk, Layout::Narrow, Layout::Wide],
    most_writers: None,
    blocking: false,
    embedded: false,
    stores: true,
    empties: false,
};

static INFO: BackendInfo = BackendInfo {
    settings: SETTINGS,
    default_port: Some(address::DEFAULT_PORT),
    recipe: Some(&recipe::RECIPE),
    variants: &recipe::VARIANTS,
    plain_text: Some(("tls", "false")),
    unlimited_answers: true,
    tags: TagSupport { most: MAX_TAGS, typed: true, ..TagSupport::NONE },
    statements: Some(Language::Commands),
    statements_write: true,
    met: &["6.0.5"],
    writes_by: "unordered insert of raw documents",
    counters: counters::SOURCES,
    added_signals: |_| AddedSignals::Nothing,
    ..BackendInfo::new(
        "mongodb",
        "MongoDB: documents or time series, a single server, a replica set or shards",
        CAPABILITIES,
    )
};

#[async_trait]
impl Backend for MongoDb {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    fn recipe_for(&self, settings: &Settings) -> Option<&'static Recipe> {
        match settings.0.get("shards").and_then(serde_json::Value::as_u64).unwrap_or(0) {
            0 => INFO.recipe,
            shards => recipe::with_shards(shards),
        }
    }

    async fn join(&self, target: &Target) -> Result<(), Error> {
        if cluster::is_one(target) {
            cluster::form(target).await
        } else {
            replica_set::form(target).await?;
            first_user::create(target).await
        }
    }

    fn opens(&self, target: &Target, settings: &Settings) -> Result<Opens, SettingError> {
        let address = Address::of(target, &Config::new(settings)?, &|_| None)?;
        address.opens(Opens::of(target, settings, INFO.default_port))
    }

    fn check_statement(&self, statement: &Statement) -> Result<(), String> {
        statement::command(statement).map(drop)
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let config = Config::new(&request.settings)?;
        let address = Address::of(&request.target, &config, &|name| std::env::var(name).ok())?;
        refuse_table(&request.table)?;
        let table = Table::new(request.table, &config);
        Ok(Arc::new(MongoDatabase::new(Clients::new(address), table, config)))
    }
}

fn refuse_table(table: &TableSpec) -> Result<(), SettingError> {
    let refuse =
        |key: &str, message: &str| Err(SettingError { key: key.into(), message: message.into(), suggestion: None });
    if i32::try_from(table.devices).is_err() {
        return refuse("devices", "a device is a 32-bit integer: at most 2147483647 devices");
    }
    if table.layout == Layout::Narrow && table.schema.uniform_type().is_none() {
        return refuse("layout", "layout narrow stores values of one type, and this dataset mixes types");
    }
    Ok(())
}
