//! The real server, a database of the test's own on it, and batches.

use crate::harness;
use iotbench_core::{
    Backend, Batch, Database, Layout, Marker, Name, Run, Schema, SettingError, Settings, Signal, TableSpec, Value,
    ValueType,
};
use serde_json::{Value as Json, json};
use sqlx::{Connection, Executor, MySqlConnection, Row, mysql::MySqlRow};
use std::sync::Arc;
use url::Url;

pub(crate) fn backend() -> &'static dyn Backend {
    named("mariadb")
}

pub(crate) fn named(backend: &str) -> &'static dyn Backend {
    harness::backend(backend)
}

/// A database of one test's own on the real server, empty.
pub(crate) struct Place {
    pub(crate) url: Url,
    pub(crate) database: String,
}

impl Place {
    /// `None` where there is no server: the test is skipped.
    pub(crate) async fn new(test: &str) -> Option<Self> {
        Self::on("mariadb", test).await
    }

    /// The same on the server of that backend.
    pub(crate) async fn on(backend: &str, test: &str) -> Option<Self> {
        let mut url = harness::url(backend)?;
        let database = format!("iotbench_test_{test}");
        url.set_path(&database);
        let place = Self { url, database };
        place.drop().await;
        place.execute(&format!("CREATE DATABASE `{}` CHARACTER SET latin1", place.database)).await;
        Some(place)
    }

    pub(crate) async fn drop(&self) {
        self.execute(&format!("DROP DATABASE IF EXISTS `{}`", self.database)).await;
    }

    /// A connection of the test's own, in no database.
    pub(crate) async fn connect(&self) -> MySqlConnection {
        let mut url = self.url.clone();
        url.set_path("");
        MySqlConnection::connect(url.as_str()).await.unwrap()
    }

    pub(crate) async fn execute(&self, sql: &str) {
        self.connect().await.execute(sql).await.unwrap();
    }

    pub(crate) async fn rows(&self, sql: &str) -> Vec<String> {
        self.connect().await.fetch_all(sql).await.unwrap().iter().map(text_of).collect()
    }

    /// The address with another user and password.
    pub(crate) fn url_of(&self, user: &str, password: &str) -> Url {
        let mut url = self.url.clone();
        url.set_username(user).unwrap();
        url.set_password(Some(password)).unwrap();
        url
    }

    pub(crate) fn open(&self, settings: Json, table: TableSpec) -> Arc<dyn Database> {
        open(&self.url, settings, table).unwrap()
    }
}

/// Every cell of a row of the text protocol.
fn text_of(row: &MySqlRow) -> String {
    let cells = (0..row.len()).map(|place| {
        let bytes: Option<Vec<u8>> = row.try_get_unchecked(place).unwrap();
        bytes.map_or_else(|| "NULL".into(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    });
    cells.collect::<Vec<_>>().join("|")
}

pub(crate) fn open(url: &Url, settings: Json, table: TableSpec) -> Result<Arc<dyn Database>, SettingError> {
    backend().open(harness::request_to_open(url, settings, table))
}

pub(crate) fn settings_of(settings: Json) -> Settings {
    Settings(serde_json::from_value(settings).unwrap())
}

pub(crate) fn table(layout: Layout, types: &[ValueType], devices: u32) -> TableSpec {
    let signals = types.iter().enumerate().map(|(i, &value_type)| Signal {
        name: format!("s{i}"),
        value_type,
        max_text_bytes: if value_type == ValueType::Text { 1024 } else { 0 },
    });
    TableSpec {
        name: Name::new("readings").unwrap(),
        layout,
        schema: Schema::new(signals.collect()).unwrap(),
        devices,
        marker: Marker { run_id: "run-1".into(), fingerprint: "f".into() },
    }
}

/// Datapoints of one device, a millisecond apart, whose values follow from their index.
pub(crate) fn batch(table: &TableSpec, first: u64, count: u32) -> Batch {
    let mut batch = Batch::new(&table.schema);
    batch.append(Run { device: 0, first, count }, |times, columns| {
        for index in first..first + u64::from(count) {
            times.push(i64::try_from(index).unwrap() * 1_000_000);
            for column in columns.iter_mut() {
                let small = u16::try_from(index % 1000).unwrap();
                let text = format!("{index:-<1024}");
                let pushed = match column.value_type() {
                    ValueType::F32 => column.push(Value::F32(f32::from(small) / 3.0)),
                    ValueType::F64 => column.push(Value::F64(f64::from(small) / 3.0)),
                    ValueType::I64 => column.push(Value::I64(small.into())),
                    ValueType::U16 => column.push(Value::U16(small)),
                    ValueType::Text => column.push(Value::Text(&text)),
                };
                assert!(pushed);
            }
        }
    });
    batch
}

pub(crate) fn none() -> Json {
    json!({})
}
