//! What ClickHouse alone does: its marker, its promise, its refusals.

use crate::clickhouse::server::{open, server, table};
use crate::harness;
use iotbench_core::{
    Acknowledgement, Action, Applied, Batch, Cause, Chunk, Counts, Language, Layout, OwnedObject, PromiseLevel, Query,
    Run, Statement, StatementCall, TableSpec, Value,
};
use serde_json::json;

/// Datapoints of the second device, a nanosecond each, with these values.
fn batch(table: &TableSpec, values: &[f64]) -> Batch {
    let mut batch = Batch::new(&table.schema);
    let run = Run { device: 1, first: 0, count: u32::try_from(values.len()).unwrap() };
    batch.append(run, |times, columns| {
        for (time, value) in (0..).zip(values) {
            times.push(time);
            for column in columns.iter_mut() {
                assert!(column.push(Value::F64(*value)));
            }
        }
    });
    batch
}

#[tokio::test]
async fn it_says_how_it_is_set() {
    let Some(server) = server("facts") else { return };
    let facts = open(&server, table("facts", Layout::Wide, "r")).ping().await.unwrap();
    assert_eq!(facts.version, server.ask("SELECT version()"));
    assert_eq!((facts.acknowledgement, facts.promise.level), (Acknowledgement::Applied, PromiseLevel::ProcessCrash));
    assert_eq!(facts.settings["index_granularity"], "8192");
    assert_eq!(server.contents(), Vec::<String>::new(), "a look changes nothing");
}

/// The one of the tests is older than these.
#[tokio::test]
async fn inserts_that_the_server_gathers_need_one_that_can() {
    let Some(server) = server("gathered") else { return };
    let settings = server.settings(json!({"insert": "async"}));
    let answer = harness::open("clickhouse", &server.url, settings, table("gathered", Layout::Wide, "r")).ping().await;
    if server.ask("SELECT count() FROM system.settings WHERE name = 'async_insert'") == "1" {
        assert!(answer.unwrap().method.contains("gathered by the server"));
    } else {
        let error = answer.unwrap_err();
        assert!(error.action == Action::Stop && error.message.contains("came with 21.11"), "{error}");
    }
}

#[tokio::test]
async fn a_table_is_taken_over_by_a_run_of_the_same_fingerprint_only() {
    let Some(server) = server("adopted") else { return };
    let of = |run_id: &str, fingerprint: &str| {
        let mut table = table("adopted", Layout::Wide, run_id);
        table.marker.fingerprint = fingerprint.into();
        open(&server, table)
    };
    let (first, other, same) = (of("run-1", "\"f'\\"), of("run-2", "g"), of("run-3", "\"f'\\"));
    assert!(!same.adopt().await.unwrap(), "there is nothing");
    first.create().await.unwrap();
    let points = batch(&table("adopted", Layout::Wide, ""), &[1.0, 2.0]);
    first.writer().await.unwrap().write(&points).await.unwrap();
    let before = server.contents();
    assert!(!other.adopt().await.unwrap());
    other.drop_created().await.unwrap();
    assert_eq!(server.contents(), before);
    assert!(same.adopt().await.unwrap());
    first.drop_created().await.unwrap();
    assert_eq!(same.count().await.unwrap(), Counts { points: 2, values: 4 }, "it is no longer the first run's to drop");
    same.drop_created().await.unwrap();
    assert_eq!(server.contents(), Vec::<String>::new());
}

#[tokio::test]
async fn what_killed_runs_left_is_found_and_dropped() {
    let Some(server) = server("left_behind") else { return };
    let killed = open(&server, table("left_behind", Layout::Narrow, "killed 'run'"));
    killed.create().await.unwrap();
    let other = open(&server, table("left_behind", Layout::Narrow, "other"));
    let ours = |owned: Vec<OwnedObject>| owned.into_iter().find(|o| o.name.as_str() == "left_behind");
    let left = ours(other.owned().await.unwrap()).unwrap();
    assert_eq!(left.run_id, "killed 'run'");
    other.drop_created().await.unwrap();
    assert_eq!(ours(other.owned().await.unwrap()), Some(left.clone()), "it is not the other run's to drop");
    let mut stale = left.clone();
    stale.run_id = "an earlier one".into();
    assert_eq!(other.drop_owned(&stale).await.unwrap_err().cause, Cause::NotOurs);
    other.drop_owned(&left).await.unwrap();
    assert_eq!(server.contents(), Vec::<String>::new());
}

#[tokio::test]
async fn a_table_that_was_dropped_and_made_anew_is_not_ours() {
    let Some(server) = server("made_anew") else { return };
    let table = table("made_anew", Layout::Wide, "r");
    let database = open(&server, table.clone());
    database.create().await.unwrap();
    let mut writer = database.writer().await.unwrap();
    server.ask("DROP TABLE made_anew");
    assert_eq!(database.count().await.unwrap_err().cause, Cause::Server);
    let error = writer.write(&batch(&table, &[1.0])).await.unwrap_err();
    assert_eq!((error.cause, error.action, error.applied), (Cause::Server, Action::Stop, Applied::No));
    // Somebody's own table, with a column of our name that is no marker of ours.
    server.ask("CREATE TABLE made_anew (a Int8, iotbench_mark String ALIAS 'mine') ENGINE = TinyLog");
    assert_eq!(database.count().await.unwrap_err().cause, Cause::Server);
    assert_eq!(database.create().await.unwrap_err().cause, Cause::NotOurs);
    database.drop_created().await.unwrap();
    let left = server.contents();
    assert!(left.len() == 1 && left[0].starts_with("made_anew: "), "{left:?}");
}

/// The server itself holds a user's statement to reading.
#[tokio::test]
async fn a_statement_of_a_users_own_is_asked_where_nothing_can_be_changed() {
    let Some(server) = server("statements") else { return };
    let database = open(&server, table("read_only", Layout::Wide, "r"));
    let sql = "SELECT toUInt8(value) FROM system.settings WHERE name = 'readonly'";
    let statement = Statement::parse(sql, Language::Sql, false).unwrap();
    let call = StatementCall { statement: &statement, device: 0, signal: 0, from_ns: 0, to_ns: 1, step_ns: None };
    let mut modes = Vec::new();
    let mut sink = |chunk: &Chunk| {
        modes.extend((0..chunk.len()).filter_map(|row| chunk.columns[0].get(row)?.as_f64()));
        Ok(())
    };
    database.reader().await.unwrap().statement(&call, &mut sink).await.unwrap();
    assert_eq!(modes, [2.0], "reading, and settings of the request");
}

/// The server reads decimals into doubles without their last bits; what is asked for comes by none.
#[tokio::test]
async fn every_number_comes_back_exactly() {
    let Some(server) = server("exactly") else { return };
    let table = table("exactly", Layout::Wide, "r");
    let database = open(&server, table.clone());
    database.create().await.unwrap();
    let mut state = 1_u64;
    let random = std::iter::from_fn(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(f64::from_bits(state))
    });
    let values: Vec<f64> = random.filter(|v| v.is_finite()).take(20_000).collect();
    database.writer().await.unwrap().write(&batch(&table, &values)).await.unwrap();
    let mut back = Vec::new();
    let mut sink = |chunk: &Chunk| {
        back.extend((0..chunk.len()).filter_map(|row| chunk.columns[0].get(row)?.as_f64()));
        Ok(())
    };
    database.reader().await.unwrap().query(&Query::Scan, &mut sink).await.unwrap();
    assert!(back == values, "{} came back", back.len());
    database.drop_created().await.unwrap();
}
