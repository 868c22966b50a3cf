//! Statements, commits and transactions against the real server.

use crate::mariadb::server::{Place, batch, none, table};
use iotbench_core::{Batch, Cause, Chunk, Counts, Layout, Query, Run, Settled, Value, ValueType};
use serde_json::json;

/// A counter of the server's, over all connections.
async fn commits(place: &Place) -> u64 {
    place.rows("SHOW GLOBAL STATUS LIKE 'Handler_commit'").await[0].split('|').nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn the_narrow_table_is_that_of_the_study() {
    let Some(place) = Place::new("study").await else { return };
    let spec = table(Layout::Narrow, &[ValueType::U16; 5], 1);
    let database = place.open(none(), spec.clone());
    database.create().await.unwrap();
    database.writer().await.unwrap().write(&batch(&spec, 7, 1)).await.unwrap();
    let columns = "SELECT column_name, column_type FROM information_schema.columns";
    let columns = place.rows(&format!("{columns} WHERE table_schema = '{}'", place.database)).await;
    let types = ["bigint(20)", "int(11)", "smallint(5) unsigned", "smallint(5) unsigned"];
    let names = ["second", "nanosecond", "number", "measurement"];
    let expected: Vec<_> = names.iter().zip(types).map(|(name, of_type)| format!("{name}|{of_type}")).collect();
    assert_eq!(columns, expected);
    let rows = place.rows(&format!("SELECT * FROM `{}`.readings", place.database)).await;
    assert_eq!(rows, ["0|7000000|0|7", "0|7000000|1|7", "0|7000000|2|7", "0|7000000|3|7", "0|7000000|4|7"]);
    place.drop().await;
}

#[tokio::test]
async fn a_record_of_bulk_is_that_of_the_study() {
    let Some(place) = Place::new("bulk_record").await else { return };
    let spec = table(Layout::Bulk, &[ValueType::U16; 2], 1);
    let database = place.open(none(), spec.clone());
    database.create().await.unwrap();
    database.writer().await.unwrap().write(&batch(&spec, 998, 4)).await.unwrap();
    let rows = place.rows(&format!("SELECT * FROM `{}`.readings", place.database)).await;
    assert_eq!(
        rows,
        [
            r#"0|80|{"measurements":[{"ns":998000000,"m":[998,998]},{"ns":999000000,"m":[999,999]}]}"#,
            r#"1|62|{"measurements":[{"ns":0,"m":[0,0]},{"ns":1000000,"m":[1,1]}]}"#,
        ]
    );
    place.drop().await;
}

#[tokio::test]
async fn large_batches_are_cut_and_still_one_transaction() {
    let Some(place) = Place::new("large").await else { return };
    for (layout, types) in [
        (Layout::Wide, vec![ValueType::Text]),
        (Layout::Narrow, vec![ValueType::F32; 15]),
        (Layout::Document, vec![ValueType::F64; 3]),
        (Layout::Bulk, vec![ValueType::Text]),
    ] {
        let spec = table(layout, &types, 1);
        let database = place.open(none(), spec.clone());
        database.create().await.unwrap();
        let mut writer = database.writer().await.unwrap();
        // 20 MB of text are more than one packet of the server takes.
        for (first, count) in [(0, 20_000), (20_000, 1), (20_001, 5000)] {
            let acknowledged = writer.write(&batch(&spec, first, count)).await.unwrap();
            assert_eq!(acknowledged.points, u64::from(count));
        }
        let counts = database.count().await.unwrap();
        assert_eq!(counts, Counts { points: 25_001, values: 25_001 * types.len() as u64 }, "layout {layout}");
    }
    place.drop().await;
}

#[tokio::test]
async fn a_batch_is_one_commit_or_one_a_datapoint() {
    let Some(place) = Place::new("commits").await else { return };
    let spec = table(Layout::Narrow, &[ValueType::U16; 5], 1);
    for (commit, least) in [("batch", 1), ("datapoint", 40)] {
        let database = place.open(json!({"commit": commit}), spec.clone());
        database.create().await.unwrap();
        let mut writer = database.writer().await.unwrap();
        writer.write(&batch(&spec, 0, 1)).await.unwrap();
        let before = commits(&place).await;
        writer.write(&batch(&spec, 1, 40)).await.unwrap();
        // Other tests commit as well, so that only the greater of the two is certain.
        assert!(commits(&place).await - before >= least, "{commit}");
    }
    place.drop().await;
}

#[tokio::test]
async fn transactions_are_begun_once_and_committed_once() {
    let Some(place) = Place::new("transactions").await else { return };
    for engine in ["innodb", "myrocks"] {
        let spec = table(Layout::Wide, &[ValueType::U16], 1);
        let database = place.open(json!({"engine": engine, "statement_rows": 3}), spec.clone());
        database.create().await.unwrap();
        let mut writer = database.writer().await.unwrap();
        assert_eq!(writer.commit().await.unwrap_err().cause, Cause::Client);
        writer.begin().await.unwrap();
        assert_eq!(writer.begin().await.unwrap_err().cause, Cause::Client);
        for first in 0..3 {
            writer.write(&batch(&spec, 10 * first, 10)).await.unwrap();
        }
        assert_eq!(database.count().await.unwrap().points, 0, "not committed, not seen");
        writer.commit().await.unwrap();
        assert_eq!(database.count().await.unwrap().points, 30);
        // An error undoes the transaction as a whole.
        let other = table(Layout::Wide, &[ValueType::F32], 1);
        writer.begin().await.unwrap();
        writer.write(&batch(&spec, 30, 1)).await.unwrap();
        assert_eq!(writer.write(&batch(&other, 0, 1)).await.unwrap_err().cause, Cause::Data);
        writer.commit().await.unwrap();
        assert_eq!(database.count().await.unwrap().points, 31, "what is refused before it is sent undoes nothing");
    }
    place.drop().await;
}

#[tokio::test]
async fn records_of_text_are_exact_and_tagged_with_their_writer() {
    let Some(place) = Place::new("text").await else { return };
    for engine in ["innodb", "myrocks"] {
        let spec = table(Layout::Wide, &[ValueType::Text], 50);
        let database = place.open(json!({"engine": engine}), spec.clone());
        database.create().await.unwrap();
        let texts = ["x".repeat(1024), "ü".repeat(512), "🌡".repeat(256), "e\u{301} \0'".repeat(4)];
        for (device, text) in (0..).zip(&texts) {
            let mut batch = Batch::new(&spec.schema);
            batch.append(Run { device, first: 0, count: 1 }, |times, columns| {
                times.push(1_700_000_000_000_000_000);
                assert!(columns[0].push(Value::Text(text)));
            });
            database.writer().await.unwrap().write(&batch).await.unwrap();
        }
        let mut found = Vec::new();
        let mut sink = |chunk: &Chunk| {
            for row in 0..chunk.len() {
                let Some(Value::Text(text)) = chunk.columns[0].get(row) else { panic!("no text") };
                found.push((chunk.devices[row], text.to_owned()));
            }
            Ok(())
        };
        database.reader().await.unwrap().query(&Query::Scan, &mut sink).await.unwrap();
        assert_eq!(found, (0..).zip(texts).collect::<Vec<_>>(), "{engine}");
    }
    place.drop().await;
}

#[tokio::test]
async fn what_bulk_load_stored_is_counted_once_its_writers_are_gone() {
    let Some(place) = Place::new("bulk_load").await else { return };
    let spec = table(Layout::Wide, &[ValueType::Text], 2);
    let database = place.open(json!({"engine": "myrocks", "bulk_load": true}), spec.clone());
    database.create().await.unwrap();
    let mut writers = Vec::new();
    for _ in 0..16 {
        writers.push(database.writer().await.unwrap());
    }
    for round in 0..20 {
        let batch = batch(&spec, round, 1);
        let writes = writers.iter_mut().map(|writer| writer.write(&batch));
        for written in futures_util::future::join_all(writes).await {
            written.unwrap();
        }
    }
    drop(writers);
    assert_eq!(database.settle().await.unwrap(), Settled::CannotTell);
    let stored = database.count().await.unwrap();
    assert!(stored.points <= 320, "{stored:?} of 320 acknowledged");
    assert_eq!(stored.points, stored.values);
    assert_eq!(database.count().await.unwrap(), stored, "nothing comes later");
    database.drop_created().await.unwrap();
    place.drop().await;
}

#[test]
fn a_write_allocates_a_handful_of_buffers_however_many_datapoints_it_holds() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let Some(place) = runtime.block_on(Place::new("allocations")) else { return };
    for layout in Layout::ALL {
        let spec = table(layout, &[ValueType::F32, ValueType::F32], 1);
        let database = place.open(json!({"engine": "myrocks"}), spec.clone());
        let mut writer = runtime.block_on(async {
            database.create().await.unwrap();
            database.writer().await.unwrap()
        });
        let batches = [10, 1000].map(|count| batch(&spec, 0, count));
        let mut allocations = |batch: &Batch| {
            let mut write = || assert!(runtime.block_on(writer.write(batch)).is_ok());
            (0..3).map(|_| allocation_counter::measure(&mut write).count_total).min().unwrap()
        };
        let [small, large] = [allocations(&batches[0]), allocations(&batches[1])];
        // What grows by doubling, such as the null bits, may grow eleven times.
        assert!(large <= small + 12, "layout {layout}: {small} for 10 and {large} for 1000 datapoints");
    }
    runtime.block_on(place.drop());
}
