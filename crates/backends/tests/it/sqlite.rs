//! What SQLite alone promises: its file, its settings, and what it leaves alone.

#![cfg(feature = "sqlite")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod devices;
mod statements;

use iotbench_backends::BACKENDS;
use iotbench_core::{
    Action, Applied, Batch, Cause, Chunk, Counts, Database, Endpoint, Error, Layout, Marker, Name, OpenRequest,
    PromiseLevel, Query, Registry, Run, Schema, Settings, Signal, TableSpec, Target, Value, ValueType,
};
use rusqlite::Connection;
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};
use tempfile::TempDir;

#[test]
fn the_version_that_is_built_in_is_the_one_that_lists_tell() {
    assert_eq!(Registry::new(BACKENDS).find("sqlite").unwrap().info().met, [rusqlite::version()]);
}

fn signal(name: &str, value_type: ValueType) -> Signal {
    Signal { name: name.into(), value_type, max_text_bytes: 0 }
}

/// Names that are keywords or stand for something in SQLite.
fn table() -> TableSpec {
    let signals = vec![signal("select", ValueType::F32), signal("rowid", ValueType::I64)];
    TableSpec {
        name: Name::new("readings").unwrap(),
        layout: Layout::Wide,
        schema: Schema::new(signals).unwrap(),
        devices: 2,
        marker: Marker { run_id: "run-1".into(), fingerprint: "f".into() },
    }
}

fn open_with(target: Target, settings: serde_json::Value, table: TableSpec) -> Arc<dyn Database> {
    let settings = Settings(serde_json::from_value(settings).unwrap());
    Registry::new(BACKENDS).find("sqlite").unwrap().open(OpenRequest { target, settings, table }).unwrap()
}

/// The database of a run, in a folder of its own.
fn in_folder(folder: &Path, settings: serde_json::Value) -> Arc<dyn Database> {
    open_with(Target { folder: Some(folder.into()), ..Target::default() }, settings, table())
}

/// The user's own file.
fn in_file(file: &Path) -> Arc<dyn Database> {
    in_file_as(file, table())
}

fn in_file_as(file: &Path, table: TableSpec) -> Arc<dyn Database> {
    let url = format!("sqlite:{}", file.display()).parse().unwrap();
    let target = Target { endpoints: vec![Endpoint::new(url)], ..Target::default() };
    open_with(target, json!({}), table)
}

fn batch(first: u64, count: u32) -> Batch {
    let mut batch = Batch::new(&table().schema);
    let run = Run { device: 1, first, count };
    batch.append(run, |timestamps, columns| {
        for index in run.indices() {
            timestamps.push(i64::try_from(index).unwrap());
            assert!(columns[0].push(Value::F32(1.5)) && columns[1].push(Value::I64(-1)));
        }
    });
    batch
}

fn files(folder: &TempDir) -> Vec<PathBuf> {
    fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn a_file_of_ours_appears_with_the_first_call_and_goes_with_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let database = in_folder(folder.path(), json!({}));
    assert_eq!(database.storage_bytes().await.unwrap(), Some(0));
    assert_eq!(files(&folder).len(), 0, "opening does nothing");
    database.ping().await.unwrap();
    database.create().await.unwrap();
    let mut writer = database.writer().await.unwrap();
    for (first, count) in [(0, 1), (1, 50)] {
        assert_eq!(writer.write(&batch(first, count)).await.unwrap().points, u64::from(count));
    }
    drop(writer);
    database.settle().await.unwrap();
    assert_eq!(database.count().await.unwrap(), Counts { points: 51, values: 102 });
    assert!(database.storage_bytes().await.unwrap() > Some(0));
    database.drop_created().await.unwrap();
    assert_eq!(files(&folder).len(), 0);
    database.drop_created().await.unwrap();
    assert_eq!(files(&folder).len(), 0, "dropping what is not there creates nothing");
}

#[tokio::test]
async fn a_table_made_anew_leaves_a_small_file_to_writers_that_stay_connected() {
    for mode in ["wal", "delete", "truncate", "persist"] {
        let folder = tempfile::tempdir().unwrap();
        let database = in_folder(folder.path(), json!({"journal_mode": mode}));
        database.create().await.unwrap();
        let mut writer = database.writer().await.unwrap();
        let mut reader = database.reader().await.unwrap();
        // The index of a write-ahead log that connections share is there from the first question on.
        assert_eq!(reader.visible_points().await.unwrap(), 0, "{mode}");
        let empty = database.storage_bytes().await.unwrap().unwrap();
        for trial in 1..=3 {
            writer.write(&batch(0, 20_000)).await.unwrap();
            assert_eq!(reader.visible_points().await.unwrap(), 20_000, "{mode}, trial {trial}");
            assert!(database.storage_bytes().await.unwrap() > Some(4 * empty), "{mode}, trial {trial}");
            database.create().await.unwrap();
            assert_eq!(reader.visible_points().await.unwrap(), 0, "{mode}, trial {trial}");
            let left = database.storage_bytes().await.unwrap().unwrap();
            assert!(left <= 2 * empty, "{mode}, trial {trial}: {left} bytes, {empty} when it was new");
        }
    }
}

#[tokio::test]
async fn the_promise_is_read_back_for_each_mode() {
    use PromiseLevel::{OsCrash, ProcessCrash};
    for (settings, level) in [
        (json!({}), OsCrash),
        (json!({"synchronous": "OFF"}), ProcessCrash),
        (json!({"synchronous": "NORMAL"}), ProcessCrash),
        (json!({"synchronous": "full"}), OsCrash),
        (json!({"synchronous": "EXTRA"}), OsCrash),
        (json!({"journal_mode": "delete"}), ProcessCrash),
        (json!({"journal_mode": "delete", "synchronous": "EXTRA"}), OsCrash),
        (json!({"journal_mode": "truncate"}), OsCrash),
        (json!({"journal_mode": "persist", "synchronous": "NORMAL"}), ProcessCrash),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let database = in_folder(folder.path(), settings.clone());
        // The second connection finds the file that the first created.
        for _ in 0..2 {
            let facts = database.ping().await.unwrap();
            assert_eq!(facts.promise.level, level, "{settings}");
            let asked = |key: &str, default: &str| settings[key].as_str().unwrap_or(default).to_lowercase();
            assert_eq!(facts.settings["synchronous"].to_lowercase(), asked("synchronous", "FULL"));
            assert_eq!(facts.settings["journal_mode"], asked("journal_mode", "wal"));
        }
    }
}

#[tokio::test]
async fn settings_reach_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let settings = json!({"page_bytes": 8192, "cache_kib": 777, "busy_timeout_ms": 3});
    let facts = in_folder(folder.path(), settings).ping().await.unwrap();
    for (key, value) in [("page_bytes", "8192"), ("cache_kib", "777"), ("busy_timeout_ms", "3")] {
        assert_eq!(facts.settings[key], value);
    }
}

#[tokio::test]
async fn the_users_file_keeps_its_mode_and_its_tables_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.db");
    Connection::open(&file).unwrap().execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (42);").unwrap();
    let before = fs::read(&file).unwrap();
    let database = in_file(&file);
    assert_eq!(database.ping().await.unwrap().settings["journal_mode"], "delete");
    assert_eq!(fs::read(&file).unwrap(), before, "a look changes no byte");
    database.create().await.unwrap();
    database.writer().await.unwrap().write(&batch(0, 9)).await.unwrap();
    database.drop_created().await.unwrap();
    let connection = Connection::open(&file).unwrap();
    let left: String =
        connection.query_row("SELECT group_concat(name) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    let value: i64 = connection.query_row("SELECT a FROM t", [], |row| row.get(0)).unwrap();
    assert_eq!((left.as_str(), value), ("t", 42));
    // An empty file of the user's is not ours to delete either.
    let empty = folder.path().join("empty.db");
    fs::write(&empty, []).unwrap();
    let database = in_file(&empty);
    database.create().await.unwrap();
    database.drop_created().await.unwrap();
    assert!(empty.exists());
}

#[tokio::test]
async fn every_kind_of_strangers_object_is_refused() {
    for planted in [
        "CREATE TABLE readings (ts)",
        "CREATE TABLE Readings (ts)",
        "CREATE VIEW readings AS SELECT 1",
        "CREATE TABLE t (a); CREATE INDEX readings_time ON t (a)",
        "CREATE TABLE t (a); CREATE TRIGGER readings AFTER INSERT ON t BEGIN SELECT 1; END; CREATE TABLE readings (a)",
        "CREATE TABLE iotbench_marker (whose)",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own.db");
        Connection::open(&file).unwrap().execute_batch(planted).unwrap();
        let before = fs::read(&file).unwrap();
        let error = in_file(&file).create().await.unwrap_err();
        assert_eq!((error.cause, error.action), (Cause::NotOurs, Action::Stop), "{planted}: {error}");
        assert_eq!(fs::read(&file).unwrap(), before, "{planted}");
    }
}

#[tokio::test]
async fn the_table_of_another_run_is_not_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let database = in_folder(folder.path(), json!({}));
    database.create().await.unwrap();
    let mut other = table();
    other.marker.run_id = "run-2".into();
    let target = Target { folder: Some(folder.path().into()), ..Target::default() };
    open_with(target, json!({}), other).drop_created().await.unwrap();
    assert_eq!(database.count().await.unwrap(), Counts::default());
}

#[tokio::test]
async fn a_table_is_taken_over_by_a_run_of_the_same_fingerprint_only() {
    let folder = tempfile::tempdir().unwrap();
    let of = |run_id: &str, fingerprint: &str| {
        let marker = Marker { run_id: run_id.into(), fingerprint: fingerprint.into() };
        let target = Target { folder: Some(folder.path().into()), ..Target::default() };
        open_with(target, json!({}), TableSpec { marker, ..table() })
    };
    let (first, other, same) = (of("run-1", "f"), of("run-2", "g"), of("run-3", "f"));
    assert!(!same.adopt().await.unwrap(), "there is nothing");
    assert_eq!(files(&folder).len(), 0, "asking creates nothing");
    first.create().await.unwrap();
    first.writer().await.unwrap().write(&batch(0, 9)).await.unwrap();
    assert!(!other.adopt().await.unwrap());
    other.drop_created().await.unwrap();
    assert!(same.adopt().await.unwrap());
    first.drop_created().await.unwrap();
    assert_eq!(same.count().await.unwrap().points, 9, "it is no longer the first run's to drop");
    same.drop_created().await.unwrap();
    assert_eq!(files(&folder).len(), 0);
}

#[tokio::test]
async fn a_strangers_object_is_not_taken_over() {
    let marker = "CREATE TABLE iotbench_marker (table_name TEXT PRIMARY KEY NOT NULL, run_id TEXT NOT NULL, \
                  fingerprint TEXT NOT NULL, created_by TEXT NOT NULL)";
    for planted in [
        "CREATE TABLE readings (ts)".to_owned(),
        "CREATE TABLE iotbench_marker (table_name, fingerprint)".to_owned(),
        format!("{marker}; INSERT INTO iotbench_marker VALUES ('readings', 'r', 'f', 'iotbench')"),
        format!("CREATE TABLE readings (ts); {marker}"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own.db");
        Connection::open(&file).unwrap().execute_batch(&planted).unwrap();
        let before = fs::read(&file).unwrap();
        assert!(!in_file(&file).adopt().await.unwrap(), "{planted}");
        assert_eq!(fs::read(&file).unwrap(), before, "{planted}");
    }
}

#[tokio::test]
async fn a_place_that_is_no_database_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let noise = folder.path().join("noise.db");
    fs::write(&noise, [7; 4096]).unwrap();
    for (file, cause) in [
        (folder.path().join("absent/a.db"), Cause::Connect),
        (noise, Cause::Server),
        (folder.path().to_path_buf(), Cause::Connect),
    ] {
        let error = in_file(&file).ping().await.unwrap_err();
        assert_eq!((error.cause, error.action), (cause, Action::Stop), "{error}");
        assert!(error.message.contains(file.to_str().unwrap()), "{error}");
    }
    let absent = in_file(&folder.path().join("absent.db"));
    let error = absent.reader().await.err().unwrap();
    assert_eq!(error.cause, Cause::Connect, "a reader does not create the file");
}

#[tokio::test]
async fn a_file_that_another_program_locks_is_busy_and_nothing_is_applied() {
    let folder = tempfile::tempdir().unwrap();
    let database = in_folder(folder.path(), json!({"busy_timeout_ms": 1}));
    database.create().await.unwrap();
    let mut writer = database.writer().await.unwrap();
    let other = Connection::open(folder.path().join("iotbench.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for count in [1, 2] {
        let error = writer.write(&batch(0, count)).await.unwrap_err();
        let found = (error.cause, error.action, error.applied);
        assert_eq!(found, (Cause::Server, Action::RetryMayHelp, Applied::No));
    }
    other.execute_batch("ROLLBACK").unwrap();
    writer.write(&batch(0, 2)).await.unwrap();
    assert_eq!(database.count().await.unwrap().points, 2);
}

#[tokio::test]
async fn an_interrupted_query_ends_as_timed_out() {
    let folder = tempfile::tempdir().unwrap();
    let database = in_folder(folder.path(), json!({"synchronous": "OFF"}));
    database.create().await.unwrap();
    database.writer().await.unwrap().write(&batch(0, 5000)).await.unwrap();
    let mut reader = database.reader().await.unwrap();
    let interrupt = reader.interrupt().unwrap();
    let mut chunks = 0;
    let mut sink = |_: &Chunk| -> Result<(), Error> {
        chunks += 1;
        interrupt.interrupt();
        Ok(())
    };
    let error = reader.query(&Query::Scan, &mut sink).await.unwrap_err();
    assert_eq!((error.cause, error.action), (Cause::TimedOut, Action::DiscardWriter));
    assert_eq!(chunks, 1);
}

#[tokio::test]
async fn an_error_of_the_sink_ends_the_query_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let database = in_folder(folder.path(), json!({"synchronous": "OFF"}));
    database.create().await.unwrap();
    database.writer().await.unwrap().write(&batch(0, 5000)).await.unwrap();
    let mut reader = database.reader().await.unwrap();
    let mut refuse = |_: &Chunk| Err(Error::new(Cause::Client, "enough"));
    assert_eq!(reader.query(&Query::Scan, &mut refuse).await.unwrap_err().message, "enough");
    let mut take = |_: &Chunk| Ok(());
    assert_eq!(reader.query(&Query::Scan, &mut take).await.unwrap().rows, 5000);
}

#[tokio::test]
async fn transactions_are_begun_once_and_committed_once() {
    let folder = tempfile::tempdir().unwrap();
    let database = in_folder(folder.path(), json!({}));
    database.create().await.unwrap();
    let mut writer = database.writer().await.unwrap();
    assert_eq!(writer.commit().await.unwrap_err().cause, Cause::Client);
    writer.begin().await.unwrap();
    assert_eq!(writer.begin().await.unwrap_err().cause, Cause::Client);
    for first in 0..3 {
        writer.write(&batch(first, 1)).await.unwrap();
    }
    assert_eq!(database.count().await.unwrap().points, 0, "not committed, not seen");
    writer.commit().await.unwrap();
    assert_eq!(database.count().await.unwrap().points, 3);
}

#[tokio::test]
async fn a_device_that_the_table_does_not_have_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = table();
    table.devices = 1;
    let target = Target { folder: Some(folder.path().into()), ..Target::default() };
    let database = open_with(target, json!({}), table);
    database.create().await.unwrap();
    let error = database.writer().await.unwrap().write(&batch(0, 1)).await.unwrap_err();
    assert_eq!((error.cause, error.applied), (Cause::Data, Applied::No));
}

#[test]
fn a_write_allocates_nothing_per_datapoint() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for layout in Layout::ALL {
        let folder = tempfile::tempdir().unwrap();
        let target = Target { folder: Some(folder.path().into()), ..Target::default() };
        let mut table = table();
        table.schema = Schema::new(vec![signal("a", ValueType::F32), signal("b", ValueType::F32)]).unwrap();
        table.layout = layout;
        let mut batches = [10_u32, 1000].map(|count| {
            let mut batch = Batch::new(&table.schema);
            batch.append(Run { device: 1, first: 0, count }, |timestamps, columns| {
                for index in 0..count {
                    timestamps.push(i64::from(index) * 1000);
                    assert!(columns[0].push(Value::F32(0.1)) && columns[1].push(Value::F32(-2.5)));
                }
            });
            batch
        });
        let database = open_with(target, json!({"synchronous": "OFF"}), table);
        let mut writer = runtime.block_on(async {
            database.create().await.unwrap();
            database.writer().await.unwrap()
        });
        let mut allocations = |batch: &Batch| {
            let write = || assert!(runtime.block_on(writer.write(batch)).is_ok());
            allocation_counter::measure(write).count_total
        };
        batches.reverse();
        let [large, small] = batches.each_ref();
        allocations(large);
        allocations(small);
        assert_eq!(allocations(large), allocations(small), "layout {layout}");
    }
}
