//! What the seam costs on an embedded database: rows a second of the `sqlite` backend against a bare rusqlite loop with
//! the same statements, on files of the same settings. Both send one pre-filled batch again and again; neither
//! generates.

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use iotbench_backends::BACKENDS;
use iotbench_core::{
    Batch, Column, Database, Layout, Marker, Name, OpenRequest, Registry, Run, Schema, Settings, Signal, TableSpec,
    Target, Value, ValueType,
};
use rusqlite::Connection;
use std::{
    path::Path,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

const SIGNALS: usize = 15;

/// The result of a future that never waits, as those of a blocking backend do not.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("a blocking backend has waited"),
    }
}

fn table() -> TableSpec {
    let signal = |i| Signal { name: format!("s{i}"), value_type: ValueType::F32, max_text_bytes: 0 };
    TableSpec {
        name: Name::new("readings").unwrap(),
        layout: Layout::Wide,
        schema: Schema::new((0..SIGNALS).map(signal).collect()).unwrap(),
        devices: 1,
        marker: Marker { run_id: "bench".into(), fingerprint: "bench".into() },
    }
}

fn open(folder: &Path) -> Arc<dyn Database> {
    let settings = Settings([("synchronous".to_owned(), "OFF".into())].into_iter().collect());
    let target = Target { folder: Some(folder.into()), ..Target::default() };
    let backend = Registry::new(BACKENDS).find("sqlite").unwrap();
    let database = backend.open(OpenRequest { target, settings, table: table() }).unwrap();
    now(database.create()).unwrap();
    database
}

fn batch(rows: u32) -> Batch {
    let mut batch = Batch::new(&table().schema);
    batch.append(Run { device: 0, first: 0, count: rows }, |timestamps, columns| {
        for row in 0..u16::try_from(rows).unwrap() {
            timestamps.push(1_700_000_000_000_000_000 + i64::from(row) * 20_000_000);
            for column in columns.iter_mut() {
                assert!(column.push(Value::F32(f32::from(row) * 0.37 + 0.1)));
            }
        }
    });
    batch
}

/// What a program would write by hand for this table: the statements prepared once, a transaction around many rows.
fn bare_write(connection: &Connection, batch: &Batch, write: &mut impl FnMut(i64, &[f32; SIGNALS])) {
    let mut values = [0.0; SIGNALS];
    let in_transaction = batch.len() > 1;
    if in_transaction {
        connection.prepare_cached("BEGIN IMMEDIATE").unwrap().raw_execute().unwrap();
    }
    for (row, &time) in batch.timestamps_ns().iter().enumerate() {
        for (value, column) in values.iter_mut().zip(batch.columns()) {
            if let Column::F32(column) = column {
                *value = column[row];
            }
        }
        write(time, &values);
    }
    if in_transaction {
        connection.prepare_cached("COMMIT").unwrap().raw_execute().unwrap();
    }
}

fn wide(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sqlite wide, synchronous=OFF, f32 × 15");
    for rows in [1, 50] {
        let batch = batch(rows);
        group.throughput(Throughput::Elements(rows.into()));
        group.bench_function(BenchmarkId::new("bare rusqlite", rows), |bencher| {
            let folder = tempfile::tempdir().unwrap();
            drop(open(folder.path()));
            let connection = Connection::open(folder.path().join("iotbench.sqlite")).unwrap();
            connection.pragma_update(None, "synchronous", "OFF").unwrap();
            let names: Vec<_> = (0..SIGNALS).map(|i| format!("s{i}")).collect();
            let places = ", ?".repeat(SIGNALS);
            let sql = format!("INSERT INTO readings (ts, {}) VALUES (?{places})", names.join(", "));
            let mut statement = connection.prepare(&sql).unwrap();
            let mut write = |time: i64, values: &[f32; SIGNALS]| {
                statement.raw_bind_parameter(1, time).unwrap();
                for (place, value) in (2..).zip(values) {
                    statement.raw_bind_parameter(place, f64::from(*value)).unwrap();
                }
                statement.raw_execute().unwrap();
            };
            bencher.iter(|| bare_write(&connection, &batch, &mut write));
        });
        group.bench_function(BenchmarkId::new("iotbench", rows), |bencher| {
            let folder = tempfile::tempdir().unwrap();
            let database = open(folder.path());
            let mut writer = now(database.writer()).unwrap();
            bencher.iter(|| now(writer.write(&batch)).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, wide);
criterion_main!(benches);
