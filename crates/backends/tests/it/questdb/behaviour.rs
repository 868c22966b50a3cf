//! What QuestDB alone does: its marker, its log, its refusals.

use crate::questdb::server::{batch, open, server, table};
use iotbench_core::{
    Acknowledgement, Action, Applied, Cause, Chunk, Counts, Database, Layout, PromiseLevel, PromiseSource, Query,
    Settled,
};

#[tokio::test]
async fn it_says_how_it_is_set() {
    let Some(server) = server() else { return };
    let facts = open(&server, table("facts", Layout::Wide, "r")).ping().await.unwrap();
    assert!(facts.version.starts_with("9."), "{facts:?}");
    assert_eq!(facts.acknowledgement, Acknowledgement::Queued);
    assert_eq!((facts.promise.level, &facts.promise.source), (PromiseLevel::ProcessCrash, &PromiseSource::ReadBack));
    assert_eq!(facts.settings["cairo.commit.mode"], "nosync");
    assert_eq!(server.contents("facts"), Vec::<String>::new(), "a look changes nothing");
}

/// Looks until the log is applied.
async fn settle(database: &dyn Database) {
    for _ in 0..100_000 {
        if database.settle().await.unwrap() == Settled::Yes {
            return;
        }
    }
    panic!("it does not settle");
}

#[tokio::test]
async fn a_table_is_taken_over_by_a_run_of_the_same_fingerprint_only() {
    let Some(server) = server() else { return };
    server.clear("adopted");
    let of = |run_id: &str, fingerprint: &str| {
        let mut table = table("adopted", Layout::Wide, run_id);
        table.marker.fingerprint = fingerprint.into();
        open(&server, table)
    };
    let (first, other, same) = (of("run-1", "\"f'"), of("run-2", "g"), of("run-3", "\"f'"));
    assert!(!same.adopt().await.unwrap(), "there is nothing");
    first.create().await.unwrap();
    let points = batch(&table("adopted", Layout::Wide, ""), 1_700_000_000_000, &[1.0, 2.0]);
    first.writer().await.unwrap().write(&points).await.unwrap();
    settle(&*first).await;
    let before = server.contents("adopted");
    assert!(!other.adopt().await.unwrap());
    other.drop_created().await.unwrap();
    assert_eq!(server.contents("adopted"), before);
    assert!(same.adopt().await.unwrap());
    first.drop_created().await.unwrap();
    assert_eq!(same.count().await.unwrap(), Counts { points: 2, values: 4 }, "it is no longer the first run's to drop");
    same.drop_created().await.unwrap();
    assert_eq!(server.contents("adopted"), Vec::<String>::new());
}

#[tokio::test]
async fn what_killed_runs_left_is_found_and_dropped() {
    let Some(server) = server() else { return };
    server.clear("left_behind");
    let killed = open(&server, table("left_behind", Layout::Narrow, "killed 'run'"));
    killed.create().await.unwrap();
    let other = open(&server, table("left_behind", Layout::Narrow, "other"));
    let ours = |owned: Vec<iotbench_core::OwnedObject>| owned.into_iter().find(|o| o.name.as_str() == "left_behind");
    let left = ours(other.owned().await.unwrap()).unwrap();
    assert_eq!(left.run_id, "killed 'run'");
    other.drop_created().await.unwrap();
    assert_eq!(ours(other.owned().await.unwrap()), Some(left.clone()), "it is not the other run's to drop");
    let mut stale = left.clone();
    stale.run_id = "an earlier one".into();
    assert_eq!(other.drop_owned(&stale).await.unwrap_err().cause, Cause::NotOurs);
    other.drop_owned(&left).await.unwrap();
    assert_eq!(server.contents("left_behind"), Vec::<String>::new());
}

#[tokio::test]
async fn a_table_that_was_dropped_and_made_anew_is_not_ours() {
    let Some(server) = server() else { return };
    server.clear("made_anew");
    let table = table("made_anew", Layout::Wide, "r");
    let database = open(&server, table.clone());
    database.create().await.unwrap();
    server.ask("DROP TABLE made_anew");
    assert_eq!(database.count().await.unwrap_err().cause, Cause::Server);
    // The next line makes it anew, with columns of the server's choice.
    let mut writer = database.writer().await.unwrap();
    writer.write(&batch(&table, 1_700_000_000_000, &[1.0])).await.unwrap();
    assert_eq!(database.count().await.unwrap_err().cause, Cause::Server);
    assert_eq!(database.create().await.unwrap_err().cause, Cause::NotOurs);
    assert_eq!(database.drop_created().await.unwrap_err().cause, Cause::NotOurs);
    let left = server.contents("made_anew");
    assert!(left.len() == 1 && left[0].starts_with("made_anew: "), "{left:?}");
    server.clear("made_anew");
}

#[tokio::test]
async fn a_line_that_is_refused_refuses_the_whole_batch() {
    let Some(server) = server() else { return };
    server.clear("conflict");
    let table = table("conflict", Layout::Narrow, "r");
    let database = open(&server, table.clone());
    database.create().await.unwrap();
    server.ask("ALTER TABLE conflict ALTER COLUMN v TYPE LONG");
    settle(&*database).await;
    let mut writer = database.writer().await.unwrap();
    let error = writer.write(&batch(&table, 1_700_000_000_000, &[1.5, 2.5])).await.unwrap_err();
    assert_eq!((error.cause, error.action, error.applied), (Cause::Data, Action::RetryMayHelp, Applied::No));
    assert_eq!(database.count().await.unwrap(), Counts::default());
    for time_ms in [-1, 9_214_646_400_000] {
        let error = writer.write(&batch(&table, time_ms, &[1.0])).await.unwrap_err();
        assert!(error.cause == Cause::Data && error.applied == Applied::No, "{time_ms}: {error}");
    }
    database.drop_created().await.unwrap();
}

#[tokio::test]
async fn every_number_comes_back_exactly() {
    let Some(server) = server() else { return };
    server.clear("exactly");
    let table = table("exactly", Layout::Wide, "r");
    let database = open(&server, table.clone());
    database.create().await.unwrap();
    let mut state = 1_u64;
    let random = std::iter::from_fn(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(f64::from_bits(state))
    });
    let values: Vec<f64> = random.filter(|v| v.is_finite()).take(20_000).collect();
    database.writer().await.unwrap().write(&batch(&table, 1_700_000_000_000, &values)).await.unwrap();
    settle(&*database).await;
    let mut back = Vec::new();
    let mut sink = |chunk: &Chunk| {
        back.extend((0..chunk.len()).filter_map(|row| chunk.columns[0].get(row)?.as_f64()));
        Ok(())
    };
    database.reader().await.unwrap().query(&Query::Scan, &mut sink).await.unwrap();
    assert!(back == values, "{} came back", back.len());
    database.drop_created().await.unwrap();
}
