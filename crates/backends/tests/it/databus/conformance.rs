//! The backend behaves as every one should, as far as a server of our own can tell.

use crate::databus::{
    place::{backend, contents, open, table},
    stub::Stub,
};
use iotbench_conformance::{Fixture, assert_conforms, check};
use iotbench_core::{Backend, Endpoint, Layout, OpenRequest, Settings, TableSpec, Target};
use serde_json::json;

struct Databus(Stub);

impl Databus {
    /// A server that holds a table of another run, and with it something of somebody else's.
    async fn new() -> Self {
        let stub = Stub::start().await;
        open(&stub.url, table("keeper", "keeper")).create().await.unwrap();
        plant(&stub, "theirs", "7");
        Self(stub)
    }
}

/// A stream of somebody else's.
fn plant(stub: &Stub, name: &str, value: &str) {
    let column = |name: &str, kind: &str, is_key: bool| json!({"name": name, "dataType": kind, "isPrimaryKey": is_key});
    let columns = [column("time", "BigInteger", true), column("value", "BigDecimal", false)];
    let body = json!({"datasetType": "STREAM", "modelName": name, "schema": "theirs", "columns": columns});
    stub.store(|store| {
        store.register(&body).unwrap();
        store.post(&json!({"_tableName": name, "time": 1, "value": value})).unwrap();
    });
}

#[async_trait::async_trait]
impl Fixture for Databus {
    fn backend(&self) -> &'static dyn Backend {
        backend()
    }

    fn request(&self, table: TableSpec) -> OpenRequest {
        let endpoints = vec![Endpoint::new(self.0.url.clone())];
        OpenRequest { target: Target { endpoints, ..Target::default() }, settings: Settings::default(), table }
    }

    /// What the table's last stream would be called is another's.
    async fn plant_foreign(&self, table: &TableSpec) -> bool {
        let database = open(&self.0.url, table.clone());
        database.create().await.unwrap();
        let prefix = format!("iotbench_{}_", table.name);
        let names = self
            .0
            .store(|store| store.tables.keys().filter(|name| name.starts_with(&prefix)).cloned().collect::<Vec<_>>());
        database.drop_created().await.unwrap();
        plant(&self.0, names.last().unwrap(), "1");
        true
    }

    async fn contents(&self) -> Option<Vec<String>> {
        Some(contents(&self.0))
    }
}

#[tokio::test]
async fn streams() {
    let databus = Databus::new().await;
    let outcomes = check(&databus, Layout::Wide).await;
    open(&databus.0.url, table("keeper", "keeper")).drop_created().await.unwrap();
    assert_conforms(&outcomes);
    let foreign =
        |name: &str| name == "theirs" || name == "iotbench_tables" || name.starts_with("iotbench_conformance_foreign_");
    let left = databus.0.store(|store| store.tables.keys().filter(|name| !foreign(name)).cloned().collect::<Vec<_>>());
    assert!(left.is_empty(), "{left:?}");
    assert!(databus.0.store(|store| store.tables["iotbench_tables"].rows.len()) == 1, "no mark is left");
}
