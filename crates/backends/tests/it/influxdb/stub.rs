//! Answers that a real server gives only in trouble, from a stub that gives them at once.

use crate::{
    harness::{answer_with, text_of},
    influxdb::server::{batch, of_database, open, table},
};
use iotbench_core::{Action, Applied, Cause, Chunk, Database, Error, Layout, Query, Settled};
use std::{cell::RefCell, sync::Arc, time::Duration};
use tokio::{io::AsyncWriteExt, net::TcpListener};
use url::Url;

/// Runs `client` against a server that gives these answers one after the other on one connection, and then is gone.
/// Returns the requests too. A ping, by which a writer begins, is answered and not counted.
async fn against<T>(answers: Vec<Vec<u8>>, client: impl AsyncFnOnce(Arc<dyn Database>) -> T) -> (T, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url: Url = format!("http://me:s3cret@{}/", listener.local_addr().unwrap()).parse().unwrap();
    let database = open(&url, of_database("x"), table(Layout::Wide, "r"));
    let requests = RefCell::new(Vec::new());
    let noted = &requests;
    let serve = async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        for reply in answers {
            let mut asked = text_of(&mut stream).await;
            if asked.starts_with("GET /ping ") {
                stream.write_all(&answer("204 No Content", "", "")).await.unwrap();
                asked = text_of(&mut stream).await;
            }
            noted.borrow_mut().push(asked);
            // The client may have seen enough before the end.
            let _ = stream.write_all(&reply).await;
        }
        drop((stream, listener));
        std::future::pending::<()>().await;
    };
    let given = tokio::select! {
        given = client(database) => given,
        () = serve => unreachable!("it waits for ever"),
    };
    (given, requests.into_inner())
}

fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    answer_with(status, headers, body).into_bytes()
}

/// The error of one write that is answered so.
async fn write_answered(reply: Vec<u8>) -> Error {
    let write = async |database: Arc<dyn Database>| {
        let mut writer = database.writer().await.unwrap();
        writer.write(&batch(&table(Layout::Wide, "r"), 0, 3)).await.unwrap_err()
    };
    let (error, requests) = against(vec![reply], write).await;
    assert_eq!(requests.len(), 1, "one request and no other: {requests:?}");
    assert!(requests[0].starts_with("POST /write?db=x&precision=ns HTTP/1.1\r\n"), "{}", requests[0]);
    assert!(requests[0].contains("authorization: Basic bWU6czNjcmV0\r\n"), "{}", requests[0]);
    assert!(requests[0].ends_with("\r\n\r\nreadings,device=1 select=1.5,signal=1.5 0\nreadings,device=1 select=1.5,signal=1.5 1\nreadings,device=1 select=1.5,signal=1.5 2\n"), "{}", requests[0]);
    assert!(!error.to_string().contains("s3cret") && !error.to_string().contains("bWU6czNjcmV0"), "{error}");
    error
}

#[tokio::test]
async fn every_refusal_is_understood() {
    let throttled = Cause::Throttled { retry_after: Some(Duration::from_secs(2)) };
    for (reply, cause, action, applied) in [
        (answer("401 Unauthorized", "", r#"{"error":"authorization failed"}"#), Cause::Auth, Action::Stop, Applied::No),
        (answer("429 Too Many", "retry-after: 2\r\n", ""), throttled, Action::RetryMayHelp, Applied::No),
        (answer("503 Busy", "retry-after: 2\r\n", ""), throttled, Action::RetryMayHelp, Applied::No),
        (
            answer("500 Error", "", r#"{"error":"write /x: no space left on device"}"#),
            Cause::Full,
            Action::Stop,
            Applied::Maybe,
        ),
        (answer("200 OK", "", ""), Cause::Protocol, Action::DiscardWriter, Applied::Maybe),
        (answer("500 Error", "", &"x".repeat(100_000)), Cause::Protocol, Action::DiscardWriter, Applied::Maybe),
        (answer("204 None", "content-encoding: gzip\r\n", ""), Cause::Protocol, Action::DiscardWriter, Applied::Maybe),
        (b"HTTP/1.1 204".to_vec(), Cause::Connect, Action::DiscardWriter, Applied::Maybe),
        (b"SSH-2.0-x\r\n".to_vec(), Cause::Protocol, Action::DiscardWriter, Applied::Maybe),
        (vec![], Cause::Connect, Action::DiscardWriter, Applied::Maybe),
    ] {
        let shown = String::from_utf8_lossy(&reply[..reply.len().min(80)]).into_owned();
        let error = write_answered(reply).await;
        assert_eq!((error.cause, error.action, error.applied.clone()), (cause, action, applied), "{shown}: {error}");
    }
}

#[tokio::test]
async fn nobody_is_followed_to_another_server() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = format!("location: http://{}/write\r\n", elsewhere.local_addr().unwrap());
    let error = write_answered(answer("307 Elsewhere", &place, "")).await;
    assert_eq!((error.cause, error.action, error.applied), (Cause::Protocol, Action::Stop, Applied::No));
    let came = elsewhere.into_std().unwrap().accept();
    assert!(came.is_err(), "somebody came");
}

#[tokio::test]
async fn a_connection_that_was_closed_while_idle_has_applied_nothing() {
    let (error, requests) = against(vec![answer("204 No Content", "", "")], async |database| {
        let mut writer = database.writer().await.unwrap();
        let batch = batch(&table(Layout::Wide, "r"), 0, 3);
        writer.write(&batch).await.unwrap();
        // The stub closes its end as soon as it is polled, and the client's runtime hears of it.
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        writer.write(&batch).await.unwrap_err()
    })
    .await;
    assert_eq!(requests.len(), 1);
    assert_eq!((error.cause, error.action, error.applied), (Cause::Connect, Action::DiscardWriter, Applied::No));
}

/// The error of a query that is answered so.
async fn query_answered(reply: Vec<u8>) -> Error {
    let query = async |database: Arc<dyn Database>| {
        let mut reader = database.reader().await.unwrap();
        reader.query(&Query::Scan, &mut |_: &Chunk| Ok(())).await.unwrap_err()
    };
    against(vec![reply], query).await.0
}

#[tokio::test]
async fn hostile_answers_are_refused() {
    let deep = "[".repeat(200_000);
    for body in [
        "no json\n",
        "{\"results\":[{\"series\":[{\"columns\":[\"time\",\"a\",\"b\"],\"values\":[[1,true,2]]}]}]}\n",
        "{\"results\":[{\"series\":[{\"columns\":[\"time\"],\"values\":[[\"x\"]]}]}]}\n",
        "{\"results\":[{\"series\":[{\"tags\":{\"device\":\"x\"},\"columns\":[\"time\",\"a\",\"b\"],\"values\":[[1,2,3]]}]}]}\n",
        deep.as_str(),
    ] {
        let error = query_answered(answer("200 OK", "", body)).await;
        assert_eq!(error.cause, Cause::Protocol, "{}: {error}", &body[..20.min(body.len())]);
        assert!(error.message.len() < 1000 && !error.message.contains('\u{1b}'));
    }
    let endless = "x".repeat((64 << 20) + 1);
    let error = query_answered(answer("200 OK", "", &endless)).await;
    assert!(error.cause == Cause::Protocol && error.message.contains("one chunk"), "{error}");
    let short = query_answered(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{".to_vec()).await;
    assert_eq!((short.cause, short.action), (Cause::Connect, Action::DiscardWriter));
}

#[tokio::test]
async fn another_version_is_no_influxdb_1() {
    let reply = answer("200 OK", "x-influxdb-version: 2.7.1\r\n", "{\"results\":[{}]}\n");
    let (error, _) = against(vec![reply], async |database| database.ping().await.unwrap_err()).await;
    assert_eq!((error.cause, error.action), (Cause::Server, Action::Stop));
    assert!(error.message.contains("2.7.1"), "{error}");
}

#[tokio::test]
async fn who_could_not_clean_up_is_refused_before_anything_is_written() {
    let body = r#"{"error":"error authorizing query: me not authorized to execute statement 'SHOW DIAGNOSTICS'"}"#;
    for (body, hint) in [(body, true), (r#"{"error":"authorization failed"}"#, false)] {
        let reply = answer("403 Forbidden", "x-influxdb-version: 1.6.7\r\n", body);
        let (error, requests) = against(vec![reply], async |database| database.ping().await.unwrap_err()).await;
        assert_eq!((error.cause, error.action, requests.len()), (Cause::Auth, Action::Stop, 1));
        assert_eq!(error.message.contains("administrator"), hint, "{error}");
    }
}

#[tokio::test]
async fn a_name_that_is_listed_and_holds_no_series_is_nobodys() {
    let list = |names: &[&str]| {
        let rows: Vec<_> = names.iter().map(|name| format!("[\"{name}\"]")).collect();
        let series = format!("{{\"name\":\"n\",\"columns\":[\"name\"],\"values\":[{}]}}", rows.join(","));
        answer("200 OK", "", &format!("{{\"results\":[{{\"series\":[{series}]}}]}}\n"))
    };
    let empty = || answer("200 OK", "", "{\"results\":[{}]}\n");
    let create = async |database: Arc<dyn Database>| {
        database.create().await?;
        while database.proceed().await? == Settled::NotYet {}
        Ok::<_, Error>(())
    };
    // Where it is nobody's the next request is on its way, and the stub is gone.
    for (series, cause) in [(empty(), Cause::Connect), (list(&["readings,device=1"]), Cause::NotOurs)] {
        let looks = vec![list(&["x"]), list(&["readings"]), series];
        let (created, requests) = against(looks, create).await;
        assert!(requests.last().unwrap().contains("SHOW%20SERIES%20FROM%20%22readings%22"), "{requests:?}");
        assert_eq!(created.unwrap_err().cause, cause);
    }
}
