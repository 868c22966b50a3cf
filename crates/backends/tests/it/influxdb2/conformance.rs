//! InfluxDB 2.x behaves as every backend should, in both layouts and by both languages: where there is one.

use crate::influxdb2::place::{address, backend};
use iotbench_conformance::{Fixture, assert_conforms, check};
use iotbench_core::{Backend, Endpoint, Layout, OpenRequest, Settings, TableSpec, Target};
use serde_json::{Value, json};
use url::Url;

struct Influx2 {
    url: Url,
    settings: Value,
}

#[async_trait::async_trait]
impl Fixture for Influx2 {
    fn backend(&self) -> &'static dyn Backend {
        backend()
    }

    fn request(&self, table: TableSpec) -> OpenRequest {
        let endpoints = vec![Endpoint::new(self.url.clone())];
        let settings = Settings(serde_json::from_value(self.settings.clone()).unwrap());
        OpenRequest { target: Target { endpoints, ..Target::default() }, settings, table }
    }
}

async fn conforms(settings: Value, layout: Layout) {
    // No package brings it: it may be missing.
    let Some(url) = address("IOTBENCH_TEST_INFLUXDB2_URL", false) else { return };
    assert_conforms(&check(&Influx2 { url, settings }, layout).await);
}

#[tokio::test]
async fn influxql() {
    conforms(json!({"bucket": "conformance_wide"}), Layout::Wide).await;
    conforms(json!({"bucket": "conformance_narrow"}), Layout::Narrow).await;
}

#[tokio::test]
async fn flux() {
    conforms(json!({"bucket": "conformance_flux", "language": "flux"}), Layout::Wide).await;
    conforms(json!({"bucket": "conformance_flux_narrow", "language": "flux"}), Layout::Narrow).await;
}
