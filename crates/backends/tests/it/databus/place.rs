//! Tables, datapoints, and what the server holds.

use crate::databus::stub::Stub;
use iotbench_backends::BACKENDS;
use iotbench_core::{
    Backend, Batch, Database, Endpoint, Layout, Marker, Name, OpenRequest, Registry, Run, Schema, Settings, Signal,
    TableSpec, Target, Value, ValueType,
};
use std::sync::Arc;
use url::Url;

pub fn backend() -> &'static dyn Backend {
    Registry::new(BACKENDS).find("databus").unwrap()
}

pub fn open(url: &Url, table: TableSpec) -> Arc<dyn Database> {
    let target = Target { endpoints: vec![Endpoint::new(url.clone())], ..Target::default() };
    backend().open(OpenRequest { target, settings: Settings::default(), table }).unwrap()
}

/// A table of two signals on two devices.
pub fn table(name: &str, run_id: &str) -> TableSpec {
    let signal = |name: &str, value_type| Signal { name: name.into(), value_type, max_text_bytes: 0 };
    TableSpec {
        name: Name::new(name).unwrap(),
        layout: Layout::Wide,
        schema: Schema::new(vec![signal("a", ValueType::F64), signal("b", ValueType::I64)]).unwrap(),
        devices: 2,
        marker: Marker { run_id: run_id.into(), fingerprint: "f".into() },
    }
}

/// Datapoints of device 1, a millisecond apart.
pub fn batch(table: &TableSpec, first: u64, count: u32) -> Batch {
    let mut batch = Batch::new(&table.schema);
    let run = Run { device: 1, first, count };
    batch.append(run, |times, columns| {
        for index in run.indices() {
            times.push(time_ns(index));
            assert!(columns[0].push(Value::F64(1.5)) && columns[1].push(Value::I64(2_147_483_647)));
        }
    });
    batch
}

pub fn time_ns(index: u64) -> i64 {
    1_700_000_000_000_000_000 + i64::try_from(index).unwrap() * 1_000_000
}

/// Every table with its rows, as text.
pub fn contents(stub: &Stub) -> Vec<String> {
    stub.store(|store| store.tables.iter().map(|(name, table)| format!("{name}: {table:?}")).collect())
}
