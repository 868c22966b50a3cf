//! PostgreSQL, by sqlx. README.md beside this file says what it creates, how it writes, what it promises and which
//! values it keeps.

mod address;
mod config;
mod connector;
mod database;
mod error;
mod facts;
mod layout;
mod marker;
mod own_database;
mod ownership;
mod promise;
mod read;
mod recipe;
mod write;

use address::Address;
use config::{Config, SETTINGS};
use connector::Connector;
use database::PostgresDatabase;
use iotbench_core::{
    Acknowledgement, Backend, Capabilities, Database, Domain, Duplicates, Layout, OpenRequest, Recipe, Setting,
    SettingError, TableSpec, TimeUnit, ValueType,
};
use layout::Table;
use std::sync::Arc;

/// PostgreSQL.
pub struct Postgres;

static CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Wide, Layout::Narrow, Layout::Document, Layout::Bulk],
    time_unit: TimeUnit::Ns,
    duplicates: Duplicates::Keep,
    domain,
    acknowledgement: Acknowledgement::Durable,
    transactions: true,
    most_writers: None,
    blocking: false,
    embedded: false,
    stores: true,
};

/// Numbers come back equal: JSONB keeps them as decimals, and so loses the sign of -0.0. No text may hold U+0000.
fn domain(value_type: ValueType) -> Domain {
    match value_type {
        ValueType::F32 | ValueType::F64 => Domain::Rounded { relative: 0.0 },
        ValueType::I64 | ValueType::U16 => Domain::Full,
        ValueType::Text => Domain::TextWithoutNul,
    }
}

impl Backend for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn summary(&self) -> &'static str {
        "PostgreSQL: rows or JSONB, by prepared inserts, arrays or binary COPY"
    }

    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn settings(&self) -> &'static [Setting] {
        SETTINGS
    }

    fn recipe(&self) -> Option<&'static Recipe> {
        Some(&recipe::RECIPE)
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let config = Config::new(&request.settings, request.table.layout)?;
        let address = Address::of(&request.target, &|name| std::env::var(name).ok())?;
        refuse_table(&request.table)?;
        let connector = Connector::new(address, &config);
        Ok(Arc::new(PostgresDatabase::new(connector, Table::new(request.table, &config), config)))
    }
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
