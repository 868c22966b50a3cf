//! KairosDB behaves as every backend should, by every way of writing.

use crate::kairosdb::server::{backend, contents, delete, open, table, url, write};
use iotbench_conformance::{Fixture, assert_conforms, check};
use iotbench_core::{Backend, Endpoint, Layout, OpenRequest, Settings, TableSpec, Target};
use serde_json::{Value, json};
use url::Url;

/// A server that holds a table of another run, and with it something of somebody else's.
struct Kairos {
    settings: Value,
    url: Url,
}

impl Kairos {
    async fn new(url: Url, settings: Value) -> Self {
        open(&url, json!({}), table("keeper", "keeper")).create().await.unwrap();
        write(&url, "theirs", "precious");
        write(&url, "iotbench_theirs.a", "precious too");
        Self { settings, url }
    }

    async fn conforms(self) {
        let outcomes = check(&self, Layout::Wide).await;
        for metric in ["theirs", "iotbench_theirs.a", "iotbench_conformance_foreign.a"] {
            delete(&self.url, metric);
        }
        open(&self.url, json!({}), table("keeper", "keeper")).drop_created().await.unwrap();
        assert_conforms(&outcomes);
        let left = contents(&self.url);
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
        let endpoints = vec![Endpoint::new(self.url.clone())];
        let settings = Settings(serde_json::from_value(self.settings.clone()).unwrap());
        OpenRequest { target: Target { endpoints, ..Target::default() }, settings, table }
    }

    async fn plant_foreign(&self, table: &TableSpec) -> bool {
        write(&self.url, &format!("iotbench_{}.a", table.name), "planted");
        true
    }

    async fn contents(&self) -> Option<Vec<String>> {
        Some(contents(&self.url))
    }
}

#[tokio::test]
async fn json_over_http() {
    let Some(url) = url() else { return };
    Kairos::new(url, json!({"store": "h2"})).await.conforms().await;
}

#[tokio::test]
async fn compressed() {
    let Some(url) = url() else { return };
    Kairos::new(url, json!({"compression": "gzip"})).await.conforms().await;
}
