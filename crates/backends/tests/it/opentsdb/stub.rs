//! Answers that a real server gives only in trouble, from a stub that gives them at once.

use crate::{
    harness::{answer, request_of, request_to_open, text_of},
    opentsdb::server::{backend, batch, open, table},
};
use iotbench_core::{Action, Applied, Cause, Chunk, ComputedBy, Database, Error, Query, Settled};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::{io::AsyncWriteExt, net::TcpListener};

/// Runs `client` against a server that answers the requests of one connection so, one after the other, and gives what it was
/// asked.
async fn against<T>(
    settings: Value,
    answers: &[String],
    client: impl AsyncFnOnce(Arc<dyn Database>) -> T,
) -> (T, Vec<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://me:s3cret@{}/tsd/", listener.local_addr().unwrap()).parse().unwrap();
    let database = open(&url, settings, table("stub", "r"));
    let mut asked = Vec::new();
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        for answer in answers {
            asked.push(request_of(&mut stream).await);
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        drop(stream);
        std::future::pending::<()>().await;
    };
    let given = tokio::select! {
        given = client(database) => given,
        () = serve => unreachable!("it waits for ever"),
    };
    (given, asked)
}

/// What a server says of itself that takes bodies of so many bytes.
fn told(most_body_bytes: usize) -> String {
    let told = json!({
        "tsd.http.request.enable_chunked": "true",
        "tsd.http.request.max_chunk": most_body_bytes.to_string(),
    });
    answer("200 OK", &told.to_string())
}

fn all_taken(values: u32) -> String {
    answer("200 OK", &json!({"success": values, "failed": 0, "errors": []}).to_string())
}

/// Writes four datapoints of two values to a server that takes bodies of so many bytes.
async fn write_answered(
    settings: Value,
    most_body_bytes: usize,
    answers: &[String],
) -> (Result<u64, Error>, Vec<Vec<u8>>) {
    let answers = [&[told(most_body_bytes)], answers].concat();
    against(settings, &answers, async |database: Arc<dyn Database>| {
        let mut writer = database.writer().await.unwrap();
        writer.write(&batch(&table("stub", "r"), 0, 4)).await.map(|acknowledged| acknowledged.points)
    })
    .await
}

/// The head of a request, and the objects of its body.
fn head_and_objects(request: &[u8]) -> (String, Vec<Value>) {
    let text = String::from_utf8(request.to_vec()).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), serde_json::from_str(body).unwrap())
}

fn refused(signal: &str, ms: i64, why: &str) -> Value {
    let metric = format!("iotbench_stub.{signal}");
    json!({"datapoint": {"metric": metric, "timestamp": ms, "value": "1.5", "tags": {"device": "1"}}, "error": why})
}

#[tokio::test]
async fn a_batch_is_one_request_where_the_server_takes_it() {
    let (written, asked) = write_answered(json!({}), 1 << 20, &[all_taken(8)]).await;
    assert_eq!(written, Ok(4));
    let (head, objects) = head_and_objects(&asked[1]);
    assert!(head.starts_with("POST /tsd/api/put?details HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("authorization: Basic bWU6czNjcmV0") && head.contains("content-type: application/json"));
    assert!(!head.contains("expect:"), "{head}");
    let first =
        json!({"metric": "iotbench_stub.a", "timestamp": 1_700_000_000_000_i64, "value": 1.5, "tags": {"device": "1"}});
    assert_eq!((objects.len(), &objects[0]), (8, &first));
    let (_, asked) = write_answered(json!({"sync": true}), 1 << 20, &[all_taken(8)]).await;
    assert!(asked[1].starts_with(b"POST /tsd/api/put?details&sync HTTP/1.1\r\n"));
}

#[tokio::test]
async fn compressed_it_is_smaller_and_says_so() {
    let (written, asked) = write_answered(json!({"compression": "gzip"}), 1 << 20, &[all_taken(8)]).await;
    assert_eq!(written, Ok(4));
    let head = String::from_utf8_lossy(&asked[1]).to_lowercase();
    assert!(head.contains("content-encoding: gzip\r\n") && asked[1].len() < 600, "{head}");
}

/// A row of two values has less than 200 bytes, and two rows more than 300.
#[tokio::test]
async fn a_longer_batch_is_several_requests_of_whole_datapoints() {
    let answers = [all_taken(2), all_taken(2), all_taken(2), all_taken(2)];
    let (written, asked) = write_answered(json!({}), 300, &answers).await;
    assert_eq!((written, asked.len()), (Ok(4), 5));
    for request in &asked[1..] {
        assert_eq!(head_and_objects(request).1.len(), 2);
    }
    let error = write_answered(json!({}), 100, &[]).await.0.unwrap_err();
    assert_eq!((&error.cause, &error.applied), (&Cause::Data, &Applied::No));
    assert!(error.message.contains("tsd.http.request.max_chunk"), "{error}");
}

#[tokio::test]
async fn what_a_request_before_the_failed_one_wrote_is_told() {
    let answers = [all_taken(2), all_taken(2), answer("400 Bad Request", r#"{"error":{"message":"no"}}"#)];
    let error = write_answered(json!({}), 300, &answers).await.0.unwrap_err();
    assert_eq!((error.cause, error.applied), (Cause::Data, Applied::Rows(vec![0, 1])));
    let answers = [all_taken(2), answer("500 Internal Server Error", r#"{"error":{"message":"no"}}"#)];
    let error = write_answered(json!({}), 300, &answers).await.0.unwrap_err();
    assert_eq!((error.cause, error.applied), (Cause::Server, Applied::Maybe));
}

#[tokio::test]
async fn refused_values_are_accounted_for_row_by_row() {
    let (second, why) = (1_700_000_000_001, "Unable to parse value to a number");
    let whole_row =
        json!({"success": 6, "failed": 2, "errors": [refused("a", second, why), refused("b", second, why)]});
    let half_a_row = json!({"success": 7, "failed": 1, "errors": [refused("a", second, why)]});
    let in_storage = json!({"success": 7, "failed": 1, "errors": [refused("a", second, "Storage exception: gone")]});
    for (status, body, cause, action, applied) in [
        ("400 Bad Request", &whole_row, Cause::Data, Action::RetryMayHelp, Applied::Rows(vec![0, 2, 3])),
        ("400 Bad Request", &half_a_row, Cause::Data, Action::RetryMayHelp, Applied::Maybe),
        ("200 OK", &in_storage, Cause::Server, Action::RetryMayHelp, Applied::Maybe),
    ] {
        let answered = [answer(status, &body.to_string())];
        let error = write_answered(json!({}), 1 << 20, &answered).await.0.unwrap_err();
        assert_eq!((&error.cause, &error.action, &error.applied), (&cause, &action, &applied), "{body}: {error}");
    }
}

#[tokio::test]
async fn no_answer_and_a_strange_one_may_have_stored_everything() {
    for (reply, cause) in [("HTTP/1.1 20".to_owned(), Cause::Connect), (answer("204 No Content", ""), Cause::Protocol)]
    {
        let error = write_answered(json!({}), 1 << 20, std::slice::from_ref(&reply)).await.0.unwrap_err();
        assert_eq!((&error.cause, &error.action), (&cause, &Action::DiscardWriter), "{reply}: {error}");
        assert_eq!(error.applied, Applied::Maybe);
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
}

#[tokio::test]
async fn another_server_or_version_is_no_opentsdb_2_4() {
    let said = |version: &str| json!({"version": version, "short_revision": "x"}).to_string();
    for body in [said("2.3.2"), said("KairosDB 1.3"), "<html>".into()] {
        let ping = async |database: Arc<dyn Database>| database.ping().await;
        let answers = [answer("200 OK", &body), told(4096)];
        let error = against(json!({}), &answers, ping).await.0.unwrap_err();
        assert!(error.message.contains("OpenTSDB"), "{body}: {error}");
    }
}

#[tokio::test]
async fn a_server_that_keeps_what_is_deleted_is_refused() {
    let told = json!({"tsd.http.query.allow_delete": "false", "tsd.storage.fix_duplicates": "true"});
    let create = async |database: Arc<dyn Database>| database.create().await;
    let error = against(json!({}), &[answer("200 OK", &told.to_string())], create).await.0.unwrap_err();
    assert_eq!((error.cause, error.action), (Cause::Server, Action::Stop));
    assert!(error.message.contains("tsd.http.query.allow_delete"), "{error}");
}

/// A server with a table of run `r`, whose values it deletes some looks after it has answered that.
struct Deleting {
    /// So many looks still show a value.
    unseen: u32,
    looks: u32,
    is_marked: bool,
    /// The one flag, where it is up.
    flag: Option<Value>,
}

impl Deleting {
    fn answer(&mut self, asked: &str) -> String {
        let (line, rest) = asked.split_once(" HTTP/").unwrap();
        match line.split_once("/api/").unwrap() {
            ("GET ", path) if path.starts_with("annotation?") => {
                let mark =
                    json!({ "created_by": "iotbench 0.1.0", "table": "stub", "run_id": "r", "fingerprint": "f" });
                answer("200 OK", &json!({ "custom": mark }).to_string())
            }
            ("GET ", path) if path.starts_with("annotations?") => {
                answer("200 OK", &json!(self.flag.as_slice()).to_string())
            }
            ("PUT ", "annotation") => {
                let (_, body) = rest.split_once("\r\n\r\n").unwrap();
                self.flag = Some(serde_json::from_str(body).unwrap());
                answer("200 OK", body)
            }
            ("DELETE ", path) if path.starts_with("annotation?") => {
                let is_flag = |flag: &Value| path.ends_with(&format!("={}", flag["startTime"]));
                if self.flag.as_ref().is_some_and(is_flag) {
                    self.flag = None;
                } else {
                    self.is_marked = false;
                }
                answer("204 No Content", "")
            }
            ("DELETE ", _) => answer("200 OK", "[]"),
            ("GET ", path) if path.starts_with("suggest?") => answer("200 OK", r#"["iotbench_stub.a"]"#),
            ("POST ", path) if path.starts_with("put?") => all_taken(1),
            ("POST ", path) if path.starts_with("query?") => {
                self.looks += 1;
                let left = self.unseen.checked_sub(1);
                self.unseen = left.unwrap_or_default();
                let series =
                    json!({ "tags": { "device": "1" }, "query": { "index": 0 }, "dps": [[31_536_000_000_u64, 1]] });
                answer("200 OK", &json!(left.map(|_| series).as_slice()).to_string())
            }
            _ => unreachable!("{asked}"),
        }
    }
}

/// Whoever asks for the next look waits before it: a database that is looked at without a pause is a load of its own.
#[tokio::test]
async fn what_is_not_deleted_yet_is_looked_at_once_and_then_once_each_time_it_is_asked_for() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    let database = backend().open(request_to_open(&url, json!({}), table("stub", "r"))).unwrap();
    let mut deleting = Deleting { unseen: 3, looks: 0, is_marked: true, flag: None };
    let client = async {
        database.drop_created().await.unwrap();
        for look in 1..=3 {
            assert_eq!(database.proceed().await.unwrap(), if look < 3 { Settled::NotYet } else { Settled::Yes });
        }
        assert_eq!(database.proceed().await.unwrap(), Settled::Yes, "nothing is left to do");
    };
    // What waits for the queue has a connection of its own.
    let serve = async {
        let mut streams = vec![listener.accept().await.unwrap().0];
        loop {
            let last = streams.last_mut().unwrap();
            tokio::select! {
                next = listener.accept() => streams.push(next.unwrap().0),
                Ok(()) = last.readable() => {
                    let mut first = [0];
                    if last.peek(&mut first).await.is_ok_and(|bytes| bytes > 0) {
                        let asked = text_of(last).await;
                        last.write_all(deleting.answer(&asked).as_bytes()).await.unwrap();
                    } else {
                        streams.pop();
                    }
                }
            }
        }
    };
    tokio::select! {
        () = client => {}
        () = serve => unreachable!("it serves for ever"),
    }
    assert_eq!((deleting.is_marked, deleting.looks), (false, 4), "three looks too early and one in time");
}

#[tokio::test]
async fn the_newest_value_is_chosen_by_the_client() {
    let series = |values: &str| {
        answer(
            "200 OK",
            &format!(r#"[{{"metric":"m","tags":{{"device":"1"}},"query":{{"index":0}},"dps":[{values}]}}]"#),
        )
    };
    let answers = [series("[1700002800000,2]"), series("[1700003600000,0.5],[1700003700000,1.5]")];
    let (reply, asked) = against(json!({}), &answers, async |database: Arc<dyn Database>| {
        let mut reader = database.reader().await.unwrap();
        reader.query(&Query::NewestVisible { device: 1, signal: 0 }, &mut |_: &Chunk| Ok(())).await.unwrap()
    })
    .await;
    assert_eq!((reply.rows, reply.computed_by), (1, ComputedBy::Client));
    assert_eq!(asked.len(), 2, "in which hours there is something, and what is in the last of them");
}
