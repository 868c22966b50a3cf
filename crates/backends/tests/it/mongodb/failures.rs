//! What goes wrong has the right cause, and each datapoint its account.

use crate::mongodb::server::{OwnDatabase, batch, open, table};
use iotbench_core::{Acknowledgement, Action, Applied, Cause, Layout, PromiseLevel, PromiseSource};
use mongodb::bson::doc;

/// Refuses these values from now on.
async fn refuse_values(database: &OwnDatabase, values: &[f64]) {
    let validator = doc! { "a": { "$nin": values.to_vec() } };
    database.run(doc! { "collMod": "points", "validator": validator }).await;
}

#[tokio::test]
async fn of_an_unordered_insert_each_refused_row_is_named() {
    for layout in [Layout::Document, Layout::Narrow] {
        let Some(database) = OwnDatabase::create().await else { return };
        let ours = open(&database.url(), "{}", table(layout, "r"));
        ours.create().await.unwrap();
        let field = if layout == Layout::Document { "a" } else { "measurement" };
        let validator = doc! { field: { "$nin": [1.0, 4.0, 7.0] } };
        database.run(doc! { "collMod": "points", "validator": validator }).await;
        let error = ours.writer().await.unwrap().write(&batch(9)).await.unwrap_err();
        assert_eq!((error.cause, error.action), (Cause::Data, Action::RetryMayHelp), "{error}");
        assert_eq!(error.applied, Applied::Rows(vec![0, 2, 3, 5, 6, 8]), "{layout}");
        assert!(error.message.contains("3 of 9 documents were refused"), "{error}");
        assert_eq!(ours.count().await.unwrap().points, 6);
        database.remove().await;
    }
}

#[tokio::test]
async fn of_records_of_many_datapoints_all_rows_of_a_refused_one_are() {
    let Some(database) = OwnDatabase::create().await else { return };
    let ours = open(&database.url(), "{}", table(Layout::Bulk, "r"));
    ours.create().await.unwrap();
    let validator = doc! { "measurements.sensors": { "$nin": [[2.0]] } };
    database.run(doc! { "collMod": "points", "validator": validator }).await;
    // Two datapoints a second: those of the second one are refused together.
    let error = ours.writer().await.unwrap().write(&batch(6)).await.unwrap_err();
    assert_eq!(error.applied, Applied::Rows(vec![0, 1, 4, 5]), "{error}");
    assert_eq!(ours.count().await.unwrap().points, 4);
    database.remove().await;
}

#[tokio::test]
async fn a_batch_of_which_nothing_is_taken_is_not_applied() {
    let Some(database) = OwnDatabase::create().await else { return };
    let ours = open(&database.url(), "{}", table(Layout::Document, "r"));
    ours.create().await.unwrap();
    refuse_values(&database, &[0.0, 1.0]).await;
    let error = ours.writer().await.unwrap().write(&batch(2)).await.unwrap_err();
    assert_eq!((error.cause, error.applied), (Cause::Data, Applied::No));
    database.remove().await;
}

#[tokio::test]
async fn a_batch_larger_than_one_insert_is_sent_in_several() {
    let Some(database) = OwnDatabase::create().await else { return };
    let ours = open(&database.url(), "{}", table(Layout::Document, "r"));
    ours.create().await.unwrap();
    // More documents than one insert takes.
    let acknowledged = ours.writer().await.unwrap().write(&batch(100_001)).await.unwrap();
    assert_eq!(acknowledged.points, 100_001);
    assert_eq!(ours.count().await.unwrap().points, 100_001);
    assert!(ours.storage_bytes().await.unwrap() > Some(0));
    database.remove().await;
}

#[tokio::test]
async fn where_nobody_listens_is_said() {
    let url = "mongodb://127.0.0.1:1/".parse().unwrap();
    let ours = open(&url, "{}", table(Layout::Document, "r"));
    let error = ours.ping().await.unwrap_err();
    assert_eq!((error.cause, &error.applied), (Cause::Connect, &Applied::No), "{error}");
}

#[tokio::test]
async fn who_is_not_known_is_refused() {
    let Some(database) = OwnDatabase::create().await else { return };
    let mut url = database.url();
    url.set_username("nobody").unwrap();
    url.set_password(Some("s3cret")).unwrap();
    let error = open(&url, "{}", table(Layout::Document, "r")).ping().await.unwrap_err();
    assert_eq!((error.cause, error.action), (Cause::Auth, Action::Stop), "{error}");
    assert!(!error.message.contains("s3cret"), "{error}");
    database.remove().await;
}

#[tokio::test]
async fn the_promise_is_read_back() {
    let Some(database) = OwnDatabase::create().await else { return };
    for (settings, level, acknowledgement) in [
        ("{}", PromiseLevel::Buffered, Acknowledgement::Applied),
        (r#"{"j": true}"#, PromiseLevel::OsCrash, Acknowledgement::Durable),
        (r#"{"j": false}"#, PromiseLevel::Buffered, Acknowledgement::Applied),
    ] {
        let facts = open(&database.url(), settings, table(Layout::Document, "r")).ping().await.unwrap();
        assert_eq!((facts.promise.level, facts.acknowledgement), (level, acknowledgement), "{settings}");
        assert_eq!((facts.promise.nodes, &facts.promise.source), (1, &PromiseSource::ReadBack));
        assert_eq!(facts.settings["topology"], "single server");
        assert_eq!(facts.settings["commitIntervalMs"], "100", "{:?}", facts.settings);
    }
    database.remove().await;
}

#[tokio::test]
async fn more_members_than_there_are_leave_a_write_in_doubt_or_refuse_it() {
    let Some(database) = OwnDatabase::create().await else { return };
    let ours = open(&database.url(), r#"{"w": 2}"#, table(Layout::Document, "r"));
    ours.create().await.unwrap();
    let error = ours.writer().await.unwrap().write(&batch(2)).await.unwrap_err();
    assert!(matches!(error.cause, Cause::Server | Cause::Data), "{error}");
    database.remove().await;
}

#[tokio::test]
async fn a_server_that_is_no_router_is_not_taken_for_shards() {
    let Some(database) = OwnDatabase::create().await else { return };
    let error = open(&database.url(), r#"{"shards": 2}"#, table(Layout::Document, "r")).ping().await.unwrap_err();
    assert_eq!((error.cause, error.action), (Cause::Server, Action::Stop), "{error}");
    assert!(error.message.contains("mongos"), "{error}");
    database.remove().await;
}
