//! A table of a few thousand datapoints, and the questions about one device whose plans the tests look at.

use iotbench_core::{
    Batch, Devices, Direction, Layout, Marker, Name, Predicate, Query, Run, Schema, Signal, TableSpec, TimeRange,
    Value, ValueType,
};
use std::{
    ops::Bound,
    process,
    sync::atomic::{AtomicU32, Ordering},
};

const SECOND_NS: i64 = 1_000_000_000;
/// Ten a second for five minutes, of each device.
const POINTS: u32 = 3000;

/// The name of a database that no other test has.
pub(crate) fn database_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("iotbench_plans_{}_{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

pub(crate) fn table(layout: Layout) -> TableSpec {
    let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::F32, max_text_bytes: 0 };
    TableSpec {
        name: Name::new("points").unwrap(),
        layout,
        schema: Schema::new(vec![signal("a"), signal("b")]).unwrap(),
        devices: 2,
        marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
    }
}

pub(crate) fn batch(table: &TableSpec) -> Batch {
    let mut batch = Batch::new(&table.schema);
    for device in 0..table.devices {
        batch.append(Run { device, first: 0, count: POINTS }, |times, columns| {
            for index in 0..POINTS {
                times.push(i64::from(index) * SECOND_NS / 10);
                for column in columns.iter_mut() {
                    assert!(column.push(Value::F32(f32::from(u16::try_from(index % 100).unwrap()))));
                }
            }
        });
    }
    batch
}

/// Two seconds in the middle of the last of so many devices, and the other questions about one.
pub(crate) fn queries(devices: u32) -> [(&'static str, Query); 5] {
    let range = TimeRange { from: Bound::Included(150 * SECOND_NS), to: Bound::Excluded(152 * SECOND_NS) };
    let (device, signal, predicate) = (devices - 1, 0, Predicate::Above(98.0));
    let devices = Devices::Some(vec![device]);
    let middle = 150 * SECOND_NS + 1;
    [
        ("range", Query::Range { devices: devices.clone(), signals: vec![0, 1], range }),
        ("after", Query::Nearest { device, signal, predicate, direction: Direction::FirstAfter(middle) }),
        ("before", Query::Nearest { device, signal, predicate, direction: Direction::LastBefore(middle) }),
        ("minimum", Query::Minimum { device, signal, range }),
        ("newest", Query::Newest { devices, limit: 3 }),
    ]
}
