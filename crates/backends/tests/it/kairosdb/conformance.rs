//! KairosDB behaves as every backend should, by every way of writing.

use crate::kairosdb::server::{Turn, backend, contents, delete, open, table, turn, write};
use iotbench_conformance::{Fixture, assert_conforms, check};
use iotbench_core::{Backend, Endpoint, Layout, OpenRequest, Settings, TableSpec, Target};
use serde_json::{Value, json};

/// A server that holds a table of another run, and with it something of somebody else's.
struct Kairos {
    settings: Value,
    turn: Turn,
}

impl Kairos {
    async fn new(turn: Turn, settings: Value) -> Self {
        open(&turn.url, json!({}), table("keeper", "keeper")).create().await.unwrap();
        write(&turn.url, "theirs", "precious");
        write(&turn.url, "iotbench_theirs.a", "precious too");
        Self { settings, turn }
    }

    async fn conforms(self) {
        let outcomes = check(&self, Layout::Wide).await;
        for metric in ["theirs", "iotbench_theirs.a", "iotbench_conformance_foreign.a"] {
            delete(&self.turn.url, metric);
        }
        open(&self.turn.url, json!({}), table("keeper", "keeper")).drop_created().await.unwrap();
        assert_conforms(&outcomes);
        let left = contents(&self.turn.url);
        let ours =
            ["iotbench_conformance.", "iotbench_keeper.", "iotbench_marker.conformance", "iotbench_marker.keeper"];
        assert!(!left.iter().any(|metric| ours.iter().any(|ours| metric.starts_with(ours))), "{left:?}");
    }
}

#[async_trait::async_trait]
impl Fixture for Kairos {
    fn backend(&self) -> &'static dyn Backend {
        backend()
    }

    fn request(&self, table: TableSpec) -> OpenRequest {
        let endpoints = vec![Endpoint::new(self.turn.url.clone())];
        let settings = Settings(serde_json::from_value(self.settings.clone()).unwrap());
        OpenRequest { target: Target { endpoints, ..Target::default() }, settings, table }
    }

    async fn plant_foreign(&self, table: &TableSpec) -> bool {
        write(&self.turn.url, &format!("iotbench_{}.a", table.name), "planted");
        true
    }

    async fn contents(&self) -> Option<Vec<String>> {
        Some(contents(&self.turn.url))
    }
}

#[tokio::test]
async fn json_over_http() {
    let Some(turn) = turn().await else { return };
    Kairos::new(turn, json!({"store": "h2"})).await.conforms().await;
}

#[tokio::test]
async fn compressed() {
    let Some(turn) = turn().await else { return };
    Kairos::new(turn, json!({"compression": "gzip"})).await.conforms().await;
}
