//! What is not ours stays as it is; what is ours is found and goes.

use crate::mariadb::server::{Place, batch, none, open, table};
use iotbench_core::{Action, Cause, Layout, Name, OwnedObject, TableSpec, ValueType};
use serde_json::json;

fn wide() -> TableSpec {
    table(Layout::Wide, &[ValueType::F32], 1)
}

fn of_run(run_id: &str) -> TableSpec {
    let mut table = wide();
    table.marker.run_id = run_id.into();
    table
}

#[tokio::test]
async fn every_kind_of_strangers_object_is_refused_and_left_alone() {
    let Some(place) = Place::new("foreign").await else { return };
    let database = place.database.clone();
    for (planted, removed) in [
        ("TABLE `{}`.readings (a INT) COMMENT='iotbench'", "TABLE"),
        ("TABLE `{}`.readings (a INT) COMMENT='iotbench run=a'", "TABLE"),
        ("TABLE `{}`.readings (a INT) COMMENT='of iotbench run=a fingerprint=b'", "TABLE"),
        ("VIEW `{}`.readings AS SELECT 1 AS a", "VIEW"),
    ] {
        place.execute(&format!("CREATE {}", planted.replace("{}", &database))).await;
        let shown = format!("SHOW CREATE TABLE `{database}`.readings");
        let before = place.rows(&shown).await;
        let ours = place.open(none(), wide());
        assert!(!ours.adopt().await.unwrap(), "{planted}");
        let error = ours.create().await.unwrap_err();
        assert_eq!((error.cause, error.action), (Cause::NotOurs, Action::Stop), "{planted}: {error}");
        assert!(error.message.contains("readings"), "{error}");
        ours.drop_created().await.unwrap();
        assert!(ours.owned().await.unwrap().is_empty(), "{planted}");
        assert_eq!(place.rows(&shown).await, before, "{planted}");
        place.execute(&format!("DROP {removed} `{database}`.readings")).await;
    }
    place.drop().await;
}

#[tokio::test]
async fn a_table_is_dropped_by_the_run_that_made_it_and_by_what_names_that_run() {
    let Some(place) = Place::new("owned").await else { return };
    let (first, second) = (place.open(none(), of_run("a 1' --")), place.open(none(), of_run("run-2")));
    first.create().await.unwrap();
    first.writer().await.unwrap().write(&batch(&wide(), 0, 3)).await.unwrap();
    second.drop_created().await.unwrap();
    assert_eq!(first.count().await.unwrap().points, 3, "another run's table is left alone");
    let name = Name::new("readings").unwrap();
    let owned = OwnedObject { name: name.clone(), run_id: "a 1' --".into() };
    assert_eq!(second.owned().await.unwrap(), std::slice::from_ref(&owned));
    let other = OwnedObject { name, run_id: "run-2".into() };
    assert_eq!(second.drop_owned(&other).await.unwrap_err().cause, Cause::NotOurs);
    assert_eq!(first.count().await.unwrap().points, 3);
    drop(first);
    second.drop_owned(&owned).await.unwrap();
    assert!(second.owned().await.unwrap().is_empty());
    assert_eq!(second.drop_owned(&owned).await.unwrap_err().cause, Cause::NotOurs, "it is gone");
    place.drop().await;
}

/// Of another user or on another machine: nothing but the server tells one of the other.
#[tokio::test]
async fn a_table_that_a_run_uses_is_neither_replaced_nor_taken_over_nor_dropped_by_another() {
    let Some(place) = Place::new("in_use").await else { return };
    let of = |run_id| place.open(none(), of_run(run_id));
    let (running, other) = (of("running"), of("other"));
    running.create().await.unwrap();
    running.writer().await.unwrap().write(&batch(&wide(), 0, 3)).await.unwrap();
    let its = OwnedObject { name: Name::new("readings").unwrap(), run_id: "running".into() };
    let refused = [
        other.create().await.unwrap_err(),
        other.adopt().await.unwrap_err(),
        other.drop_owned(&its).await.unwrap_err(),
        // Its agents are not the run.
        of("running").drop_created().await.unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.cause, Cause::NotOurs, "{error}");
        assert!(error.message.contains("readings is in use by another run"), "{error}");
    }
    assert_eq!(running.count().await.unwrap().points, 3);
    drop(running);
    other.create().await.unwrap();
    assert_eq!(other.owned().await.unwrap()[0].run_id, "other");
    other.drop_created().await.unwrap();
    assert!(other.owned().await.unwrap().is_empty());
    place.drop().await;
}

#[tokio::test]
async fn a_table_is_taken_over_by_a_run_of_the_same_fingerprint_only() {
    let Some(place) = Place::new("adopted").await else { return };
    for engine in ["innodb", "myrocks"] {
        let of = |run_id: &str, fingerprint: &str| {
            let mut table = of_run(run_id);
            table.marker.fingerprint = fingerprint.into();
            place.open(json!({ "engine": engine }), table)
        };
        let (first, other, same) = (of("run-1", "f"), of("run-2", "g"), of("run-3", "f"));
        assert!(!same.adopt().await.unwrap(), "there is nothing");
        first.create().await.unwrap();
        first.writer().await.unwrap().write(&batch(&wide(), 0, 9)).await.unwrap();
        drop(first);
        assert!(!other.adopt().await.unwrap());
        other.drop_created().await.unwrap();
        assert!(same.adopt().await.unwrap());
        of("run-1", "f").drop_created().await.unwrap();
        assert_eq!(same.count().await.unwrap().points, 9, "{engine}: it is no longer the first run's to drop");
        same.drop_created().await.unwrap();
        assert!(same.owned().await.unwrap().is_empty(), "{engine}");
    }
    place.drop().await;
}

#[tokio::test]
#[ignore = "writes 1.2 million rows and copies them: scripts/long adopt"]
async fn a_table_of_more_rows_than_a_transaction_may_lock_is_taken_over() {
    let Some(place) = Place::new("adopted_large").await else { return };
    let of = |run_id: &str| place.open(json!({ "engine": "myrocks" }), of_run(run_id));
    let (first, second) = (of("run-1"), of("run-2"));
    first.create().await.unwrap();
    for from in [1, 300_001, 600_001, 900_001] {
        let fill = format!("SELECT seq * 1000, 0.5 FROM `{}`.seq_{from}_to_{}", place.database, from + 299_999);
        place.execute(&format!("INSERT INTO `{}`.readings {fill}", place.database)).await;
    }
    drop(first);
    let limit = place.rows("SELECT @@rocksdb_max_row_locks").await;
    assert!(limit[0].parse::<u64>().unwrap() < 1_200_000, "this server's limit is {limit:?}: the test shows nothing");
    assert!(second.adopt().await.unwrap());
    assert_eq!(second.count().await.unwrap().points, 1_200_000);
    second.drop_created().await.unwrap();
    assert!(second.owned().await.unwrap().is_empty());
    place.drop().await;
}

#[tokio::test]
async fn our_own_database_comes_and_goes_but_not_with_what_a_stranger_put_there() {
    let Some(place) = Place::new("default").await else { return };
    let mut url = place.url.clone();
    url.set_path("");
    let is_there = "SELECT schema_name FROM information_schema.schemata WHERE schema_name = 'iotbench'";
    if !place.rows(is_there).await.is_empty() {
        eprintln!("skipped: the server has a database iotbench already");
        return;
    }
    let mut spec = wide();
    spec.name = Name::new("readings_default").unwrap();
    let ours = open(&url, none(), spec).unwrap();
    ours.ping().await.unwrap();
    assert!(place.rows(is_there).await.is_empty(), "a look creates nothing");
    ours.create().await.unwrap();
    assert_eq!(place.rows(is_there).await, ["iotbench"]);
    place.execute("CREATE TABLE iotbench.mine (a INT)").await;
    ours.drop_created().await.unwrap();
    assert_eq!(place.rows("SHOW TABLES IN iotbench").await, ["mine"]);
    place.execute("DROP TABLE iotbench.mine").await;
    place.execute("CREATE PROCEDURE iotbench.mine() SELECT 1").await;
    ours.create().await.unwrap();
    ours.drop_created().await.unwrap();
    assert_eq!(place.rows(is_there).await, ["iotbench"], "a procedure is something as well");
    place.execute("DROP PROCEDURE iotbench.mine").await;
    ours.create().await.unwrap();
    ours.drop_created().await.unwrap();
    assert!(place.rows(is_there).await.is_empty());
    place.drop().await;
}

#[tokio::test]
async fn names_of_databases_are_quoted_whatever_they_hold() {
    let Some(mut place) = Place::new("quoted").await else { return };
    let odd = "iotbench_test größe`; DROP TABLE x; -- 温度";
    let quoted = odd.replace('`', "``");
    place.execute(&format!("DROP DATABASE IF EXISTS `{quoted}`")).await;
    place.execute(&format!("CREATE DATABASE `{quoted}`")).await;
    place.url.set_path(odd);
    for layout in Layout::ALL {
        let spec = table(layout, &[ValueType::U16], 1);
        let ours = place.open(none(), spec.clone());
        ours.ping().await.unwrap();
        ours.create().await.unwrap();
        ours.writer().await.unwrap().write(&batch(&spec, 0, 5)).await.unwrap();
        ours.settle().await.unwrap();
        assert_eq!(ours.count().await.unwrap().values, 5);
        assert!(ours.storage_bytes().await.unwrap().is_some());
        ours.drop_created().await.unwrap();
    }
    place.execute(&format!("DROP DATABASE `{quoted}`")).await;
    place.drop().await;
}
