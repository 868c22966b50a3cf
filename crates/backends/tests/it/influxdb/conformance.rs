//! InfluxDB behaves as every backend should, in both layouts and by every way of writing.

use crate::influxdb::server::{Scratch, backend, contents, of_database, open, table, url, write};
use iotbench_conformance::{Fixture, assert_conforms, check};
use iotbench_core::{Backend, Endpoint, Layout, Name, OpenRequest, Settings, TableSpec, Target};
use serde_json::{Value, json};
use url::Url;

/// A database of iotbench's own that holds a table of another run, and with it something of somebody else's.
struct Influx {
    settings: Value,
    scratch: Scratch,
}

impl Influx {
    async fn new(url: &Url, settings: Value) -> Self {
        let name = settings["database"].as_str().unwrap().to_owned();
        let scratch = Scratch::new(url, &name);
        let mut keeper = table(Layout::Wide, "keeper");
        keeper.name = Name::new("keeper").unwrap();
        open(url, of_database(&name), keeper).create().await.unwrap();
        write(url, &name, "theirs,a=b c=\"d\" 1\n");
        Self { settings, scratch }
    }
}

#[async_trait::async_trait]
impl Fixture for Influx {
    fn backend(&self) -> &'static dyn Backend {
        backend()
    }

    fn request(&self, table: TableSpec) -> OpenRequest {
        let endpoints = vec![Endpoint::new(self.scratch.url.clone())];
        let settings = Settings(serde_json::from_value(self.settings.clone()).unwrap());
        OpenRequest { target: Target { endpoints, ..Target::default() }, settings, table }
    }

    async fn plant_foreign(&self, table: &TableSpec) -> bool {
        write(&self.scratch.url, &self.scratch.name, &format!("{} a=\"planted\" 1\n", table.name));
        true
    }

    async fn contents(&self) -> Option<Vec<String>> {
        Some(contents(&self.scratch.url, &self.scratch.name))
    }
}

async fn conforms(settings: Value, layout: Layout) {
    let Some(url) = url() else { return };
    assert_conforms(&check(&Influx::new(&url, settings).await, layout).await);
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
async fn compressed() {
    conforms(json!({"database": "conformance_gzip", "gzip": true}), Layout::Wide).await;
}

#[tokio::test]
async fn datagrams() {
    for (datagram, layout) in [("line", Layout::Wide), ("mtu", Layout::Narrow), ("64k", Layout::Wide)] {
        conforms(json!({"database": "iotbench", "transport": "udp", "datagram": datagram}), layout).await;
    }
}
