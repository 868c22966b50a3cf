//! The readings that both sides send, and the table they go to.

use iotbench_backends::BACKENDS;
use iotbench_core::{
    Batch, Database, Endpoint, Layout, Marker, Name, OpenRequest, Registry, Run, Schema, Settings, Signal, TableSpec,
    Target, Value, ValueType,
};
use std::sync::Arc;
use url::Url;

/// As many as a PMU of the study has.
pub const SIGNALS: usize = 15;
pub const TABLE: &str = "readings";

/// Readings in the form that suits each side: a batch, rows, and columns.
pub struct Readings {
    pub batch: Batch,
    pub rows: Vec<Reading>,
    pub times_ns: Vec<i64>,
    pub columns: Vec<Vec<f32>>,
}

pub struct Reading {
    pub time_ns: i64,
    pub values: [f32; SIGNALS],
}

impl Readings {
    pub fn new(count: u16) -> Self {
        Self::starting(0, count)
    }

    /// Readings of which the first has this index.
    pub fn starting(first: u32, count: u16) -> Self {
        let reading = |row: u16| Reading {
            time_ns: 1_700_000_000_000_000_000 + (i64::from(first) + i64::from(row)) * 20_000_000,
            values: std::array::from_fn(|signal| {
                // Sixteen bits: an f32 holds them all.
                let signal = f32::from(u16::try_from(signal).unwrap());
                (f32::from(row) * 0.37 + signal).sin() * 230.0
            }),
        };
        let rows: Vec<_> = (0..count).map(reading).collect();
        let mut batch = Batch::new(&table().schema);
        batch.append(Run { device: 0, first: first.into(), count: count.into() }, |times, columns| {
            for row in &rows {
                times.push(row.time_ns);
                for (column, value) in columns.iter_mut().zip(row.values) {
                    assert!(column.push(Value::F32(value)));
                }
            }
        });
        let columns = (0..SIGNALS).map(|signal| rows.iter().map(|row| row.values[signal]).collect()).collect();
        Self { batch, times_ns: rows.iter().map(|row| row.time_ns).collect(), rows, columns }
    }
}

pub fn signal_name(signal: usize) -> String {
    format!("s{signal}")
}

fn table() -> TableSpec {
    let signal = |i| Signal { name: signal_name(i), value_type: ValueType::F32, max_text_bytes: 0 };
    TableSpec {
        name: Name::new(TABLE).unwrap(),
        layout: Layout::Wide,
        schema: Schema::new((0..SIGNALS).map(signal).collect()).unwrap(),
        devices: 1,
        marker: Marker { run_id: "bench".into(), fingerprint: "bench".into() },
    }
}

/// The database of a backend with its table.
pub async fn create(backend: &str, url: &Url, settings: &[(&str, &str)]) -> Arc<dyn Database> {
    let database = open(backend, url, settings);
    database.create().await.unwrap();
    database
}

/// The database of a backend, as it is.
pub fn open(backend: &str, url: &Url, settings: &[(&str, &str)]) -> Arc<dyn Database> {
    let settings = Settings(settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect());
    let target = Target { endpoints: vec![Endpoint::new(url.clone())], ..Target::default() };
    let backend = Registry::new(BACKENDS).find(backend).unwrap();
    backend.open(OpenRequest { target, settings, table: table() }).unwrap()
}
