//! What is sent to `/api/v2/write` is taken by servers that speak it, and a token is never shown.

use crate::influxdb2::{
    place::{address, batch, get, open, table, token_file},
    relay::with_password,
};
use iotbench_core::{Acknowledged, Action, Applied, Backend, Cause, Endpoint, Layout, OpenRequest, Settings, Target};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

#[tokio::test]
async fn victoriametrics_takes_both_layouts_compressed_or_not() {
    let Some(url) = address("IOTBENCH_TEST_VICTORIAMETRICS_URL", true) else { return };
    let relayed = with_password(&url).await;
    let token = token_file("any");
    for (layout, gzip, name, series) in
        [(Layout::Wide, false, "v2wide", "v2wide_a"), (Layout::Narrow, true, "v2narrow", "v2narrow_v")]
    {
        let table = table(name, layout);
        let database = open(&relayed, json!({"gzip": gzip, "token_file": token.path()}), table.clone());
        let mut writer = database.writer().await.unwrap();
        let Acknowledged { points, bytes } = writer.write(&batch(&table, 3)).await.unwrap();
        assert!(points == 3 && bytes > 0);
        get(&url, "/internal/force_flush");
        let path =
            format!("/api/v1/export?match[]=%7B__name__=%22{series}%22,device=%221%22%7D&start=1&end=4102444800");
        let exported = get(&url, &path);
        let first: Value =
            serde_json::from_str(exported.lines().next().unwrap_or_else(|| panic!("{name}: nothing"))).unwrap();
        assert_eq!(first["values"], json!([0.5, 1.5, 2.5]), "{exported}");
        assert_eq!(first["timestamps"], json!([1_700_000_000_000_i64, 1_700_000_001_000_i64, 1_700_000_002_000_i64]));
        get(&url, &format!("/api/v1/admin/tsdb/delete_series?match[]=%7B__name__=~%22{name}_.%2A%22%7D"));
    }
}

#[tokio::test]
async fn questdb_takes_a_batch_and_refuses_another_type() {
    let Some(url) = address("IOTBENCH_TEST_QUESTDB_URL", true) else { return };
    let relayed = with_password(&url).await;
    let token = token_file("any");
    let table = table("v2quest", Layout::Wide);
    let database = open(&relayed, json!({"token_file": token.path()}), table.clone());
    let mut writer = database.writer().await.unwrap();
    assert_eq!(writer.write(&batch(&table, 3)).await.unwrap().points, 3);
    // The same column as a text.
    let mut texts = table.clone();
    let signal = |name: &str| iotbench_core::Signal {
        name: name.into(),
        value_type: iotbench_core::ValueType::Text,
        max_text_bytes: 9,
    };
    texts.schema = iotbench_core::Schema::new(vec![signal("a"), signal("b")]).unwrap();
    let mut refused = iotbench_core::Batch::new(&texts.schema);
    refused.append(iotbench_core::Run { device: 0, first: 0, count: 1 }, |times, columns| {
        times.push(1_700_000_000_000_000_000);
        for column in columns {
            assert!(column.push(iotbench_core::Value::Text("x")));
        }
    });
    let database = open(&relayed, json!({"token_file": token.path()}), texts);
    let error = database.writer().await.unwrap().write(&refused).await.unwrap_err();
    assert!(error.cause == Cause::Data && error.action == Action::RetryMayHelp, "{error}");
    assert_eq!(error.applied, Applied::No, "it was one line");
}

/// The request that a stub got, and the error of its answer.
async fn answered(answer: &'static str) -> (String, iotbench_core::Error) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/?org=a%20b", listener.local_addr().unwrap()).parse().unwrap();
    let token = token_file("s3cret");
    let table = table("stub", Layout::Wide);
    let database = open(&url, json!({"token_file": token.path()}), table.clone());
    let served = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
        while !request.ends_with(b"\n") || !request.windows(4).any(|w| w == b"\r\n\r\n") {
            let read = stream.read(&mut buffer).await.unwrap();
            request.extend_from_slice(&buffer[..read]);
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8(request).unwrap()
    };
    let written = async { database.writer().await.unwrap().write(&batch(&table, 2)).await.unwrap_err() };
    tokio::join!(served, written)
}

#[tokio::test]
async fn the_token_travels_in_the_header_and_is_shown_nowhere() {
    let (request, error) = answered(
        "HTTP/1.1 401 Unauthorized\r\ncontent-length: 57\r\n\r\n{\"code\":\"unauthorized\",\"message\":\"unauthorized access!!\"}",
    )
    .await;
    assert!(
        request.starts_with("POST /api/v2/write?org=a%20b&bucket=iotbench_stub&precision=ns HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(request.contains("authorization: Token s3cret\r\n"), "{request}");
    assert!(
        request.ends_with(
            "stub,device=1 a=0.5,b=0.5 1700000000000000000\nstub,device=1 a=1.5,b=1.5 1700000001000000000\n"
        )
    );
    assert_eq!((error.cause, error.action, error.applied.clone()), (Cause::Auth, Action::Stop, Applied::No));
    assert!(!format!("{error} {error:?}").contains("s3cret"));
}

#[test]
fn a_token_in_the_address_is_refused_and_not_repeated() {
    let endpoints = vec![Endpoint::new("http://h/?token=s3cret".parse().unwrap())];
    let request = OpenRequest {
        target: Target { endpoints, ..Target::default() },
        settings: Settings::default(),
        table: table("t", Layout::Wide),
    };
    let backend: &dyn Backend = crate::influxdb2::place::backend();
    let error = backend.open(request).err().unwrap();
    assert!(error.key == "url" && !error.to_string().contains("s3cret"), "{error}");
}
