//! What is Databus's own.

use crate::databus::{
    place::{batch, open, table, time_ns},
    stub::Stub,
};
use iotbench_core::{
    Acknowledgement, Applied, Batch, Cause, Chunk, ComputedBy, Counts, Database, Devices, PromiseLevel, Query, Reply,
    Run, TableSpec, TimeRange, Value,
};
use std::sync::Arc;

async fn created(stub: &Stub, table: &TableSpec) -> Arc<dyn Database> {
    let database = open(&stub.url, table.clone());
    database.create().await.unwrap();
    database
}

/// The times and the values of an answer, and its end.
async fn ask(database: &Arc<dyn Database>, query: &Query) -> (Vec<(u32, i64, Vec<Option<f64>>)>, Reply) {
    let mut rows = Vec::new();
    let mut sink = |chunk: &Chunk| {
        for row in 0..chunk.len() {
            let values = chunk.columns.iter().map(|column| column.get(row).and_then(|value| value.as_f64()));
            rows.push((chunk.devices[row], chunk.timestamps_ns[row], values.collect()));
        }
        Ok(())
    };
    let reply = database.reader().await.unwrap().query(query, &mut sink).await.unwrap();
    (rows, reply)
}

#[tokio::test]
async fn it_says_what_it_is_and_promises_nothing_that_it_cannot_know() {
    let stub = Stub::start().await;
    let facts = open(&stub.url, table("facts", "r")).ping().await.unwrap();
    assert_eq!((facts.product.as_str(), facts.acknowledgement), ("Databus", Acknowledgement::Applied));
    assert_eq!(facts.promise.level, PromiseLevel::Buffered);
    assert!(facts.version.starts_with("unknown"), "{facts:?}");
    assert!(stub.store(|store| store.tables.is_empty()), "a look changes nothing");
}

#[tokio::test]
async fn each_signal_of_each_device_is_a_stream_of_its_own() {
    let stub = Stub::start().await;
    let table = table("streams", "r");
    let database = created(&stub, &table).await;
    let names: Vec<_> = stub.store(|store| store.tables.keys().cloned().collect());
    let stem = names[0].strip_suffix("_0_0").unwrap();
    assert!(stem.starts_with("iotbench_streams_") && stem.len() == "iotbench_streams_".len() + 8, "{stem}");
    assert_eq!(names[1..4], [format!("{stem}_0_1"), format!("{stem}_1_0"), format!("{stem}_1_1")]);
    assert_eq!(names[4], "iotbench_tables");
    database.writer().await.unwrap().write(&batch(&table, 0, 1)).await.unwrap();
    let sent = stub.requests().last().unwrap().clone();
    let row = |signal: u32, value: &str| {
        format!(r#"{{"_tableName":"{stem}_1_{signal}","time":"1700000000000","value":"{value}"}}"#)
    };
    assert_eq!(sent, format!(r#"POST /api/postdataV1 {{"_dataset":[{},{}]}}"#, row(0, "1.5"), row(1, "2147483647.0")));
}

#[tokio::test]
async fn the_number_that_the_server_answers_with_nothing_comes_back() {
    let stub = Stub::start().await;
    let table = table("greatest", "r");
    let database = created(&stub, &table).await;
    database.writer().await.unwrap().write(&batch(&table, 0, 3)).await.unwrap();
    assert_eq!(database.count().await.unwrap(), Counts { points: 3, values: 6 });
    let (rows, _) = ask(&database, &Query::Scan).await;
    assert_eq!(rows[2], (1, time_ns(2), vec![Some(1.5), Some(2_147_483_647.0)]));
}

#[tokio::test]
async fn signals_that_miss_values_are_put_together_over_many_pages() {
    let stub = Stub::start().await;
    let table = table("gaps", "r");
    let database = created(&stub, &table).await;
    let mut writer = database.writer().await.unwrap();
    for first in [0, 2500] {
        writer.write(&batch(&table, first, 2500)).await.unwrap();
    }
    // Of the first signal every third value is lost, of the second the middle.
    stub.store(|store| {
        for (name, table) in &mut store.tables {
            let lost = |index: i64| match name {
                name if name.ends_with("_1_0") => index % 3 == 0,
                name if name.ends_with("_1_1") => (1000..4000).contains(&index),
                _ => false,
            };
            table.rows.retain(|ms, _| *ms < 1_700_000_000_000 || !lost(*ms - 1_700_000_000_000));
        }
    });
    let expected: Vec<_> = (0..5000_u64)
        .map(|index| {
            let values = [(index % 3 != 0).then_some(1.5), (!(1000..4000).contains(&index)).then_some(2_147_483_647.0)];
            (1, time_ns(index), values.to_vec())
        })
        .filter(|(_, _, values)| values.iter().any(Option::is_some))
        .collect();
    let (rows, reply) = ask(&database, &Query::Scan).await;
    assert!(rows == expected && reply.computed_by == ComputedBy::Server && reply.bytes > 100_000);
    let values = expected.iter().flat_map(|(_, _, values)| values).flatten().count() as u64;
    assert_eq!(database.count().await.unwrap(), Counts { points: expected.len() as u64, values });
    let (newest, _) = ask(&database, &Query::Newest { devices: Devices::All, limit: 3000 }).await;
    assert!(newest.iter().eq(expected.iter().rev().take(3000)));
    let (records, _) = ask(&database, &Query::Records { device: 1, from_ns: time_ns(1), limit: 1500 }).await;
    assert!(records.iter().eq(expected[1..].iter().take(1500)));
}

#[tokio::test]
async fn the_least_value_is_the_servers_work() {
    let stub = Stub::start().await;
    let table = table("least", "r");
    let database = created(&stub, &table).await;
    let mut batch = Batch::new(&table.schema);
    let run = Run { device: 0, first: 0, count: 4 };
    batch.append(run, |times, columns| {
        for (index, value) in (0..).zip([3.0, -2.5, -2.5, 1e300]) {
            times.push(time_ns(index));
            assert!(columns[0].push(Value::F64(value)) && columns[1].push(Value::I64(1)));
        }
    });
    database.writer().await.unwrap().write(&batch).await.unwrap();
    let least = |range| Query::Minimum { device: 0, signal: 0, range };
    let (rows, reply) = ask(&database, &least(TimeRange::ALL)).await;
    assert_eq!((rows, reply.computed_by), (vec![(0, time_ns(1), vec![Some(-2.5)])], ComputedBy::Server));
    assert!(stub.requests().last().unwrap().starts_with("GET /api/minmaxV1/7258118400000/rawdataV1/iotbench_least_"));
    let (rows, _) = ask(&database, &least(TimeRange::half_open(time_ns(3), time_ns(4)))).await;
    assert_eq!(rows, [(0, time_ns(3), vec![Some(1e300)])], "a window of one moment");
    assert!(ask(&database, &least(TimeRange::half_open(time_ns(4), i64::MAX))).await.0.is_empty());
}

#[tokio::test]
async fn a_run_takes_over_what_an_earlier_one_left() {
    let stub = Stub::start().await;
    let (first, second) = (table("left", "first"), table("left", "second"));
    let earlier = created(&stub, &first).await;
    earlier.writer().await.unwrap().write(&batch(&first, 0, 5)).await.unwrap();
    let later = open(&stub.url, second.clone());
    assert!(later.adopt().await.unwrap());
    later.writer().await.unwrap().write(&batch(&second, 5, 5)).await.unwrap();
    earlier.drop_created().await.unwrap();
    assert_eq!(later.count().await.unwrap().points, 10, "it is no longer the first run's");

    let mut other = table("left", "third");
    other.marker.fingerprint = "other".into();
    assert!(!open(&stub.url, other).adopt().await.unwrap());
    let owned = later.owned().await.unwrap();
    assert_eq!((owned.len(), owned[0].run_id.as_str()), (1, "second"));
    later.drop_owned(&owned[0]).await.unwrap();
    assert!(later.drop_owned(&owned[0]).await.is_err() && later.count().await.is_err());
    assert_eq!(stub.store(|store| store.tables.len()), 1, "the catalog stays");
}

#[tokio::test]
async fn a_table_that_was_registered_half_way_is_dropped_whole() {
    let stub = Stub::start().await;
    let table = table("half", "r");
    let database = created(&stub, &table).await;
    stub.store(|store| store.tables.retain(|name, _| !name.ends_with("_1_0")));
    database.drop_created().await.unwrap();
    assert_eq!(stub.store(|store| store.tables.keys().cloned().collect::<Vec<_>>()), ["iotbench_tables"]);
}

#[tokio::test]
async fn what_cannot_be_stored_is_refused_before_anything_is_sent() {
    let stub = Stub::start().await;
    let table = table("refused", "r");
    let database = created(&stub, &table).await;
    let mut writer = database.writer().await.unwrap();
    let before = stub.requests().len();
    for time in [1, 1_700_000_000_000_000_001, -1_000_000, i64::MAX / 1_000_000 * 1_000_000] {
        let mut batch = Batch::new(&table.schema);
        batch.append(Run { device: 0, first: 0, count: 1 }, |times, columns| {
            times.push(time);
            assert!(columns[0].push(Value::F64(1.0)) && columns[1].push(Value::I64(1)));
        });
        let error = writer.write(&batch).await.unwrap_err();
        assert_eq!((error.cause, error.applied), (Cause::Data, Applied::No), "{time}");
    }
    assert_eq!(stub.requests().len(), before);
}
