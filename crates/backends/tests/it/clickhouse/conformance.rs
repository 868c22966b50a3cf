//! ClickHouse behaves as every backend should, in both layouts.

use crate::clickhouse::server::{Server, backend, open, server, table};
use iotbench_conformance::{Fixture, assert_conforms, check};
use iotbench_core::{Backend, Endpoint, Layout, OpenRequest, Settings, TableSpec, Target};
use serde_json::{Value, json};

/// A table of another run, and something of somebody else's, beside ours.
struct Click {
    server: Server,
    settings: Value,
}

impl Click {
    async fn new(server: Server, settings: Value) -> Self {
        open(&server, table("keeper", Layout::Wide, "keeper")).create().await.unwrap();
        server.ask("CREATE TABLE theirs (a Int8) ENGINE = TinyLog");
        server.ask("INSERT INTO theirs VALUES (1)");
        Self { server, settings }
    }
}

#[async_trait::async_trait]
impl Fixture for Click {
    fn backend(&self) -> &'static dyn Backend {
        backend()
    }

    fn request(&self, table: TableSpec) -> OpenRequest {
        let endpoints = vec![Endpoint::new(self.server.url.clone())];
        let settings = Settings(serde_json::from_value(self.server.settings(self.settings.clone())).unwrap());
        OpenRequest { target: Target { endpoints, ..Target::default() }, settings, table }
    }

    async fn plant_foreign(&self, table: &TableSpec) -> bool {
        self.server.ask(&format!("CREATE TABLE {} (a Int8) ENGINE = TinyLog", table.name));
        self.server.ask(&format!("INSERT INTO {} VALUES (7)", table.name));
        true
    }

    async fn contents(&self) -> Option<Vec<String>> {
        Some(self.server.contents())
    }
}

async fn conforms(database: &'static str, settings: Value, layout: Layout) {
    let Some(server) = server(database) else { return };
    assert_conforms(&check(&Click::new(server, settings).await, layout).await);
}

#[tokio::test]
async fn wide() {
    conforms("conforms_wide", json!({}), Layout::Wide).await;
}

#[tokio::test]
async fn narrow() {
    conforms("conforms_narrow", json!({}), Layout::Narrow).await;
}

#[tokio::test]
async fn compressed() {
    conforms("conforms_compressed", json!({"gzip": true}), Layout::Wide).await;
}
