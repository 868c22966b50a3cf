//! What SQLite alone promises: its file, its settings, and what it leaves alone.

#![cfg(feature = "sqlite")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use iotbench_backends::BACKENDS;
use iotbench_core::{
    Backend, Batch, Counts, Database, Layout, Marker, Name, OpenRequest, Registry, Run, Schema, Settings, Signal,
    TableSpec, Target, Value, ValueType,
};
use std::{path::Path, sync::Arc};

fn signal(name: &str, value_type: ValueType) -> Signal {
    Signal { name: name.into(), value_type, max_text_bytes: 0 }
}

fn table() -> TableSpec {
    TableSpec {
        name: Name::new("readings").unwrap(),
        layout: Layout::Wide,
        schema: Schema::new(vec![signal("select", ValueType::F32), signal("rowid", ValueType::I64)]).unwrap(),
        devices: 2,
        marker: Marker { run_id: "run-1".into(), fingerprint: "f".into() },
    }
}

fn sqlite() -> &'static dyn Backend {
    Registry::new(BACKENDS).find("sqlite").unwrap()
}

fn open(folder: &Path, settings: &str) -> Arc<dyn Database> {
    let target = Target { folder: Some(folder.into()), ..Target::default() };
    let settings = Settings(toml_like(settings));
    sqlite().open(OpenRequest { target, settings, table: table() }).unwrap()
}

fn toml_like(json: &str) -> serde_json::Map<String, serde_json::Value> {
    serde_json::from_str(json).unwrap()
}

fn batch(count: u32) -> Batch {
    let mut batch = Batch::new(&table().schema);
    batch.append(Run { device: 1, first: 0, count }, |timestamps, columns| {
        for index in 0..i64::from(count) {
            timestamps.push(index);
            assert!(columns[0].push(Value::F32(1.5)) && columns[1].push(Value::I64(index)));
        }
    });
    batch
}

#[tokio::test(flavor = "current_thread")]
async fn a_file_of_ours_is_gone_when_the_run_drops_it() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path(), "{}");
    database.ping().await.unwrap();
    database.create().await.unwrap();
    let mut writer = database.writer().await.unwrap();
    for count in [1, 50] {
        assert_eq!(writer.write(&batch(count)).await.unwrap().points, u64::from(count));
    }
    drop(writer);
    assert_eq!(database.count().await.unwrap(), Counts { points: 51, values: 102 });
    assert!(database.storage_bytes().await.unwrap().unwrap() > 0);
    database.drop_created().await.unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
