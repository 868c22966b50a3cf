//! QuestDB behaves as every backend should, in both layouts.

use crate::questdb::server::{Server, backend, open, server, table};
use iotbench_conformance::{Fixture, assert_conforms, check};
use iotbench_core::{Backend, Endpoint, Layout, OpenRequest, Settings, TableSpec, Target};
use serde_json::{Value, json};

/// A table of another run, and something of somebody else's, beside ours.
struct Quest {
    server: Server,
    settings: Value,
}

impl Quest {
    async fn new(server: Server, settings: Value) -> Self {
        server.clear("conformance");
        open(&server, table("conformance_keeper", Layout::Wide, "keeper")).create().await.unwrap();
        server.ask("CREATE TABLE conformance_theirs (a INT)");
        server.ask("INSERT INTO conformance_theirs VALUES (1)");
        Self { server, settings }
    }
}

#[async_trait::async_trait]
impl Fixture for Quest {
    fn backend(&self) -> &'static dyn Backend {
        backend()
    }

    fn request(&self, table: TableSpec) -> OpenRequest {
        let endpoints = vec![Endpoint::new(self.server.url.clone())];
        let settings = Settings(serde_json::from_value(self.settings.clone()).unwrap());
        OpenRequest { target: Target { endpoints, ..Target::default() }, settings, table }
    }

    async fn plant_foreign(&self, table: &TableSpec) -> bool {
        self.server.ask(&format!("CREATE TABLE {} (a INT)", table.name));
        self.server.ask(&format!("INSERT INTO {} VALUES (7)", table.name));
        true
    }

    async fn contents(&self) -> Option<Vec<String>> {
        Some(self.server.contents("conformance"))
    }
}

async fn conforms(settings: Value, layout: Layout) {
    let Some(server) = server() else { return };
    assert_conforms(&check(&Quest::new(server, settings).await, layout).await);
}

#[tokio::test]
async fn wide() {
    conforms(json!({}), Layout::Wide).await;
}

#[tokio::test]
async fn narrow() {
    conforms(json!({"partition_by": "hour"}), Layout::Narrow).await;
}

#[tokio::test]
async fn compressed() {
    conforms(json!({"gzip": true}), Layout::Wide).await;
}
