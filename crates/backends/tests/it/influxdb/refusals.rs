//! Servers that are not there, or are not what they should be.

use crate::influxdb::server::{of_database, open, table, url};
use iotbench_core::{Action, Cause, Layout};
use url::Url;

async fn refused(url: &str) -> iotbench_core::Error {
    let url: Url = url.parse().unwrap();
    let database = open(&url, of_database("x"), table(Layout::Wide, "r"));
    let error = database.ping().await.unwrap_err();
    for of_writer in [database.writer().await.err().unwrap(), database.reader().await.err().unwrap()] {
        assert_eq!(of_writer.cause, error.cause);
    }
    assert!(!error.to_string().contains("s3cret"), "{error}");
    error
}

#[tokio::test]
async fn a_closed_port_and_an_unknown_host_are_told_apart() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = refused(&format!("http://me:s3cret@127.0.0.1:{port}/")).await;
    assert_eq!((error.cause, error.action), (Cause::Connect, Action::DiscardWriter));
    assert!(error.message.contains(&port.to_string()), "{error}");
    assert_eq!(refused("http://me:s3cret@nowhere.invalid/").await.cause, Cause::Dns);
}

#[tokio::test]
async fn no_plain_server_passes_for_an_encrypted_one() {
    let Some(url) = url() else { return };
    let mut url: Url = url.clone();
    url.set_query(None);
    let https = url.as_str().replace("http://", "https://me:s3cret@");
    let error = refused(&https).await;
    assert_eq!((error.cause, error.action), (Cause::Tls, Action::Stop));
}

#[tokio::test]
async fn a_password_file_or_authority_that_cannot_be_read_is_named() {
    for (url, settings) in [
        ("http://127.0.0.1:1/", serde_json::json!({"username": "me", "password_file": "/nowhere/password"})),
        ("https://127.0.0.1:1/", serde_json::json!({"ca": "/nowhere/ca.pem"})),
    ] {
        let error = open(&url.parse().unwrap(), settings, table(Layout::Wide, "r")).ping().await.unwrap_err();
        assert_eq!((error.cause, error.action), (Cause::Client, Action::Stop));
        assert!(error.message.contains("/nowhere/"), "{error}");
    }
}
