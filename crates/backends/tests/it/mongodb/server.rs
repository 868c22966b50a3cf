//! The server that the tests use, and a database of each test's own on it.

use crate::harness;
use iotbench_conformance::patient;
use iotbench_core::{Backend, Batch, Database, Layout, OpenRequest, Run, TableSpec, Value, ValueType};
use mongodb::{
    Client,
    bson::{Document, doc},
};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};
use url::Url;

/// The URL of a server; `None` where there is none and none is demanded.
pub(crate) fn url() -> Option<Url> {
    harness::url("mongodb")
}

pub(crate) fn backend() -> &'static dyn Backend {
    harness::backend("mongodb")
}

/// A database that one test may do with as it likes.
pub(crate) struct OwnDatabase {
    server: Url,
    pub(crate) database: mongodb::Database,
}

impl OwnDatabase {
    /// A new database; `None` where there is no server.
    pub(crate) async fn create() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let server = url()?;
        let name = format!("iotbench_test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let client = Client::with_uri_str(server.as_str()).await.unwrap();
        Some(Self { server, database: client.database(&name) })
    }

    pub(crate) fn url(&self) -> Url {
        let mut url = self.server.clone();
        url.set_path(self.database.name());
        url
    }

    pub(crate) async fn run(&self, command: Document) -> Document {
        self.database.run_command(command).await.unwrap()
    }

    pub(crate) async fn insert(&self, collection: &str, document: Document) {
        self.database.collection::<Document>(collection).insert_one(document).await.unwrap();
    }

    pub(crate) async fn remove(self) {
        self.database.drop().await.unwrap();
    }

    /// Every collection, with its content, in a fixed order. What the server itself keeps of time series stays out.
    pub(crate) async fn contents(&self) -> Vec<String> {
        let mut names = self.database.list_collection_names().await.unwrap();
        names.retain(|name| !name.starts_with("system."));
        names.sort();
        let mut contents = Vec::new();
        for name in names {
            let collection = self.database.collection::<Document>(&name);
            let mut found = collection.find(doc! {}).await.unwrap();
            let indexes = collection.list_index_names().await.unwrap_or_default();
            contents.push(format!("{name} {indexes:?}"));
            while found.advance().await.unwrap() {
                contents.push(format!("{:?}", found.current()));
            }
        }
        contents
    }
}

/// A table of one number.
pub(crate) fn table(layout: Layout, run_id: &str) -> TableSpec {
    harness::table("points", layout, &[("a", ValueType::F64)], run_id)
}

/// So many datapoints of that table: their number is their value, and they are half a second apart.
pub(crate) fn batch(count: u32) -> Batch {
    let mut batch = Batch::new(&table(Layout::Wide, "").schema);
    batch.append(Run { device: 0, first: 0, count }, |times, columns| {
        for index in 0..count {
            times.push(1_700_000_000_000_000_000 + i64::from(index) * 500_000_001);
            assert!(columns[0].push(Value::F64(index.into())));
        }
    });
    batch
}

pub(crate) fn request(url: &Url, settings: &str, table: TableSpec) -> OpenRequest {
    harness::request_to_open(url, serde_json::from_str(settings).unwrap(), table)
}

pub(crate) fn open(url: &Url, settings: &str, table: TableSpec) -> Arc<dyn Database> {
    patient(backend().open(request(url, settings, table)).unwrap())
}
