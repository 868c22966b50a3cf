//! VictoriaMetrics behaves as every backend should, in both layouts.

use crate::victoriametrics::server::{Server, backend, open, server, table};
use iotbench_conformance::{Fixture, assert_conforms, check};
use iotbench_core::{Backend, Endpoint, Layout, Name, OpenRequest, Settings, TableSpec, Target};
use serde_json::{Value, json};

/// Series with a label of the test's own, among them a table of another run, and something of somebody else's.
struct Victoria {
    server: Server,
    settings: Value,
}

impl Victoria {
    async fn new(server: Server, settings: Value) -> Self {
        let mut keeper = table(Layout::Wide, "keeper");
        keeper.name = Name::new("keeper").unwrap();
        let database = settings["database"].as_str().unwrap().to_owned();
        server.clear(&database);
        open(&server, settings.clone(), keeper).create().await.unwrap();
        server.write(&database, "theirs,a=b c=1 1000\n");
        Self { server, settings }
    }

    fn database(&self) -> &str {
        self.settings["database"].as_str().unwrap()
    }
}

#[async_trait::async_trait]
impl Fixture for Victoria {
    fn backend(&self) -> &'static dyn Backend {
        backend()
    }

    fn request(&self, table: TableSpec) -> OpenRequest {
        let endpoints = vec![Endpoint::new(self.server.url.clone())];
        let settings = Settings(serde_json::from_value(self.settings.clone()).unwrap());
        OpenRequest { target: Target { endpoints, ..Target::default() }, settings, table }
    }

    async fn plant_foreign(&self, table: &TableSpec) -> bool {
        self.server.write(self.database(), &format!("{} s0=1,v=1 1000\n", table.name));
        true
    }

    async fn contents(&self) -> Option<Vec<String>> {
        Some(self.server.contents(self.database()))
    }
}

async fn conforms(settings: Value, layout: Layout) {
    let Some(server) = server() else { return };
    assert_conforms(&check(&Victoria::new(server, settings).await, layout).await);
}

#[tokio::test]
async fn wide() {
    conforms(json!({"database": "conformance_wide"}), Layout::Wide).await;
}

#[tokio::test]
async fn narrow() {
    conforms(json!({"database": "conformance_narrow"}), Layout::Narrow).await;
}

#[tokio::test]
async fn not_compressed() {
    conforms(json!({"database": "conformance_plain", "gzip": false}), Layout::Wide).await;
}
