//! Answers that a real server gives only in trouble, from a stub that gives them at once.

use crate::{
    harness::{answer, request_to_open, text_of},
    kairosdb::server::{backend, batch, open, table},
};
use iotbench_core::{Action, Applied, Cause, Database, Error, Settled};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::{io::AsyncWriteExt, net::TcpListener};

/// Runs `client` against a server that answers one request so, and gives what it was asked.
async fn against<T>(answer: String, client: impl AsyncFnOnce(Arc<dyn Database>) -> T) -> (T, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://me:s3cret@{}/kairos/", listener.local_addr().unwrap()).parse().unwrap();
    let database = open(&url, json!({}), table("stub", "r"));
    let mut asked = String::new();
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        asked = text_of(&mut stream).await;
        stream.write_all(answer.as_bytes()).await.unwrap();
        drop(stream);
        std::future::pending::<()>().await;
    };
    let given = tokio::select! {
        given = client(database) => given,
        () = serve => unreachable!("it waits for ever"),
    };
    (given, asked)
}

async fn write_answered(reply: String) -> (Result<u64, Error>, String) {
    against(reply, async |database: Arc<dyn Database>| {
        let mut writer = database.writer().await.unwrap();
        writer.write(&batch(&table("stub", "r"), 0, 2)).await.map(|acknowledged| acknowledged.points)
    })
    .await
}

#[tokio::test]
async fn a_batch_is_one_request_with_an_object_for_each_signal() {
    let (written, asked) = write_answered(answer("204 No Content", "")).await;
    assert_eq!(written, Ok(2));
    assert!(asked.starts_with("POST /kairos/api/v1/datapoints HTTP/1.1\r\n"), "{asked}");
    assert!(
        asked.contains("authorization: Basic bWU6czNjcmV0\r\n") && asked.contains("content-type: application/json")
    );
    let body = asked.split_once("\r\n\r\n").unwrap().1;
    let of = |signal: &str, kind: &str, value: &str| {
        format!(
            r#"{{"name":"iotbench_stub.{signal}","type":"{kind}","tags":{{"device":"1"}},"datapoints":[[1700000000000,{value}],[1700000000001,{value}]]}}"#
        )
    };
    assert_eq!(body, format!("[{},{}]", of("a", "double", "1.5"), of("b", "long", "7")));
}

#[tokio::test]
async fn a_refusal_may_have_stored_parts() {
    for (reply, cause, action, applied) in [
        (
            answer("400 Bad Request", r#"{"errors":["metric[1](name=m).value may not be empty."]}"#),
            Cause::Data,
            Action::RetryMayHelp,
            Applied::Maybe,
        ),
        (answer("401 Unauthorized", ""), Cause::Auth, Action::Stop, Applied::No),
        (answer("500 Server Error", r#"{"errors":["x"]}"#), Cause::Server, Action::RetryMayHelp, Applied::Maybe),
        (answer("200 OK", "hello"), Cause::Protocol, Action::DiscardWriter, Applied::Maybe),
        ("HTTP/1.1 204".into(), Cause::Connect, Action::DiscardWriter, Applied::Maybe),
    ] {
        let error = write_answered(reply.clone()).await.0.unwrap_err();
        assert_eq!((&error.cause, &error.action, &error.applied), (&cause, &action, &applied), "{reply}: {error}");
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
}

#[tokio::test]
async fn another_server_or_version_is_no_kairosdb_1() {
    for body in [r#"{"version": "KairosDB 2.0"}"#, r#"{"version": "7.1"}"#, "<html>"] {
        let (error, _) =
            against(answer("200 OK", body), async |database: Arc<dyn Database>| database.ping().await).await;
        assert!(error.unwrap_err().message.contains("no"), "{body}");
    }
}

/// What a server keeps of the table's marker.
#[derive(Default)]
struct Marked {
    mark: Option<String>,
    fence: Option<String>,
    /// A fence that was written and is not visible yet.
    queued: Option<String>,
    /// So many deletions are refused first.
    refusals: u32,
    /// So many looks do not show yet what was written.
    unseen: u32,
    /// So often the marker was looked at.
    looks: u32,
    /// The one flag, where it is up.
    flag: Option<String>,
}

impl Marked {
    /// A server with a table of run `r`.
    fn of_run() -> Self {
        let mark = json!({ "created_by": "iotbench 0.1.0", "run_id": "r", "fingerprint": "f" }).to_string();
        Self { mark: Some(mark), ..Self::default() }
    }

    fn look(&mut self) -> String {
        self.looks += 1;
        match self.unseen.checked_sub(u32::from(self.queued.is_some())) {
            Some(left) => self.unseen = left,
            None => self.fence = self.queued.take(),
        }
        let values = [(0, &self.mark), (1, &self.fence)];
        let values: Vec<_> = values.iter().filter_map(|(ms, text)| Some(json!([ms, text.as_ref()?]))).collect();
        let group = json!({ "name": "iotbench_marker.stub", "tags": {}, "values": values });
        answer("200 OK", &json!({ "queries": [{ "sample_size": 1, "results": [group] }] }).to_string())
    }

    /// The answer to a request.
    fn answer(&mut self, asked: &str) -> String {
        let (head, body) = asked.split_once("\r\n\r\n").unwrap();
        let line = head.lines().next().unwrap();
        if line.starts_with("DELETE") {
            if self.refusals > 0 {
                self.refusals -= 1;
                return answer("500 Server Error", r#"{"errors":["Exception in table metric"]}"#);
            }
            if line.contains("iotbench_marker.") {
                (self.mark, self.fence) = (None, None);
            }
            if line.contains("iotbench_flag.") {
                self.flag = None;
            }
            return answer("204 No Content", "");
        }
        if line.contains("/metricnames?prefix=iotbench_marker.") {
            return answer("200 OK", r#"{"results":["iotbench_marker.stub"]}"#);
        }
        if line.contains("/metricnames?prefix=iotbench_flag.") {
            return answer("200 OK", r#"{"results":["iotbench_flag.stub"]}"#);
        }
        if line.contains("/metricnames") {
            return answer("200 OK", r#"{"results":["iotbench_stub.a","iotbench_stub.b"]}"#);
        }
        if line.contains("/datapoints/query") && body.contains("iotbench_flag.stub") {
            let values: Vec<_> = self.flag.iter().map(|text| json!([0, text])).collect();
            let group = json!({ "name": "iotbench_flag.stub", "tags": {}, "values": values });
            return answer("200 OK", &json!({ "queries": [{ "sample_size": 1, "results": [group] }] }).to_string());
        }
        if line.contains("/datapoints/query") {
            return self.look();
        }
        let written: Value = serde_json::from_str(body).unwrap();
        if written[0]["name"] == "iotbench_flag.stub" {
            self.flag = Some(written[0]["value"].as_str().unwrap().into());
            return answer("204 No Content", "");
        }
        assert_eq!(written[0]["timestamp"], 1, "only a fence is written: {body}");
        self.queued = Some(written[0]["value"].as_str().unwrap().into());
        answer("204 No Content", "")
    }
}

/// Serves one connection after the other: it closes one as soon as there is another.
async fn serve(listener: TcpListener, marked: &mut Marked) {
    let (mut stream, _) = listener.accept().await.unwrap();
    loop {
        tokio::select! {
            next = listener.accept() => stream = next.unwrap().0,
            Ok(()) = stream.readable() => {
                let mut first = [0];
                if stream.peek(&mut first).await.is_ok_and(|bytes| bytes > 0) {
                    let asked = text_of(&mut stream).await;
                    stream.write_all(marked.answer(&asked).as_bytes()).await.unwrap();
                } else {
                    stream = listener.accept().await.unwrap().0;
                }
            }
        }
    }
}

/// Deletions may take minutes, and a server closes connections that are idle for half of one: here as soon as there is another.
/// What a killed run had queued may be in the way of the first ones.
#[tokio::test]
async fn a_table_is_dropped_by_a_server_that_closes_idle_connections_and_refuses_at_first() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    let database = open(&url, json!({}), table("stub", "r"));
    let mut marked = Marked { refusals: 2, ..Marked::of_run() };
    tokio::select! {
        dropped = database.drop_created() => dropped.unwrap(),
        () = serve(listener, &mut marked) => unreachable!("it serves for ever"),
    }
    assert_eq!(marked.mark, None);
}

/// Whoever asks for the next look waits before it: a database that is looked at without a pause is a load of its own.
#[tokio::test]
async fn what_is_not_visible_yet_is_looked_at_once_and_then_once_each_time_it_is_asked_for() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    let database = backend().open(request_to_open(&url, json!({}), table("stub", "r"))).unwrap();
    let mut marked = Marked { unseen: 3, ..Marked::of_run() };
    let client = async {
        database.drop_created().await.unwrap();
        for look in 1..=3 {
            assert_eq!(database.proceed().await.unwrap(), if look < 3 { Settled::NotYet } else { Settled::Yes });
        }
        assert_eq!(database.proceed().await.unwrap(), Settled::Yes, "nothing is left to do");
    };
    tokio::select! {
        () = client => {}
        () = serve(listener, &mut marked) => unreachable!("it serves for ever"),
    }
    // Whose it is, and once more when nobody else may change it, how far the fences are, three looks too early and one in time, and
    // that the mark is gone.
    assert_eq!((marked.mark, marked.flag, marked.looks), (None, None, 8));
}
