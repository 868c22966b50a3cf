//! A question, and every way in which its answer can be wrong or missing.

use crate::faults::{
    place::{Client, assert_harmless, ended, given_up, on_the_way_bytes, serve, written_bytes},
    products::{CLICKHOUSE, DATABUS, INFLUXDB, INFLUXDB2, KAIROSDB, OPENTSDB, Product, QUESTDB, VICTORIAMETRICS},
};
use iotbench_core::{Action, Cause, Chunk, Query, Reader};
use iotbench_oracle_server::{
    Fault, Server,
    http::{Answer, Then},
};
use std::{
    net::TcpListener,
    num::{NonZeroU8, NonZeroU64},
    time::Duration,
};

/// The longest answer that is held whole.
const WHOLE: u64 = 256 << 20;

/// An answer, and what the question must come to: an error of this cause, or where there is none, nothing for ever.
type Case = (&'static str, Answer, Option<Cause>);

fn cases(product: &Product, elsewhere: &TcpListener) -> Vec<Case> {
    let (protocol, lost) = (Some(Cause::Protocol), Some(Cause::Connect));
    let busy = Some(Cause::Throttled { retry_after: Some(Duration::from_secs(2)) });
    let soon = "retry-after: 2\r\n";
    let away = Answer::redirect("307 Elsewhere", elsewhere.local_addr().unwrap(), "/query?u=me&p=s3cret");
    let ok = |body: &str| Answer::new("200 OK", "", body);
    let raw = |bytes: &str, then| Answer::raw(bytes, then);
    vec![
        ("429", Answer::new("429 Slower", soon, ""), busy),
        ("503", Answer::new("503 Busy", soon, ""), busy),
        ("500", Answer::new("500 Error", "", "\x1b[31m\0"), Some(Cause::Server)),
        ("507", Answer::new("507 Full", "", ""), Some(Cause::Full)),
        ("401", Answer::new("401 Unauthorized", "", ""), Some(Cause::Auth)),
        ("redirect", away, protocol),
        ("closed", raw("", Then::Close), lost),
        ("half a head", raw("HTTP/1.1 20", Then::Close), lost),
        (
            "half a body",
            raw(&format!("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}", product.endless), Then::Close),
            lost,
        ),
        ("garbage", Answer::raw(&b"SSH-2.0-x\r\n\0\xff\r\n\r\n"[..], Then::Wait), protocol),
        ("another product", ok("{\"hello\":\"\x1b[31m\"}\n"), protocol),
        (
            "no text",
            Answer::raw(&b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n\0\xff\xfe\n"[..], Then::Wait),
            protocol,
        ),
        ("deep JSON", Answer::deep_json("200 OK", "{\"results\":", 200_000), protocol),
        ("huge", Answer::huge("200 OK", product.endless), protocol),
        ("huge refusal", Answer::huge("500 Error", "x"), protocol),
        ("gzip bomb", Answer::gzip_bomb("200 OK").unwrap(), protocol),
        ("header flood", Answer::header_flood("200 OK"), protocol),
        ("absurd length", raw("HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n", Then::Wait), protocol),
        (
            "garbage for a chunk",
            raw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n", Then::Wait),
            protocol,
        ),
        ("slow drip", Answer::slow_drip("200 OK"), None),
    ]
}

/// One cell of the matrix.
async fn strike(product: &Product, client: &Client, server: &Server, query: &Query, case: &Case, fault: Fault) {
    let (name, _, cause) = case;
    let what = format!("{} × {name} × {query:?}", product.name);
    let mut reader = ended(&what, client.database.reader()).await.unwrap();
    let before_bytes = written_bytes(server).await;
    let before = server.ledger();
    server.strike(fault);
    let mut rows = 0;
    let mut sink = |chunk: &Chunk| {
        rows += chunk.len();
        Ok(())
    };
    if let Some(cause) = cause {
        let error = ended(&what, reader.query(query, &mut sink)).await.expect_err(&what);
        assert_harmless(&what, &error);
        assert_eq!(error.cause, *cause, "{what}: {error}");
        assert_eq!(error.action == Action::Stop, matches!(*name, "redirect" | "401" | "507"), "{what}: {error:?}");
    } else {
        let struck = (before.entries.len() + 1, before_bytes + 60);
        given_up(&what, reader.query(query, &mut sink), server, struck).await;
    }
    assert_eq!(rows, 0, "{what}: rows out of nothing");
    let read_bytes = server.ledger().written_bytes - before_bytes;
    assert!(read_bytes <= WHOLE + on_the_way_bytes(), "{what}: {read_bytes} bytes were taken");
    server.heal();
    again(&what, reader, query).await;
}

/// A reader is as good as before, or says at once that it is not.
async fn again(what: &str, mut reader: Box<dyn Reader>, query: &Query) {
    match ended(what, reader.query(query, &mut |_: &Chunk| Ok(()))).await {
        Ok(_) => {}
        Err(error) => {
            assert_eq!((error.cause, error.action), (Cause::Connect, Action::DiscardWriter), "{what}: {error}");
        }
    }
}

async fn matrix(product: &Product) {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let cases = cases(product, &elsewhere);
    let server = serve(product, cases.iter().map(|case| case.1.clone()).collect());
    let client = Client::of(product, &server.address());
    for query in [Query::Scan, Query::Count] {
        let mut reader = ended(product.name, client.database.reader()).await.unwrap();
        let sound = ended(product.name, reader.query(&query, &mut |_: &Chunk| Ok(()))).await;
        assert!(sound.is_ok(), "{} × {query:?}: {sound:?}", product.name);
        for (case, status) in cases.iter().zip(1..) {
            let status = NonZeroU8::new(status).unwrap();
            let fault = Fault::ErrorEvery { every: NonZeroU64::MIN, status };
            strike(product, &client, &server, &query, case, fault).await;
        }
        let reset = ("reset", Answer::raw("", Then::Wait), Some(Cause::Connect));
        let fault = Fault::ResetAfterStoring { every: NonZeroU64::MIN };
        strike(product, &client, &server, &query, &reset, fault).await;
    }
    assert!(elsewhere.accept().is_err(), "{}: somebody followed the redirect", product.name);
    assert_eq!(server.ledger().strays, 0, "{}: the stub knows all that is asked", product.name);
}

#[tokio::test]
async fn influxdb() {
    matrix(&INFLUXDB).await;
}

#[tokio::test]
async fn influxdb2() {
    matrix(&INFLUXDB2).await;
}

#[tokio::test]
async fn kairosdb() {
    matrix(&KAIROSDB).await;
}

#[tokio::test]
async fn opentsdb() {
    matrix(&OPENTSDB).await;
}

#[tokio::test]
async fn questdb() {
    matrix(&QUESTDB).await;
}

#[tokio::test]
async fn victoriametrics() {
    matrix(&VICTORIAMETRICS).await;
}

#[tokio::test]
async fn clickhouse() {
    matrix(&CLICKHOUSE).await;
}

#[tokio::test]
async fn databus() {
    matrix(&DATABUS).await;
}
