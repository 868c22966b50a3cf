//! Every layout conforms, with each index.

use crate::mongodb::server::{OwnDatabase, backend, request};
use iotbench_conformance::{Fixture, assert_conforms, check};
use iotbench_core::{Backend, Layout, OpenRequest, TableSpec};
use mongodb::bson::doc;

/// A database in which somebody else has a collection and a view.
struct MongoDb {
    database: OwnDatabase,
    settings: String,
}

#[async_trait::async_trait]
impl Fixture for MongoDb {
    fn backend(&self) -> &'static dyn Backend {
        backend()
    }

    fn request(&self, table: TableSpec) -> OpenRequest {
        request(&self.database.url(), &self.settings, table)
    }

    async fn plant_foreign(&self, table: &TableSpec) -> bool {
        self.database.insert(table.name.as_str(), doc! { "planted": 1 }).await;
        true
    }

    async fn contents(&self) -> Option<Vec<String>> {
        Some(self.database.contents().await)
    }
}

async fn conforms(layout: Layout, settings: &str) {
    let Some(database) = OwnDatabase::create().await else { return };
    database.insert("mine", doc! { "_id": 1, "a": "x" }).await;
    database.run(doc! { "create": "Größe; \"x", "viewOn": "mine", "pipeline": [] }).await;
    let fixture = MongoDb { database, settings: settings.into() };
    assert_conforms(&check(&fixture, layout).await);
    fixture.database.remove().await;
}

#[tokio::test]
async fn document() {
    conforms(Layout::Document, "{}").await;
}

#[tokio::test]
async fn bulk() {
    conforms(Layout::Bulk, "{}").await;
}

#[tokio::test]
async fn narrow() {
    conforms(Layout::Narrow, "{}").await;
}

#[tokio::test]
async fn wide() {
    conforms(Layout::Wide, "{}").await;
}

#[tokio::test]
async fn without_an_index_and_waiting_for_the_journal() {
    for layout in Layout::ALL {
        conforms(layout, r#"{"indexes": "none", "w": 1, "j": true}"#).await;
    }
}

#[tokio::test]
async fn with_an_index_on_time_and_a_majority() {
    for layout in Layout::ALL {
        conforms(layout, r#"{"indexes": "time", "w": "majority"}"#).await;
    }
}
