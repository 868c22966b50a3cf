//! What goes wrong, and what is said of it.

use crate::databus::{
    place::{batch, contents, open, table},
    stub::Stub,
};
use iotbench_core::{Action, Applied, Cause, Chunk, Error, Query};
use serde_json::json;
use url::Url;

/// The same server with another key.
fn with_key(url: &Url, key: &str) -> Url {
    let mut url = url.clone();
    url.set_password(Some(key)).unwrap();
    url
}

fn assert_silent(error: &Error) {
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains("s3cret") && !shown.contains("wr0ng") && !shown.contains("bWU6"), "{shown}");
}

#[tokio::test]
async fn a_wrong_key_ends_it_at_once_and_is_not_repeated() {
    let stub = Stub::start().await;
    let database = open(&with_key(&stub.url, "wr0ng"), table("auth", "r"));
    for error in [database.ping().await.unwrap_err(), database.create().await.unwrap_err()] {
        assert_eq!((&error.cause, &error.action), (&Cause::Auth, &Action::Stop), "{error}");
        assert_silent(&error);
    }
    assert!(contents(&stub).is_empty());
}

#[tokio::test]
async fn a_server_that_is_not_there_cannot_be_reached() {
    let url: Url = "http://me:s3cret@127.0.0.1:1/".parse().unwrap();
    let error = open(&url, table("gone", "r")).ping().await.unwrap_err();
    assert_eq!(error.cause, Cause::Connect, "{error}");
    assert_silent(&error);
}

#[tokio::test]
async fn another_server_is_no_databus() {
    let stub = Stub::start().await;
    for (status, body, cause) in
        [(404, "<h1>Not found</h1>", Cause::Server), (200, "<html>", Cause::Protocol), (200, "", Cause::Protocol)]
    {
        stub.answer_next(status, body);
        let error = open(&stub.url, table("other", "r")).ping().await.unwrap_err();
        assert!(error.cause == cause && error.message.contains("Databus"), "{error}");
    }
}

#[tokio::test]
async fn a_request_that_is_refused_has_stored_nothing_on_the_stub_and_may_have_elsewhere() {
    let stub = Stub::start().await;
    let table = table("refusal", "r");
    let database = open(&stub.url, table.clone());
    database.create().await.unwrap();
    let mut writer = database.writer().await.unwrap();
    for (status, body, cause, action, applied) in [
        (400, "bad", Cause::Data, Action::RetryMayHelp, Applied::No),
        (401, "no", Cause::Auth, Action::Stop, Applied::No),
        (500, "<html>", Cause::Server, Action::RetryMayHelp, Applied::Maybe),
        (503, "", Cause::Throttled { retry_after: None }, Action::RetryMayHelp, Applied::Maybe),
    ] {
        stub.answer_next(status, body);
        let error = writer.write(&batch(&table, 0, 2)).await.unwrap_err();
        assert_eq!((&error.cause, &error.action, &error.applied), (&cause, &action, &applied), "{status}: {error}");
        assert_silent(&error);
    }
    // A datapoint twice in one request: none of it is stored.
    let mut twice = batch(&table, 0, 2);
    let again = batch(&table, 1, 1);
    twice.append(again.runs()[0], |times, columns| {
        times.extend_from_slice(again.timestamps_ns());
        for (column, more) in columns.iter_mut().zip(again.columns()) {
            assert!(column.push(more.get(0).unwrap()));
        }
    });
    let error = writer.write(&twice).await.unwrap_err();
    assert_eq!((error.cause, error.applied), (Cause::Server, Applied::Maybe));
    assert_eq!(database.count().await.unwrap().points, 0);
    writer.write(&batch(&table, 0, 2)).await.unwrap();
    assert_eq!(database.count().await.unwrap().points, 2);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_an_error_under_the_status_of_success() {
    let stub = Stub::start().await;
    let table = table("footer", "r");
    let database = open(&stub.url, table.clone());
    database.create().await.unwrap();
    for (body, cause) in [
        (r#"{"data":[{"time":1700000000000,"value":1}],"error":"class java.lang.RuntimeException: x"}"#, Cause::Server),
        (r#"{"data":[{"time":1700000000000,"value":1}"#, Cause::Protocol),
        (r#"{"data":[{"time":-5,"value":1}],"error":""}"#, Cause::Protocol),
        (r#"{"data":[{"time":1700000000000,"value":"x"}],"error":""}"#, Cause::Protocol),
    ] {
        let mut reader = database.reader().await.unwrap();
        stub.answer_next(200, body);
        let error = reader.query(&Query::Scan, &mut |_: &Chunk| Ok(())).await.unwrap_err();
        assert_eq!(error.cause, cause, "{body}: {error}");
    }
}

#[tokio::test]
async fn a_table_that_was_deleted_under_a_writer_takes_nothing_more() {
    let stub = Stub::start().await;
    let table = table("deleted", "r");
    let database = open(&stub.url, table.clone());
    database.create().await.unwrap();
    let mut writer = database.writer().await.unwrap();
    writer.write(&batch(&table, 0, 2)).await.unwrap();
    stub.store(|store| store.tables.retain(|name, _| !name.starts_with("iotbench_deleted_")));
    let error = writer.write(&batch(&table, 2, 2)).await.unwrap_err();
    assert_eq!((error.cause, error.applied), (Cause::Server, Applied::Maybe));
    assert_eq!(database.count().await.unwrap_err().cause, Cause::Server);
}

#[tokio::test]
async fn a_catalog_of_somebody_elses_is_left_alone() {
    let stub = Stub::start().await;
    let column = |name: &str, kind: &str, is_key: bool| json!({"name": name, "dataType": kind, "isPrimaryKey": is_key});
    let columns = [column("time", "BigInteger", true), column("mark", "string", false)];
    let body = json!({"datasetType": "RELATIONAL_TIME_SERIES", "modelName": "iotbench_tables", "schema": "x", "columns": columns});
    let rows: Vec<_> =
        (0..3).map(|time| json!({"_tableName": "iotbench_tables", "time": time, "mark": "precious"})).collect();
    stub.store(|store| {
        store.register(&body).unwrap();
        store.post(&json!({ "_dataset": rows })).unwrap();
    });
    let before = contents(&stub);
    let database = open(&stub.url, table("strange", "r"));
    assert!(database.owned().await.unwrap().is_empty());
    assert!(database.create().await.is_err());
    database.drop_created().await.unwrap();
    let streams = |contents: &[String]| contents.iter().filter(|text| !text.starts_with("iotbench_tables")).count();
    assert_eq!((contents(&stub), streams(&before)), (before, 0));
}
