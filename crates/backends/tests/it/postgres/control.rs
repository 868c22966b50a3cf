//! What the server says of itself, and the database that is ours to create.

use crate::postgres::server::{OwnDatabase, batch, connect, open, skipped, table, url};
use iotbench_core::{Acknowledgement, Counts, Layout, PromiseLevel, PromiseSource, Settled};
use sqlx::Executor;

#[tokio::test]
async fn the_settings_that_hold_are_read_back() {
    let Some(database) = OwnDatabase::create().await else { return };
    let ping = async |settings: &str| open(&database.url(), settings, table(Layout::Wide, "r")).ping().await.unwrap();
    let facts = ping("{}").await;
    assert_eq!((facts.product.as_str(), facts.settings["fsync"].as_str()), ("PostgreSQL", "on"));
    assert_eq!((facts.promise.level, facts.promise.source), (PromiseLevel::OsCrash, PromiseSource::ReadBack));
    assert_eq!(facts.acknowledgement, Acknowledgement::Durable);
    let facts = ping(r#"{"synchronous_commit": "off", "method": "copy"}"#).await;
    assert_eq!((facts.promise.level, facts.acknowledgement), (PromiseLevel::Buffered, Acknowledgement::Applied));
    assert_eq!(facts.settings["synchronous_commit"], "off");
    assert!(facts.method.starts_with("copy"), "{}", facts.method);
    assert_eq!(ping(r#"{"unlogged": true}"#).await.promise.level, PromiseLevel::Buffered);
    // What the server, the database or the role sets is what counts.
    database.execute(&format!("ALTER DATABASE {} SET synchronous_commit = off", database.name)).await;
    assert_eq!(ping("{}").await.promise.level, PromiseLevel::Buffered);
    assert_eq!(ping(r#"{"synchronous_commit": "on"}"#).await.promise.level, PromiseLevel::OsCrash);
    database.remove().await;
}

#[tokio::test]
async fn a_table_is_written_counted_weighed_and_dropped() {
    let Some(database) = OwnDatabase::create().await else { return };
    for layout in Layout::ALL {
        let ours = open(&database.url(), "{}", table(layout, "r"));
        ours.create().await.unwrap();
        let empty = ours.storage_bytes().await.unwrap().unwrap();
        let written = ours.writer().await.unwrap().write(&batch(3000)).await.unwrap();
        assert!(written.points == 3000 && written.bytes > 3000, "{layout}: {written:?}");
        assert_eq!(ours.settle().await, Ok(Settled::Yes));
        assert_eq!(ours.count().await, Ok(Counts { points: 3000, values: 3000 }), "{layout}");
        assert!(ours.storage_bytes().await.unwrap().unwrap() > empty, "{layout}");
        ours.drop_created().await.unwrap();
    }
    assert_eq!(database.contents().await, Vec::<String>::new());
    database.remove().await;
}

/// Of all tests only this one uses the database `iotbench`, and only where it is not there.
#[tokio::test]
async fn a_database_of_ours_is_created_and_dropped_with_the_last_table() {
    let Some(mut url) = url() else { return };
    let mut maintenance = connect(&url).await;
    let mut exists = async || -> bool {
        let sql = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = 'iotbench')";
        sqlx::query_scalar(sql).fetch_one(&mut maintenance).await.unwrap()
    };
    if exists().await {
        skipped("this server has a database named iotbench");
        return;
    }
    url.set_path("");
    let ours = open(&url, "{}", table(Layout::Wide, "r"));
    let mut other_table = table(Layout::Wide, "other");
    other_table.name = iotbench_core::Name::new("others").unwrap();
    let other = open(&url, "{}", other_table);
    ours.ping().await.unwrap();
    ours.drop_created().await.unwrap();
    assert_eq!(ours.owned().await, Ok(Vec::new()));
    assert!(!exists().await);
    ours.create().await.unwrap();
    other.create().await.unwrap();
    ours.drop_created().await.unwrap();
    // It holds a table of another run.
    assert!(exists().await);
    other.drop_created().await.unwrap();
    // It is empty now, and was not created by the run that left last.
    assert!(exists().await);
    ours.drop_created().await.unwrap();
    assert!(!exists().await);
    // Who takes over its table takes it over as well.
    let heir = open(&url, "{}", table(Layout::Wide, "heir"));
    assert!(!heir.adopt().await.unwrap());
    assert!(!exists().await);
    ours.create().await.unwrap();
    drop(ours);
    assert!(heir.adopt().await.unwrap());
    open(&url, "{}", table(Layout::Wide, "r")).drop_created().await.unwrap();
    assert!(exists().await);
    heir.drop_created().await.unwrap();
    assert!(!exists().await);
}

#[tokio::test]
async fn a_database_that_the_user_names_is_neither_created_nor_dropped() {
    let Some(database) = OwnDatabase::create().await else { return };
    let ours = open(&database.url(), "{}", table(Layout::Wide, "r"));
    ours.create().await.unwrap();
    ours.drop_created().await.unwrap();
    let mut connection = database.connect().await;
    connection.execute("SELECT").await.unwrap();
    drop(connection);
    let mut url = database.url();
    url.set_path("iotbench_test_absent");
    let error = open(&url, "{}", table(Layout::Wide, "r")).create().await.unwrap_err();
    assert!(error.message.contains("(3D000)"), "{error}");
    database.remove().await;
}
