//! Only what carries our marker is ever touched.

use crate::postgres::server::{OwnDatabase, batch, open, table};
use iotbench_core::{Cause, Layout, OwnedObject, TableSpec};
use sqlx::Executor;

#[tokio::test]
async fn a_strangers_object_of_our_name_is_refused_and_unchanged() {
    let plants = [
        ("CREATE TABLE points (a text); INSERT INTO points VALUES ('x')", "table points"),
        ("CREATE TABLE points (a text); COMMENT ON TABLE points IS 'iotbench run=r'", "table points"),
        ("CREATE TABLE points (a text) PARTITION BY LIST (a)", "table points"),
        ("CREATE VIEW points AS SELECT 1", "view points"),
        ("CREATE MATERIALIZED VIEW points AS SELECT 1", "view points"),
        ("CREATE SEQUENCE points", "sequence points"),
        ("CREATE TYPE points AS ENUM ('a')", "type points"),
        ("CREATE TABLE t (a integer); CREATE INDEX points_time ON t (a)", "index points_time"),
        ("CREATE TABLE points_time (a text)", "table points_time"),
    ];
    for (plant, named) in plants {
        let Some(database) = OwnDatabase::create().await else { return };
        database.execute(plant).await;
        let before = database.contents().await;
        let ours = open(&database.url(), "{}", table(Layout::Wide, "r"));
        assert!(!ours.adopt().await.unwrap(), "{plant}");
        let error = ours.create().await.unwrap_err();
        assert_eq!(error.cause, Cause::NotOurs, "{plant}: {error}");
        assert!(error.message.contains(named), "{plant}: {error}");
        ours.drop_created().await.unwrap();
        assert_eq!(database.contents().await, before, "{plant}");
        database.remove().await;
    }
}

#[tokio::test]
async fn a_strangers_view_on_our_table_is_not_dropped_with_it() {
    let Some(database) = OwnDatabase::create().await else { return };
    let ours = open(&database.url(), "{}", table(Layout::Wide, "r"));
    ours.create().await.unwrap();
    database.execute("CREATE VIEW mine AS SELECT * FROM points").await;
    let before = database.contents().await;
    assert_eq!(ours.drop_created().await.unwrap_err().cause, Cause::NotOurs);
    assert_eq!(ours.create().await.unwrap_err().cause, Cause::NotOurs);
    assert_eq!(database.contents().await, before);
    database.remove().await;
}

#[tokio::test]
async fn what_a_killed_run_left_is_found_and_dropped_only_while_it_is_marked() {
    let Some(database) = OwnDatabase::create().await else { return };
    database.execute("CREATE TABLE mine (a text); COMMENT ON TABLE mine IS 'iotbench run=x'").await;
    let killed = open(&database.url(), "{}", table(Layout::Narrow, "killed; run"));
    killed.create().await.unwrap();
    killed.writer().await.unwrap().write(&batch(3)).await.unwrap();
    let mut elsewhere = table(Layout::Wide, "now");
    elsewhere.name = iotbench_core::Name::new("elsewhere").unwrap();
    let now = open(&database.url(), "{}", elsewhere);
    let left = OwnedObject { name: table(Layout::Wide, "").name, run_id: "killed; run".into() };
    assert_eq!(now.owned().await, Ok(vec![left.clone()]));
    drop(killed);
    let of_another_run = OwnedObject { run_id: "another".into(), ..left.clone() };
    assert_eq!(now.drop_owned(&of_another_run).await.unwrap_err().cause, Cause::NotOurs);
    let strangers = OwnedObject { name: iotbench_core::Name::new("mine").unwrap(), run_id: "x".into() };
    assert_eq!(now.drop_owned(&strangers).await.unwrap_err().cause, Cause::NotOurs);
    now.drop_owned(&left).await.unwrap();
    assert_eq!(now.owned().await, Ok(Vec::new()));
    assert_eq!(now.drop_owned(&left).await.unwrap_err().cause, Cause::NotOurs);
    assert_eq!(database.contents().await.len(), 1);
    database.remove().await;
}

#[tokio::test]
async fn a_run_drops_its_own_table_and_not_that_of_the_next() {
    let Some(database) = OwnDatabase::create().await else { return };
    let first = || open(&database.url(), "{}", table(Layout::Wide, "first"));
    let second = open(&database.url(), "{}", table(Layout::Document, "second"));
    first().create().await.unwrap();
    second.create().await.unwrap();
    first().drop_created().await.unwrap();
    assert_eq!(second.owned().await.unwrap()[0].run_id, "second");
    second.drop_created().await.unwrap();
    assert_eq!(database.contents().await, Vec::<String>::new());
    database.remove().await;
}

/// Of another user or on another machine: nothing but the server tells one of the other.
#[tokio::test]
async fn a_table_that_a_run_uses_is_neither_replaced_nor_taken_over_nor_dropped_by_another() {
    let Some(database) = OwnDatabase::create().await else { return };
    let of = |run_id| open(&database.url(), "{}", of(run_id, "f"));
    let (running, other) = (of("running"), of("other"));
    running.create().await.unwrap();
    running.writer().await.unwrap().write(&batch(3)).await.unwrap();
    let its = OwnedObject { name: table(Layout::Wide, "").name, run_id: "running".into() };
    let refused = [
        other.create().await.unwrap_err(),
        other.adopt().await.unwrap_err(),
        other.drop_owned(&its).await.unwrap_err(),
        // Its agents are not the run.
        of("running").drop_created().await.unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.cause, Cause::NotOurs, "{error}");
        assert!(error.message.contains("points is in use by another run"), "{error}");
    }
    assert_eq!(running.count().await.unwrap().points, 3);
    drop(running);
    other.create().await.unwrap();
    assert_eq!(other.owned().await.unwrap()[0].run_id, "other");
    other.drop_created().await.unwrap();
    assert_eq!(database.contents().await, Vec::<String>::new());
    database.remove().await;
}

#[tokio::test]
async fn a_run_whose_connection_the_server_ended_takes_its_table_again() {
    let Some(database) = OwnDatabase::create().await else { return };
    let running = open(&database.url(), "{}", table(Layout::Wide, "running"));
    running.create().await.unwrap();
    let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() \
                  AND pid <> pg_backend_pid()";
    database.execute(others).await;
    let other = open(&database.url(), "{}", table(Layout::Wide, "other"));
    running.create().await.unwrap();
    assert_eq!(other.create().await.unwrap_err().cause, Cause::NotOurs);
    running.drop_created().await.unwrap();
    other.create().await.unwrap();
    other.drop_created().await.unwrap();
    database.remove().await;
}

fn of(run_id: &str, fingerprint: &str) -> TableSpec {
    let mut table = table(Layout::Wide, run_id);
    table.marker.fingerprint = fingerprint.into();
    table
}

#[tokio::test]
async fn a_table_is_taken_over_by_a_run_of_the_same_fingerprint_only() {
    let Some(database) = OwnDatabase::create().await else { return };
    let of = |run_id, fingerprint| open(&database.url(), "{}", of(run_id, fingerprint));
    let (other, same) = (of("run-2", "g"), of("run-3", "f"));
    assert!(!same.adopt().await.unwrap(), "there is nothing");
    let first = of("run-1", "f");
    first.create().await.unwrap();
    first.writer().await.unwrap().write(&batch(9)).await.unwrap();
    drop(first);
    let before = database.contents().await;
    assert!(!other.adopt().await.unwrap());
    other.drop_created().await.unwrap();
    assert_eq!(database.contents().await, before);
    assert!(same.adopt().await.unwrap());
    of("run-1", "f").drop_created().await.unwrap();
    assert_eq!(same.count().await.unwrap().points, 9, "it is no longer the first run's to drop");
    same.drop_created().await.unwrap();
    assert_eq!(database.contents().await, Vec::<String>::new());
    database.remove().await;
}

#[tokio::test]
async fn a_user_without_rights_is_told_so() {
    let Some(database) = OwnDatabase::create().await else { return };
    let role = format!("{}_reader", database.name);
    database.execute(&format!("CREATE ROLE {role} LOGIN PASSWORD 'p'")).await;
    let mut url = database.url();
    url.set_username(&role).unwrap();
    url.set_password(Some("p")).unwrap();
    let error = open(&url, "{}", table(Layout::Wide, "r")).create().await.unwrap_err();
    assert_eq!(error.cause, Cause::Auth, "{error}");
    // What may not be flushed is settled all the same.
    open(&url, "{}", table(Layout::Wide, "r")).settle().await.unwrap();
    database.connect().await.execute(format!("DROP ROLE {role}").as_str()).await.unwrap();
    database.remove().await;
}
