//! A batch, and every way in which its answer can be wrong or missing.

use crate::faults::{
    place::{Client, assert_harmless, ended, given_up, on_the_way_bytes, serve, serve_and_close},
    products::{CLICKHOUSE, DATABUS, INFLUXDB, INFLUXDB2, KAIROSDB, OPENTSDB, Product, QUESTDB, VICTORIAMETRICS},
};
use iotbench_core::{Action, Applied, Cause, Writer};
use iotbench_oracle_server::{
    Fault, Server,
    http::{Answer, Then},
};
use std::{
    net::TcpListener,
    num::{NonZeroU8, NonZeroU64},
    time::Duration,
};

/// What a write must come to.
enum Comes {
    /// To an error: one of these causes, and this to do.
    To(Vec<Cause>, Action, Applied),
    /// To nothing: it is given up when the server has sent so many bytes.
    ToNothing(u64),
}

struct Case {
    name: &'static str,
    answer: Answer,
    comes: Comes,
    /// How much of the answer is read at most.
    most_bytes: u64,
}

/// The longest refusal that is taken, and the account of a batch.
const REFUSAL: u64 = 64 << 10;
const ACCOUNT: u64 = 64 << 20;
const HEAD: u64 = 256 << 10;

fn to(cause: Cause, action: Action, applied: Applied) -> Comes {
    Comes::To(vec![cause], action, applied)
}

/// No answer that can be read, to a request that was sent.
fn unreadable() -> Comes {
    to(Cause::Protocol, Action::DiscardWriter, Applied::Maybe)
}

fn lost() -> Comes {
    to(Cause::Connect, Action::DiscardWriter, Applied::Maybe)
}

fn case(name: &'static str, answer: Answer, comes: Comes) -> Case {
    let most_bytes = if matches!(answer.then, Then::Repeat(_)) { HEAD } else { ACCOUNT };
    Case { name, answer, comes, most_bytes }
}

fn throttled(seconds: u64) -> Cause {
    Cause::Throttled { retry_after: Some(Duration::from_secs(seconds)) }
}

/// Answers that are what HTTP allows.
fn refusals(product: &Product, elsewhere: &TcpListener) -> Vec<Case> {
    use Action::{DiscardWriter, RetryMayHelp, Stop};
    let soon = "retry-after: 2\r\n";
    let date = "date: Sat, 21 Nov 2026 04:10:39 GMT\r\nretry-after: Sat, 21 Nov 2026 04:10:44 GMT\r\n";
    let (status, body, applied) = product.partial;
    let partial = if product.name == "databus" { Cause::Server } else { Cause::Data };
    let away = Answer::redirect("307 Elsewhere", elsewhere.local_addr().unwrap(), "/write?u=me&p=s3cret");
    let answer = |status: &str| Answer::new(status, "", "");
    vec![
        case("429", Answer::new("429 Slower", soon, ""), to(throttled(2), RetryMayHelp, Applied::No)),
        case("503", Answer::new("503 Busy", date, ""), to(throttled(5), RetryMayHelp, product.busy.clone())),
        case("partial write", Answer::new(status, "", body), to(partial, RetryMayHelp, applied())),
        case("500", answer("500 Error"), to(Cause::Server, RetryMayHelp, Applied::Maybe)),
        case("502", answer("502 Bad Gateway"), to(Cause::Server, RetryMayHelp, Applied::Maybe)),
        case("507", answer("507 Full"), to(Cause::Full, Stop, Applied::Maybe)),
        case("401", answer("401 Unauthorized"), to(Cause::Auth, Stop, Applied::No)),
        case("413", answer("413 Too Long"), to(Cause::Data, RetryMayHelp, Applied::No)),
        case("redirect", away, to(Cause::Protocol, Stop, Applied::No)),
        case("another success", answer("202 Accepted"), to(Cause::Protocol, DiscardWriter, Applied::Maybe)),
        case("another protocol", answer("101 Switching"), to(Cause::Protocol, DiscardWriter, Applied::Maybe)),
        case(
            "control characters",
            Answer::new("500 Error", "", "\x1b[31m\x07\0red"),
            to(Cause::Server, RetryMayHelp, Applied::Maybe),
        ),
        case(
            "deep JSON",
            Answer::deep_json("500 Error", "{\"error\":", 30_000),
            to(Cause::Server, RetryMayHelp, Applied::Maybe),
        ),
    ]
}

/// Answers that are none, or have no end.
fn ruins(product: &Product) -> Vec<Case> {
    let raw = |bytes: &str, then| Answer::raw(bytes, then);
    let body_bytes = if product.name == "opentsdb" { ACCOUNT } else { REFUSAL };
    let huge =
        |status, piece| Case { most_bytes: body_bytes, ..case("huge", Answer::huge(status, piece), unreadable()) };
    vec![
        case("closed", raw("", Then::Close), lost()),
        case("half a head", raw("HTTP/1.1 20", Then::Close), lost()),
        case("half a body", raw("HTTP/1.1 500 Error\r\ncontent-length: 100\r\n\r\nhalf", Then::Close), lost()),
        case("garbage", Answer::raw(&b"SSH-2.0-x\r\n\0\x1b[31m\xff\r\n\r\n"[..], Then::Wait), unreadable()),
        case("endless garbage", raw("\0", Then::Repeat(vec![0xff; 4096])), unreadable()),
        huge("500 Error", "x"),
        huge("200 OK", " "),
        case("gzip bomb", Answer::gzip_bomb("200 OK").unwrap(), unreadable()),
        case("header flood", Answer::header_flood("200 OK"), unreadable()),
        case("endless header", raw("HTTP/1.1 200 OK\r\nx: ", Then::Repeat(vec![b'a'; 4096])), unreadable()),
        case("endless status", raw("HTTP/1.1 200 ", Then::Repeat(vec![b'a'; 4096])), unreadable()),
        case(
            "absurd length",
            raw("HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n", Then::Wait),
            unreadable(),
        ),
        case("negative length", raw("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", Then::Wait), unreadable()),
        case(
            "two lengths",
            raw("HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncontent-length: 5\r\n\r\nwrong", Then::Wait),
            unreadable(),
        ),
        case(
            "absurd chunk",
            raw("HTTP/1.1 500 Error\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n", Then::Wait),
            unreadable(),
        ),
        case(
            "garbage for a chunk",
            raw("HTTP/1.1 500 Error\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n", Then::Wait),
            unreadable(),
        ),
        case("slow drip", Answer::slow_drip("500 Error"), Comes::ToNothing(60)),
        case(
            "endless 1xx",
            raw("", Then::Repeat(b"HTTP/1.1 100 Continue\r\n\r\n".repeat(100))),
            Comes::ToNothing(on_the_way_bytes()),
        ),
    ]
}

fn every(status: u8) -> Fault {
    Fault::ErrorEvery { every: NonZeroU64::MIN, status: NonZeroU8::new(status).unwrap() }
}

async fn writer(client: &Client) -> Box<dyn Writer> {
    ended("a writer", client.database.writer()).await.unwrap()
}

/// One cell of the matrix: what the fault comes to, and what is left of the writer after it.
async fn strike(product: &Product, client: &Client, server: &Server, case: &Case, fault: Fault) {
    let what = format!("{} × {}", product.name, case.name);
    let batch = client.batch();
    let mut writer = writer(client).await;
    let before = server.ledger();
    server.strike(fault);
    let requests = before.entries.len() + 1;
    let is_usable = match &case.comes {
        Comes::ToNothing(bytes) => {
            given_up(&what, writer.write(&batch), server, (requests, before.written_bytes + bytes)).await;
            false
        }
        Comes::To(causes, action, applied) => {
            let error = ended(&what, writer.write(&batch)).await.expect_err(&what);
            assert_harmless(&what, &error);
            assert!(causes.contains(&error.cause), "{what}: {error:?}");
            assert_eq!((error.action, &error.applied), (*action, applied), "{what}: {error}");
            *action == Action::RetryMayHelp
        }
    };
    assert_eq!(server.ledger().entries.len(), requests, "{what}: one request and no other");
    server.heal();
    let again = ended(&what, writer.write(&batch)).await;
    let after = server.ledger();
    match again {
        Ok(acknowledged) => {
            assert_eq!((acknowledged.points, after.entries.len()), (3, requests + 1), "{what}: acknowledged");
        }
        Err(error) => {
            assert!(!is_usable, "{what}: the writer was said to be usable, and is not: {error}");
            assert_eq!((error.cause, error.action), (Cause::Connect, Action::DiscardWriter), "{what}: {error}");
            assert_eq!((error.applied, after.entries.len()), (Applied::No, requests), "{what}: nothing was sent");
        }
    }
    drop(writer);
    // What is given up is read for as long as it is waited for, and not held.
    if matches!(case.comes, Comes::To(..)) {
        let read_bytes = after.written_bytes - before.written_bytes;
        assert!(read_bytes <= case.most_bytes + on_the_way_bytes(), "{what}: {read_bytes} bytes were taken");
    }
}

async fn matrix(product: &Product) {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let mut cases = refusals(product, &elsewhere);
    cases.extend(ruins(product));
    let server = serve(product, cases.iter().map(|case| case.answer.clone()).collect());
    let client = Client::of(product, &server.address());
    let sound = ended(product.name, writer(&client).await.write(&client.batch())).await.unwrap();
    assert!(sound.points == 3 && sound.bytes > 0, "{}", product.name);
    for (case, status) in cases.iter().zip(1..) {
        strike(product, &client, &server, case, every(status)).await;
    }
    let silent = Answer::raw("", Then::Wait);
    let hang = Case { name: "hang", answer: silent.clone(), comes: Comes::ToNothing(0), most_bytes: 0 };
    strike(product, &client, &server, &hang, Fault::Hang { after: 0 }).await;
    let reset = Case { name: "reset after storing", answer: silent, comes: lost(), most_bytes: 0 };
    strike(product, &client, &server, &reset, Fault::ResetAfterStoring { every: NonZeroU64::MIN }).await;
    assert!(elsewhere.accept().is_err(), "{}: somebody followed the redirect", product.name);
    assert_eq!(server.ledger().strays, 0, "{}: the stub knows all that is asked", product.name);
}

/// A server may close a connection after any answer. What it was told beforehand costs nothing; of what it was not, a request may
/// have been on its way, and nothing is said of one that was not.
async fn closed_after_each_answer(product: &Product, is_told: bool) {
    let server = serve_and_close(product, if is_told { "connection: close\r\n" } else { "" });
    let client = Client::of(product, &server.address());
    let (batch, mut writer) = (client.batch(), writer(&client).await);
    let before = server.ledger().entries.len();
    for write in 1..=5 {
        let what = format!("{}, told: {is_told}: write {write}", product.name);
        match ended(&what, writer.write(&batch)).await {
            Ok(acknowledged) => assert_eq!(acknowledged.points, 3, "{what}"),
            Err(error) => {
                assert!(!is_told && error.applied == Applied::Maybe, "{what}: {error:?}");
                writer = self::writer(&client).await;
            }
        }
        assert!(!is_told || server.ledger().entries.len() == before + write, "{what}");
    }
}

#[tokio::test]
async fn a_server_that_closes_its_connections_costs_no_operation() {
    for product in [&INFLUXDB, &INFLUXDB2, &KAIROSDB, &OPENTSDB, &QUESTDB, &VICTORIAMETRICS, &CLICKHOUSE, &DATABUS] {
        closed_after_each_answer(product, true).await;
        closed_after_each_answer(product, false).await;
    }
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
