//! What VictoriaMetrics alone does: its marker, its silent losses, its rounding.

use crate::victoriametrics::server::{batch, open, server, table};
use iotbench_core::{
    Acknowledgement, Action, Cause, Chunk, Counts, Domain, Layout, PromiseLevel, Query, Settled, ValueType,
};
use serde_json::json;

/// Looks after which what is not visible is missing.
const MAX_LOOKS: usize = 1000;

#[tokio::test]
async fn it_says_how_it_is_set() {
    let Some(server) = server() else { return };
    let facts = open(&server, json!({"database": "facts"}), table(Layout::Wide, "r")).ping().await.unwrap();
    assert_eq!(facts.acknowledgement, Acknowledgement::Queued);
    assert!(matches!(facts.promise.level, PromiseLevel::OsCrashWithin { .. }), "{facts:?}");
    assert!(facts.settings.contains_key("retentionPeriod"), "{facts:?}");
}

#[tokio::test]
async fn series_are_taken_over_by_a_run_of_the_same_fingerprint_only() {
    let Some(server) = server() else { return };
    server.clear("adopted");
    let of = |run_id: &str, fingerprint: &str| {
        let mut table = table(Layout::Wide, run_id);
        table.marker.fingerprint = fingerprint.into();
        open(&server, json!({"database": "adopted"}), table)
    };
    let (first, other, same) = (of("run-1", "\"f\""), of("run-2", "g"), of("run-3", "\"f\""));
    assert!(!same.adopt().await.unwrap(), "there is nothing");
    first.create().await.unwrap();
    first
        .writer()
        .await
        .unwrap()
        .write(&batch(&table(Layout::Wide, ""), 1_700_000_000_000, &[1.0, 2.0]))
        .await
        .unwrap();
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
    let settings = json!({"database": "left_behind"});
    let killed = open(&server, settings.clone(), table(Layout::Narrow, "killed \"run\""));
    assert_eq!(killed.owned().await.unwrap(), []);
    killed.create().await.unwrap();
    killed.writer().await.unwrap().write(&batch(&table(Layout::Wide, ""), 1_700_000_000_000, &[1.0])).await.unwrap();
    server.write("left_behind", "theirs a=1 1000\n");
    let other = open(&server, settings, table(Layout::Narrow, "other"));
    let owned = other.owned().await.unwrap();
    assert_eq!((owned.len(), owned[0].name.as_str(), owned[0].run_id.as_str()), (1, "readings", "killed \"run\""));
    other.drop_created().await.unwrap();
    assert_eq!(other.owned().await.unwrap(), owned, "it is not the other run's to drop");
    let mut stale = owned[0].clone();
    stale.run_id = "an earlier one".into();
    assert_eq!(other.drop_owned(&stale).await.unwrap_err().cause, Cause::NotOurs);
    other.drop_owned(&owned[0]).await.unwrap();
    assert_eq!(other.owned().await.unwrap(), []);
    let left = server.contents("left_behind");
    assert!(left.len() == 1 && left[0].contains("theirs_a"), "{left:?}");
}

/// The server acknowledges what it then drops: only the count tells.
#[tokio::test]
async fn what_is_dropped_in_silence_is_not_counted() {
    let Some(server) = server() else { return };
    server.clear("silent");
    let table = table(Layout::Wide, "r");
    let database = open(&server, json!({"database": "silent"}), table.clone());
    database.create().await.unwrap();
    let mut writer = database.writer().await.unwrap();
    writer.write(&batch(&table, 1_700_000_000_000, &[1.0, 2.0, 3.0])).await.unwrap();
    // The year 2200, which is more than two days ahead of any clock.
    let acknowledged = writer.write(&batch(&table, 7_258_118_400_000, &[1.0, 2.0])).await.unwrap();
    assert_eq!(acknowledged.points, 2);
    assert_eq!(database.settle().await.unwrap(), Settled::CannotTell);
    assert_eq!(database.count().await.unwrap(), Counts { points: 3, values: 6 });
    let error = writer.write(&batch(&table, 0, &[1.0])).await.unwrap_err();
    assert_eq!((error.cause, error.action), (Cause::Data, Action::RetryMayHelp), "{error}");
    database.drop_created().await.unwrap();
}

/// The values of the first signal in the order of time.
async fn stored(database: &dyn iotbench_core::Database) -> Vec<f64> {
    let mut values = Vec::new();
    let mut sink = |chunk: &Chunk| {
        values.extend((0..chunk.len()).filter_map(|row| chunk.columns[0].get(row)?.as_f64()));
        Ok(())
    };
    database.reader().await.unwrap().query(&Query::Scan, &mut sink).await.unwrap();
    values
}

#[tokio::test]
async fn numbers_come_back_within_the_declared_error() {
    let Some(server) = server() else { return };
    server.clear("rounded");
    let Domain::RoundedTogether { relative, of_greatest } =
        (crate::victoriametrics::server::backend().info().capabilities.domain)(ValueType::F64)
    else {
        panic!("it rounds")
    };
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state
    };
    let mut any = || f64::from_bits(random());
    let all: Vec<f64> = std::iter::from_fn(|| Some(any())).filter(|v| v.is_finite()).take(20_000).collect();
    let mut unit = || (random() >> 11) as f64 / (1_u64 << 53) as f64;
    let around_one: Vec<f64> = (0..20_000).map(|_| unit()).collect();
    let mixed: Vec<f64> = (0..20_000).map(|i| unit() * 10_f64.powi(i % 30 - 15)).collect();
    for values in [all, around_one, mixed] {
        let table = table(Layout::Wide, "r");
        let database = open(&server, json!({"database": "rounded"}), table.clone());
        database.create().await.unwrap();
        let mut writer = database.writer().await.unwrap();
        for (first_ms, values) in (1_700_000_000_000..).step_by(500).zip(values.chunks(500)) {
            writer.write(&batch(&table, first_ms, values)).await.unwrap();
        }
        // Other tests flush as well: what a flush of theirs holds comes a little later.
        for _ in 0..MAX_LOOKS {
            if database.count().await.unwrap().points >= values.len() as u64 {
                break;
            }
            database.settle().await.unwrap();
        }
        let greatest = values.iter().fold(0.0, |greatest: f64, v| greatest.max(v.abs()));
        let back = stored(&*database).await;
        assert_eq!(back.len(), values.len());
        for (got, sent) in back.iter().zip(&values) {
            let allowed = relative * sent.abs() + of_greatest * greatest;
            assert!((got - sent).abs() <= allowed, "{sent} came back as {got}, of at most {greatest}");
        }
        assert!(back != values, "it does round: see the README");
        database.drop_created().await.unwrap();
    }
}
