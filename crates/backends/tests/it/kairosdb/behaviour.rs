//! What is KairosDB's own.

use crate::{
    harness::{request_to_open, skipped},
    kairosdb::server::{backend, batch, contents, delete, open, table, url, write},
};
use iotbench_core::{
    Acknowledgement, Action, Applied, Batch, Cause, Counts, Endpoint, PromiseLevel, Run, Settled, Value,
};
use serde_json::json;

#[tokio::test]
async fn it_says_what_it_is_and_what_its_answers_mean() {
    let Some(url) = url() else { return };
    for (settings, acknowledgement, store) in [
        (json!({"store": "h2"}), Acknowledgement::Applied, "h2"),
        (json!({}), Acknowledgement::Queued, "unknown"),
        (json!({"protocol": "telnet"}), Acknowledgement::None, "unknown"),
    ] {
        let facts = open(&url, settings, table("facts", "r")).ping().await.unwrap();
        assert_eq!((facts.product.as_str(), facts.acknowledgement), ("KairosDB", acknowledgement));
        assert!(facts.version.starts_with("1."), "{facts:?}");
        assert_eq!((facts.settings["store"].as_str(), facts.promise.level), (store, PromiseLevel::Buffered));
    }
}

/// A private server asks for a password, and each of several has the one of its own address.
#[tokio::test]
async fn each_server_is_told_its_own_password_and_a_wrong_one_is_not_shown() {
    let Some(url) = url() else { return };
    if url.password().is_none() {
        return skipped("the server asks for no password");
    }
    let mut wrong = url.clone();
    wrong.set_password(Some("s3cret")).unwrap();
    let table = table("password", "r");
    let at = |first, second: &url::Url| {
        let mut request = request_to_open(first, json!({}), table.clone());
        request.target.endpoints.push(Endpoint::new(second.clone()));
        backend().open(request).unwrap()
    };
    at(&url, &url).ping().await.unwrap();
    for (first, second) in [(&wrong, &url), (&url, &wrong)] {
        let error = at(first, second).ping().await.unwrap_err();
        assert_eq!((&error.cause, &error.action), (&Cause::Auth, &Action::Stop), "{error}");
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
    let database = at(&wrong, &wrong);
    assert_eq!(database.create().await.unwrap_err().cause, Cause::Auth);
    let error = database.writer().await.unwrap().write(&batch(&table, 0, 1)).await.unwrap_err();
    assert_eq!((&error.cause, &error.applied), (&Cause::Auth, &Applied::No), "{error}");
}

#[tokio::test]
async fn lines_are_stored_and_counted_until_all_are_there() {
    let Some(url) = url() else { return };
    let table = table("lines", "r");
    let database = open(&url, json!({"protocol": "telnet"}), table.clone());
    database.create().await.unwrap();
    let mut writer = database.writer().await.unwrap();
    for first in [0, 50] {
        assert_eq!(writer.write(&batch(&table, first, 50)).await.unwrap().points, 50);
    }
    while database.settle().await.unwrap() == Settled::NotYet {}
    assert_eq!(database.count().await.unwrap(), Counts { points: 100, values: 200 });
    database.drop_created().await.unwrap();
}

#[tokio::test]
async fn what_would_be_stored_otherwise_is_refused_before_anything_is_sent() {
    let Some(url) = url() else { return };
    let table = table("refused", "r");
    let database = open(&url, json!({}), table.clone());
    database.create().await.unwrap();
    let mut writer = database.writer().await.unwrap();
    for time in [1, 1_700_000_000_000_000_001, -1_000_000, i64::MAX / 1_000_000 * 1_000_000] {
        let mut batch = Batch::new(&table.schema);
        batch.append(Run { device: 0, first: 0, count: 1 }, |times, columns| {
            times.push(time);
            assert!(columns[0].push(Value::F64(1.0)) && columns[1].push(Value::U16(1)));
        });
        let error = writer.write(&batch).await.unwrap_err();
        assert_eq!((error.cause, error.applied), (Cause::Data, Applied::No), "{time}");
    }
    assert_eq!(database.count().await.unwrap(), Counts::default());
    database.drop_created().await.unwrap();
}

#[tokio::test]
async fn a_run_takes_over_what_an_earlier_one_left() {
    let Some(url) = url() else { return };
    let (first, second) = (table("left", "first"), table("left", "second"));
    let earlier = open(&url, json!({}), first.clone());
    earlier.create().await.unwrap();
    earlier.writer().await.unwrap().write(&batch(&first, 0, 5)).await.unwrap();
    while earlier.settle().await.unwrap() == Settled::NotYet {}
    let later = open(&url, json!({}), second.clone());
    assert!(later.adopt().await.unwrap());
    assert_eq!(later.count().await.unwrap().points, 5);
    later.writer().await.unwrap().write(&batch(&second, 5, 5)).await.unwrap();
    while later.settle().await.unwrap() == Settled::NotYet {}
    assert_eq!(later.count().await.unwrap().points, 10);
    earlier.drop_created().await.unwrap();
    assert_eq!(later.count().await.unwrap().points, 10, "it is no longer the first run's");

    let mut other = table("left", "third");
    other.marker.fingerprint = "other".into();
    assert!(!open(&url, json!({}), other).adopt().await.unwrap());
    let owned = later.owned().await.unwrap();
    let ours = owned.iter().find(|object| object.name == second.name).unwrap();
    assert_eq!(ours.run_id, "second");
    later.drop_owned(ours).await.unwrap();
    assert!(later.drop_owned(ours).await.is_err() && later.count().await.is_err());
}

#[tokio::test]
async fn a_marker_of_somebody_elses_is_left_alone() {
    let Some(url) = url() else { return };
    write(&url, "iotbench_marker.strange", "not ours");
    let database = open(&url, json!({}), table("strange", "r"));
    assert_eq!(database.create().await.unwrap_err().cause, Cause::NotOurs);
    assert!(contents(&url).iter().any(|metric| metric.contains("not ours")));
    delete(&url, "iotbench_marker.strange");
}
