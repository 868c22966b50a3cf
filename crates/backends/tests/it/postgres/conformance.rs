//! Every layout, written by every method, conforms.

use crate::postgres::server::{OwnDatabase, backend, request};
use iotbench_conformance::{Fixture, assert_conforms, check};
use iotbench_core::{Backend, Layout, OpenRequest, TableSpec};

/// A database in which somebody else has a table and a view.
struct Postgres {
    database: OwnDatabase,
    settings: String,
    /// Where the tables lie, quoted.
    schema: &'static str,
}

#[async_trait::async_trait]
impl Fixture for Postgres {
    fn backend(&self) -> &'static dyn Backend {
        backend()
    }

    fn request(&self, table: TableSpec) -> OpenRequest {
        request(&self.database.url(), &self.settings, table)
    }

    async fn plant_foreign(&self, table: &TableSpec) -> bool {
        let name = format!("{}.{}", self.schema, table.name);
        self.database.execute(&format!("CREATE TABLE {name} (ts text); INSERT INTO {name} VALUES ('planted')")).await;
        true
    }

    async fn contents(&self) -> Option<Vec<String>> {
        Some(self.database.contents().await)
    }
}

async fn conforms(layout: Layout, settings: &str) {
    let Some(database) = OwnDatabase::create().await else { return };
    let mine = "CREATE TABLE mine (a integer); INSERT INTO mine VALUES (1), (NULL); \
                CREATE VIEW \"Größe; \"\"x\" AS SELECT * FROM mine; CREATE SCHEMA \"o'ther \"\"ä\"";
    database.execute(mine).await;
    let schema = if settings.contains("schema") { "\"o'ther \"\"ä\"" } else { "public" };
    let fixture = Postgres { database, settings: settings.into(), schema };
    assert_conforms(&check(&fixture, layout).await);
    fixture.database.remove().await;
}

#[tokio::test]
async fn wide_by_insert() {
    conforms(Layout::Wide, "{}").await;
}

#[tokio::test]
async fn wide_in_partitions_by_copy() {
    conforms(Layout::Wide, r#"{"method": "copy", "partitions": 3}"#).await;
}

#[tokio::test]
async fn narrow_in_partitions() {
    conforms(Layout::Narrow, r#"{"partitions": 3, "unlogged": true}"#).await;
}

#[tokio::test]
async fn wide_by_unnest() {
    conforms(Layout::Wide, r#"{"method": "unnest"}"#).await;
}

#[tokio::test]
async fn wide_by_copy() {
    conforms(Layout::Wide, r#"{"method": "copy"}"#).await;
}

#[tokio::test]
async fn narrow_by_insert() {
    conforms(Layout::Narrow, "{}").await;
}

#[tokio::test]
async fn narrow_by_unnest() {
    conforms(Layout::Narrow, r#"{"method": "unnest"}"#).await;
}

#[tokio::test]
async fn narrow_by_copy() {
    conforms(Layout::Narrow, r#"{"method": "copy"}"#).await;
}

#[tokio::test]
async fn document_by_insert() {
    conforms(Layout::Document, "{}").await;
}

#[tokio::test]
async fn document_by_unnest() {
    conforms(Layout::Document, r#"{"method": "unnest"}"#).await;
}

#[tokio::test]
async fn document_by_copy() {
    conforms(Layout::Document, r#"{"method": "copy"}"#).await;
}

#[tokio::test]
async fn bulk_by_insert() {
    conforms(Layout::Bulk, "{}").await;
}

#[tokio::test]
async fn bulk_by_unnest() {
    conforms(Layout::Bulk, r#"{"method": "unnest"}"#).await;
}

#[tokio::test]
async fn bulk_by_copy() {
    conforms(Layout::Bulk, r#"{"method": "copy"}"#).await;
}

#[tokio::test]
async fn without_an_index_in_an_unlogged_table_of_another_schema() {
    for layout in Layout::ALL {
        conforms(layout, r#"{"indexes": "none", "unlogged": true, "schema": "o'ther \"ä"}"#).await;
    }
}

#[tokio::test]
async fn with_an_index_on_time_and_a_commit_a_datapoint() {
    let settings = r#"{"indexes": "time", "commit": "datapoint", "synchronous_commit": "off"}"#;
    conforms(Layout::Wide, settings).await;
    conforms(Layout::Narrow, settings).await;
}
