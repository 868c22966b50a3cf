//! What is OpenTSDB's own.

use crate::opentsdb::server::{batch, contents, open, request, table, url};
use iotbench_core::{Acknowledgement, Applied, Batch, Cause, Counts, PromiseLevel, Run, Settled, Value};
use serde_json::json;

#[tokio::test]
#[ignore = "HBase and OpenTSDB: scripts/long opentsdb"]
async fn it_says_what_it_is_and_what_its_answers_mean() {
    let Some(url) = url() else { return };
    for (settings, acknowledgement, method) in [
        (json!({}), Acknowledgement::Queued, "/api/put?details"),
        (json!({"sync": true, "compression": "gzip"}), Acknowledgement::Applied, "/api/put?details&sync, compressed"),
    ] {
        let facts = open(&url, settings, table("facts", "r")).ping().await.unwrap();
        assert_eq!((facts.product.as_str(), facts.acknowledgement), ("OpenTSDB", acknowledgement));
        assert_eq!((facts.method.as_str(), facts.promise.level), (method, PromiseLevel::Buffered));
        assert!(facts.version.starts_with("2.") || facts.version.contains("revision"), "{facts:?}");
        assert_eq!(facts.settings["tsd.storage.fix_duplicates"], "true", "{facts:?}");
    }
}

#[tokio::test]
#[ignore = "HBase and OpenTSDB: scripts/long opentsdb"]
async fn a_batch_longer_than_a_body_may_be_is_stored_whole() {
    let Some(url) = url() else { return };
    for (settings, run) in [(json!({}), "plain"), (json!({"compression": "gzip"}), "compressed")] {
        let table = table("long", run);
        let database = open(&url, settings, table.clone());
        database.create().await.unwrap();
        let acknowledged = database.writer().await.unwrap().write(&batch(&table, 0, 20_000)).await.unwrap();
        assert_eq!(acknowledged.points, 20_000);
        while database.settle().await.unwrap() == Settled::NotYet {}
        assert_eq!(database.count().await.unwrap(), Counts { points: 20_000, values: 40_000 }, "{run}");
        database.drop_created().await.unwrap();
    }
}

/// The writer's limit is the server's: a byte more and the connection ends without an answer.
#[tokio::test]
#[ignore = "HBase and OpenTSDB: scripts/long opentsdb"]
async fn the_longest_body_is_taken() {
    let Some(url) = url() else { return };
    let told: serde_json::Value = serde_json::from_str(&request(&url, "GET", "/api/config", "")).unwrap();
    let most: usize = told["tsd.http.request.max_chunk"].as_str().unwrap().parse().unwrap();
    let longest = format!("[]{}", " ".repeat(most - 2));
    let answer = request(&url, "POST", "/api/put?details", &longest);
    assert!(answer.contains("No datapoints found in content"), "{answer}");
}

#[tokio::test]
#[ignore = "HBase and OpenTSDB: scripts/long opentsdb"]
async fn what_would_be_stored_otherwise_is_refused_before_anything_is_sent() {
    let Some(url) = url() else { return };
    let table = table("refused", "r");
    let database = open(&url, json!({}), table.clone());
    database.create().await.unwrap();
    let mut writer = database.writer().await.unwrap();
    // Between milliseconds; what the server would take for seconds; what it cannot hold.
    for time in [1_700_000_000_000_000_001, 4_294_967_295_000_000, -1_000_000, i64::MAX / 1_000_000 * 1_000_000] {
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
#[ignore = "HBase and OpenTSDB: scripts/long opentsdb"]
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

/// What was queued a moment before a table is dropped does not come back.
#[tokio::test]
#[ignore = "HBase and OpenTSDB: scripts/long opentsdb"]
async fn what_is_queued_is_dropped_too() {
    let Some(url) = url() else { return };
    let table = table("queued", "r");
    let database = open(&url, json!({}), table.clone());
    for round in 0..5 {
        database.create().await.unwrap();
        database.writer().await.unwrap().write(&batch(&table, 0, 1000)).await.unwrap();
        database.drop_created().await.unwrap();
        let left = contents(&url);
        assert!(!left.iter().any(|line| line.contains("iotbench_queued")), "round {round}: {left:?}");
    }
}

#[tokio::test]
#[ignore = "HBase and OpenTSDB: scripts/long opentsdb"]
async fn a_note_of_somebody_elses_is_left_alone() {
    let Some(url) = url() else { return };
    let table = table("strange", "r");
    let database = open(&url, json!({}), table);
    database.create().await.unwrap();
    let notes = request(&url, "GET", "/api/annotations?start_time=1&end_time=4102444799", "");
    let notes: Vec<serde_json::Value> = serde_json::from_str(&notes).unwrap();
    let second = &notes.iter().find(|note| note["custom"]["table"] == "strange").unwrap()["startTime"];
    let theirs = json!({"startTime": second, "description": "a day to remember"});
    request(&url, "PUT", "/api/annotation", &theirs.to_string());
    assert_eq!(database.create().await.unwrap_err().cause, Cause::NotOurs);
    assert_eq!(database.drop_created().await.unwrap_err().cause, Cause::NotOurs);
    assert!(contents(&url).iter().any(|line| line.contains("a day to remember")));
    request(&url, "DELETE", &format!("/api/annotation?start_time={second}"), "");
}
