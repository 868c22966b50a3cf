//! What is another's in MySQL: its login, its product and its settings.

use crate::mariadb::server::{Place, batch, named, settings_of, table};
use iotbench_core::{
    Action, Cause, Counts, Database, Endpoint, Layout, OpenRequest, PromiseLevel, Settled, TableSpec, Target, ValueType,
};
use serde_json::{Value, json};
use std::sync::Arc;
use url::Url;

fn wide() -> TableSpec {
    table(Layout::Wide, &[ValueType::U16], 1)
}

fn open(backend: &str, url: &Url, settings: Value) -> Arc<dyn Database> {
    let target = Target { endpoints: vec![Endpoint::new(url.clone())], ..Target::default() };
    named(backend).open(OpenRequest { target, settings: settings_of(settings), table: wide() }).unwrap()
}

#[tokio::test]
async fn the_product_and_its_settings_are_read_back_under_either_name() {
    let Some(place) = Place::on("mysql", "mysql_facts").await else { return };
    for backend in ["mysql", "mariadb"] {
        let facts = open(backend, &place.url, json!({})).ping().await.unwrap();
        assert_eq!((facts.product.as_str(), facts.version.starts_with("8.")), ("MySQL", true), "{facts:?}");
        assert_eq!(facts.promise.level, PromiseLevel::OsCrash, "{facts:?}");
        // Its binary log is on unless it is told otherwise.
        for (setting, value) in [("innodb_flush_log_at_trx_commit", "1"), ("log_bin", "ON"), ("sync_binlog", "1")] {
            assert_eq!(facts.settings[setting], value, "{setting}");
        }
    }
    let error = open("mysql", &place.url, json!({"engine": "myrocks"})).ping().await.unwrap_err();
    assert_eq!((error.cause, error.action), (Cause::Server, Action::Stop), "{error}");
    assert!(error.message.contains("no storage engine myrocks"), "{error}");
    place.drop().await;
}

#[tokio::test]
async fn a_table_is_written_settled_weighed_adopted_and_dropped() {
    let Some(place) = Place::on("mysql", "mysql_table").await else { return };
    let ours = open("mysql", &place.url, json!({}));
    ours.create().await.unwrap();
    let empty = ours.storage_bytes().await.unwrap().unwrap();
    ours.writer().await.unwrap().write(&batch(&wide(), 0, 50_000)).await.unwrap();
    assert_eq!(ours.settle().await, Ok(Settled::Yes));
    assert_eq!(ours.count().await, Ok(Counts { points: 50_000, values: 50_000 }));
    assert!(ours.storage_bytes().await.unwrap().unwrap() > empty);
    assert!(ours.adopt().await.unwrap());
    ours.drop_created().await.unwrap();
    assert_eq!(ours.owned().await, Ok(Vec::new()));
    place.drop().await;
}

#[tokio::test]
async fn a_password_goes_over_an_encrypted_connection_only() {
    let Some(place) = Place::on("mysql", "mysql_password").await else { return };
    place.execute("DROP USER IF EXISTS iotbench_mysql").await;
    place.execute("CREATE USER iotbench_mysql IDENTIFIED WITH caching_sha2_password BY 'right'").await;
    place.execute(&format!("GRANT ALL ON `{}`.* TO iotbench_mysql", place.database)).await;
    let mut url = place.url_of("iotbench_mysql", "right");
    let error = open("mysql", &url, json!({})).ping().await.unwrap_err();
    assert_eq!((error.cause, error.action), (Cause::Auth, Action::Stop), "{error}");
    url.set_query(Some("sslmode=require"));
    let ours = open("mysql", &url, json!({}));
    // Asked for anew, then from the server's cache.
    for _ in 0..2 {
        assert_eq!(ours.ping().await.unwrap().settings["tls"], "certificate not checked");
    }
    ours.create().await.unwrap();
    assert!(ours.storage_bytes().await.unwrap().is_some());
    ours.drop_created().await.unwrap();
    let mut wrong = place.url_of("iotbench_mysql", "wr0ng");
    wrong.set_query(Some("sslmode=require"));
    let error = open("mysql", &wrong, json!({})).ping().await.unwrap_err();
    assert_eq!((error.cause, error.action), (Cause::Auth, Action::Stop), "{error}");
    assert!(!error.message.contains("wr0ng"), "{error}");
    place.execute("DROP USER iotbench_mysql").await;
    place.drop().await;
}
