//! What fails says why, at once, and what may have been stored.

use crate::mariadb::server::{Place, batch, none, open, table};
use iotbench_core::{Action, Applied, Cause, Layout, PromiseLevel, Settled, TableSpec, ValueType};
use serde_json::json;

fn wide() -> TableSpec {
    table(Layout::Wide, &[ValueType::U16], 1)
}

#[tokio::test]
async fn a_wrong_password_ends_the_run_and_is_not_shown() {
    let Some(place) = Place::new("password").await else { return };
    place.execute("DROP USER IF EXISTS iotbench_password").await;
    place.execute("CREATE USER iotbench_password IDENTIFIED BY 'right p@ss'").await;
    let wrong = open(&place.url_of("iotbench_password", "s3cret"), none(), wide()).unwrap();
    let errors = [wrong.ping().await.unwrap_err(), wrong.writer().await.err().unwrap()];
    for error in errors {
        assert_eq!((error.cause, error.action), (Cause::Auth, Action::Stop), "{error}");
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
    // The right one may not use this database.
    let right = open(&place.url_of("iotbench_password", "right p@ss"), none(), wide()).unwrap();
    assert_eq!(right.create().await.unwrap_err().cause, Cause::Auth);
    place.execute(&format!("GRANT ALL ON `{}`.* TO iotbench_password", place.database)).await;
    right.create().await.unwrap();
    // It may not flush: then nobody tells whether all is in its place.
    assert_eq!(right.settle().await.unwrap(), Settled::CannotTell);
    assert!(right.storage_bytes().await.unwrap().is_some());
    right.drop_created().await.unwrap();
    place.execute("DROP USER iotbench_password").await;
    place.drop().await;
}

#[tokio::test]
async fn the_password_may_be_in_a_file() {
    let Some(place) = Place::new("password_file").await else { return };
    place.execute("DROP USER IF EXISTS iotbench_file").await;
    place.execute("CREATE USER iotbench_file IDENTIFIED BY 'from a file'").await;
    place.execute(&format!("GRANT ALL ON `{}`.* TO iotbench_file", place.database)).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    std::fs::write(&file, "from a file\n").unwrap();
    let mut url = place.url.clone();
    url.set_username("iotbench_file").unwrap();
    url.set_password(None).unwrap();
    open(&url, json!({"password_file": file}), wide()).unwrap().ping().await.unwrap();
    let absent = open(&url, json!({"password_file": folder.path().join("absent")}), wide()).unwrap();
    let error = absent.ping().await.unwrap_err();
    assert_eq!((error.cause, error.action), (Cause::Client, Action::Stop), "{error}");
    place.execute("DROP USER iotbench_file").await;
    place.drop().await;
}

#[tokio::test]
async fn a_closed_port_and_an_unknown_host_are_told_apart() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    for (url, cause) in [
        (format!("mysql://root@127.0.0.1:{port}/d"), Cause::Connect),
        (format!("mysql://root:p@127.0.0.1:{port}/d"), Cause::Connect),
        (format!("mysql://root@host.invalid:{port}/d"), Cause::Dns),
    ] {
        let error = open(&url.parse().unwrap(), none(), wide()).unwrap().ping().await.unwrap_err();
        assert_eq!((error.cause, error.action), (cause, Action::DiscardWriter), "{error}");
        assert!(error.message.contains(&port.to_string()), "{error}");
    }
}

#[tokio::test]
async fn a_database_and_an_engine_that_are_not_there_are_named() {
    let Some(place) = Place::new("absent").await else { return };
    let mut url = place.url.clone();
    url.set_path("iotbench_test_no_such_database");
    let absent = open(&url, none(), wide()).unwrap();
    for error in [absent.ping().await.unwrap_err(), absent.create().await.unwrap_err()] {
        assert_eq!((error.cause, error.action), (Cause::Server, Action::Stop), "{error}");
        assert!(error.message.contains("iotbench_test_no_such_database"), "{error}");
    }
    place.drop().await;
}

#[tokio::test]
async fn a_table_that_is_dropped_under_the_writer_ends_the_run() {
    let Some(place) = Place::new("vanished").await else { return };
    let database = place.open(none(), wide());
    database.create().await.unwrap();
    let (mut writer, mut reader) = (database.writer().await.unwrap(), database.reader().await.unwrap());
    writer.write(&batch(&wide(), 0, 5)).await.unwrap();
    place.execute(&format!("DROP TABLE `{}`.readings", place.database)).await;
    let error = writer.write(&batch(&wide(), 5, 5)).await.unwrap_err();
    let found = (error.cause, error.action, error.applied.clone());
    assert_eq!(found, (Cause::Server, Action::Stop, Applied::No), "{error}");
    let mut sink = |_: &iotbench_core::Chunk| Ok(());
    assert_eq!(reader.query(&iotbench_core::Query::Scan, &mut sink).await.unwrap_err().cause, Cause::Server);
    assert!(database.count().await.is_err());
    assert_eq!(database.storage_bytes().await.unwrap(), None);
    place.drop().await;
}

#[tokio::test]
async fn a_killed_connection_leaves_the_last_write_in_doubt_and_a_transaction_undone() {
    let Some(place) = Place::new("killed").await else { return };
    place.execute("DROP USER IF EXISTS iotbench_killed").await;
    place.execute("CREATE USER iotbench_killed IDENTIFIED BY 'killed'").await;
    place.execute(&format!("GRANT ALL ON `{}`.* TO iotbench_killed", place.database)).await;
    let url = place.url_of("iotbench_killed", "killed");
    let database = open(&url, json!({"statement_rows": 2}), wide()).unwrap();
    database.create().await.unwrap();
    for (count, applied) in [(1, Applied::Maybe), (5, Applied::No)] {
        let mut writer = database.writer().await.unwrap();
        place.execute("KILL CONNECTION USER iotbench_killed").await;
        let error = writer.write(&batch(&wide(), 0, count)).await.unwrap_err();
        assert_eq!((error.cause, error.action), (Cause::Connect, Action::DiscardWriter), "{error}");
        assert_eq!(error.applied, applied, "{count} datapoints");
    }
    assert_eq!(database.count().await.unwrap().points, 0);
    place.execute("DROP USER iotbench_killed").await;
    place.drop().await;
}

#[tokio::test]
async fn one_connection_too_many_is_throttled_and_the_others_go_on() {
    let Some(place) = Place::new("connections").await else { return };
    place.execute("DROP USER IF EXISTS iotbench_connections").await;
    place.execute("CREATE USER iotbench_connections IDENTIFIED BY 'c' WITH MAX_USER_CONNECTIONS 2").await;
    place.execute(&format!("GRANT ALL ON `{}`.* TO iotbench_connections", place.database)).await;
    place.open(none(), wide()).create().await.unwrap();
    let database = open(&place.url_of("iotbench_connections", "c"), none(), wide()).unwrap();
    let mut first = database.writer().await.unwrap();
    let _second = database.writer().await.unwrap();
    let error = database.writer().await.err().unwrap();
    assert_eq!(error.cause, Cause::Throttled { retry_after: None }, "{error}");
    first.write(&batch(&wide(), 0, 1)).await.unwrap();
    place.execute("DROP USER iotbench_connections").await;
    place.drop().await;
}

#[tokio::test]
async fn a_table_that_is_still_written_to_has_not_settled() {
    let Some(place) = Place::new("settle").await else { return };
    let database = place.open(none(), wide());
    database.create().await.unwrap();
    let mut writer = database.writer().await.unwrap();
    writer.begin().await.unwrap();
    writer.write(&batch(&wide(), 0, 1)).await.unwrap();
    assert_eq!(database.settle().await.unwrap(), Settled::NotYet);
    writer.commit().await.unwrap();
    assert_eq!(database.settle().await.unwrap(), Settled::Yes);
    place.drop().await;
}

#[tokio::test]
async fn data_that_a_column_cannot_hold_is_refused_whole() {
    let Some(place) = Place::new("data").await else { return };
    let spec = table(Layout::Wide, &[ValueType::Text], 1);
    let mut narrow_column = spec.clone();
    narrow_column.schema = iotbench_core::Schema::new(vec![iotbench_core::Signal {
        name: "s0".into(),
        value_type: ValueType::Text,
        max_text_bytes: 8,
    }])
    .unwrap();
    let database = place.open(none(), narrow_column);
    database.create().await.unwrap();
    let mut writer = database.writer().await.unwrap();
    let error = writer.write(&batch(&spec, 0, 3)).await.unwrap_err();
    assert_eq!((error.cause, error.applied), (Cause::Data, Applied::No));
    assert_eq!(database.count().await.unwrap().points, 0);
    place.drop().await;
}

#[tokio::test]
async fn of_single_commits_those_before_the_error_are_kept_and_named() {
    let Some(place) = Place::new("partial").await else { return };
    let spec = table(Layout::Narrow, &[ValueType::U16, ValueType::U16], 1);
    let database = place.open(json!({"commit": "datapoint"}), spec.clone());
    database.create().await.unwrap();
    let check = format!("ALTER TABLE `{}`.readings ADD CONSTRAINT c CHECK (measurement <> 3)", place.database);
    place.execute(&check).await;
    let mut writer = database.writer().await.unwrap();
    let error = writer.write(&batch(&spec, 0, 10)).await.unwrap_err();
    assert_eq!((error.cause, error.applied), (Cause::Data, Applied::Rows(vec![0, 1, 2])));
    assert_eq!(database.count().await.unwrap(), iotbench_core::Counts { points: 3, values: 6 });
    place.drop().await;
}

#[tokio::test]
async fn the_promise_follows_the_servers_settings() {
    let Some(place) = Place::new("promise").await else { return };
    let facts = place.open(none(), wide()).ping().await.unwrap();
    assert!(facts.version.contains("MariaDB") == (facts.product == "MariaDB"), "{facts:?}");
    let set = place.rows("SELECT @@GLOBAL.innodb_flush_log_at_trx_commit").await;
    assert_eq!(facts.settings["innodb_flush_log_at_trx_commit"], set[0]);
    if set == ["1"] && facts.settings["log_bin"] == "OFF" {
        assert_eq!(facts.promise.level, PromiseLevel::OsCrash);
    }
    let bulk_load = json!({"engine": "myrocks", "bulk_load": true});
    let facts = place.open(bulk_load, wide()).ping().await.unwrap();
    assert_eq!(facts.promise.level, PromiseLevel::Buffered);
    assert!(facts.may_lose_acknowledged());
    place.drop().await;
}
