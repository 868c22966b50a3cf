//! Signals may have any name that a schema takes, also one that our own statements use.

use crate::postgres::server::{OwnDatabase, open, table};
use iotbench_core::{
    Aggregate, Batch, Chunk, Devices, Layout, Query, Run, Schema, Signal, TimeRange, Value, ValueType,
};
use std::ops::Bound;

const NAMES: [&str; 12] =
    ["place", "number", "nanosecond", "number_of_point", "first", "doc", "label", "r", "p", "d", "s", "select"];
const ALL: TimeRange = TimeRange { from: Bound::Unbounded, to: Bound::Unbounded };

fn queries() -> Vec<(Query, u64)> {
    let signals: Vec<u16> = (0..).take(NAMES.len()).collect();
    let aggregates = vec![Aggregate::Last, Aggregate::Min, Aggregate::Mean, Aggregate::Max];
    let mut queries = vec![
        (Query::Scan, 6),
        (Query::Records { device: 1, from_ns: 0, limit: 2 }, 2),
        (Query::Newest { devices: Devices::All, limit: 4 }, 4),
        (Query::Newest { devices: Devices::Some(vec![1]), limit: 2 }, 2),
        (Query::Aggregates { devices: Devices::All, signals: signals.clone(), aggregates, range: ALL }, 8),
        (Query::Count, 1),
    ];
    for signal in signals {
        queries.push((Query::Minimum { device: 1, signal, range: ALL }, 1));
        queries.push((Query::MaxOfFirst { device: 1, signal, from_ns: 0, limit: 2 }, 1));
    }
    queries
}

#[tokio::test]
async fn signals_may_be_named_as_our_statements_name_things() {
    let Some(database) = OwnDatabase::create().await else { return };
    for layout in Layout::ALL {
        let mut table = table(layout, "r");
        let signal = |name: &&str| Signal { name: (*name).into(), value_type: ValueType::F64, max_text_bytes: 0 };
        table.schema = Schema::new(NAMES.iter().map(signal).collect()).unwrap();
        let mut batch = Batch::new(&table.schema);
        for device in 0..2 {
            batch.append(Run { device, first: 0, count: 3 }, |times, columns| {
                times.extend([10, 20, 30]);
                for column in columns {
                    assert!((0..3).all(|row| column.push(Value::F64(f64::from(row)))));
                }
            });
        }
        let ours = open(&database.url(), "{}", table);
        ours.create().await.unwrap();
        ours.writer().await.unwrap().write(&batch).await.unwrap();
        let mut reader = ours.reader().await.unwrap();
        for (query, rows) in queries() {
            let reply = reader.query(&query, &mut |_: &Chunk| Ok(())).await;
            assert_eq!(reply.map(|reply| reply.rows), Ok(rows), "{layout}: {query:?}");
        }
        ours.drop_created().await.unwrap();
    }
    database.remove().await;
}
