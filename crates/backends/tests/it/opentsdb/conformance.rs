//! OpenTSDB behaves as every backend should, by every way of writing.

use crate::opentsdb::server::{backend, contents, delete, open, table, url, write};
use iotbench_conformance::{Fixture, assert_conforms, check};
use iotbench_core::{Backend, Endpoint, Layout, OpenRequest, Settings, TableSpec, Target};
use serde_json::{Value, json};
use url::Url;

/// A server that holds a table of another run, and with it something of somebody else's.
struct OpenTsdb {
    settings: Value,
    url: Url,
}

impl OpenTsdb {
    async fn new(url: Url, settings: Value) -> Self {
        open(&url, json!({}), table("keeper", "keeper")).create().await.unwrap();
        write(&url, "theirs", 1);
        write(&url, "iotbench_theirs.a", 2);
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
        assert!(!left.iter().any(|line| line.contains("conformance") || line.contains("keeper")), "{left:?}");
    }
}

#[async_trait::async_trait]
impl Fixture for OpenTsdb {
    fn backend(&self) -> &'static dyn Backend {
        backend()
    }

    fn request(&self, table: TableSpec) -> OpenRequest {
        let endpoints = vec![Endpoint::new(self.url.clone())];
        let settings = Settings(serde_json::from_value(self.settings.clone()).unwrap());
        OpenRequest { target: Target { endpoints, ..Target::default() }, settings, table }
    }

    async fn plant_foreign(&self, table: &TableSpec) -> bool {
        write(&self.url, &format!("iotbench_{}.a", table.name), 3);
        true
    }

    async fn contents(&self) -> Option<Vec<String>> {
        Some(contents(&self.url))
    }
}

#[tokio::test]
#[ignore = "HBase and OpenTSDB: scripts/long opentsdb"]
async fn queued() {
    let Some(url) = url() else { return };
    OpenTsdb::new(url, json!({})).await.conforms().await;
}

#[tokio::test]
#[ignore = "HBase and OpenTSDB: scripts/long opentsdb"]
async fn compressed_and_waited_for() {
    let Some(url) = url() else { return };
    OpenTsdb::new(url, json!({"compression": "gzip", "sync": true})).await.conforms().await;
}
