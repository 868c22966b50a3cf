//! What the readers cost the client: CPU time of this process for a value of an answer of many wide rows. SQLite runs in
//! this process, so that its own work is in its figure.

use crate::{
    address, pairs,
    readings::{Readings, SIGNALS, create},
    say,
};
use iotbench_core::{Chunk, Database, Devices, Query, TimeRange};
use std::ops::Bound;
use url::Url;

/// Rows of a write, and how many writes fill the table.
const ROWS: u16 = 1000;
const WRITES: u32 = 50;
/// Odd, so that there is a middle one.
const READS: usize = 31;

/// Measures the readers of SQLite and of each server whose address is set.
pub async fn measure() {
    let folder = tempfile::tempdir().unwrap();
    let file: Url = format!("sqlite:{}", folder.path().join("readings.sqlite").display()).parse().unwrap();
    of_reader("sqlite", &file, &[("synchronous", "OFF")], Some(100.0)).await;
    for (backend, settings, most_ns) in [
        ("mariadb", &[][..], Some(150.0)),
        ("postgres", &[("method", "copy")][..], Some(150.0)),
        ("influxdb", &[][..], None),
    ] {
        if let Some(url) = address(backend) {
            of_reader(backend, &url, settings, most_ns).await;
        }
    }
}

async fn of_reader(backend: &str, url: &Url, settings: &[(&str, &str)], most_ns: Option<f64>) {
    let database = create(backend, url, settings).await;
    fill(&*database).await;
    let mut reader = database.reader().await.unwrap();
    let signals = (0..u16::try_from(SIGNALS).unwrap()).collect();
    let range = TimeRange { from: Bound::Unbounded, to: Bound::Unbounded };
    let query = Query::Range { devices: Devices::Some(vec![0]), signals, range };
    let rows = u64::from(ROWS) * u64::from(WRITES);
    let values = f64::from(ROWS) * f64::from(WRITES) * f64::from(u16::try_from(SIGNALS).unwrap());
    let mut costs_ns = Vec::with_capacity(READS);
    // The first prepares the statement, and sizes the buffers.
    for read in 0..=READS {
        let before = pairs::cpu();
        let reply = reader.query(&query, &mut |_: &Chunk| Ok(())).await.unwrap();
        let cpu = pairs::cpu() - before;
        assert_eq!(reply.rows, rows);
        if read > 0 {
            costs_ns.push(cpu.as_secs_f64() * 1e9 / values);
        }
    }
    drop(reader);
    database.drop_created().await.unwrap();
    costs_ns.sort_by(f64::total_cmp);
    report(backend, &costs_ns, most_ns);
}

async fn fill(database: &dyn Database) {
    let mut writer = database.writer().await.unwrap();
    for write in 0..WRITES {
        writer.write(&Readings::starting(write * u32::from(ROWS), ROWS).batch).await.unwrap();
    }
    database.settle().await.unwrap();
}

fn report(backend: &str, costs_ns: &[f64], most_ns: Option<f64>) {
    let (quarter, half) = (READS / 4, READS / 2);
    let verdict = match most_ns {
        Some(most_ns) if costs_ns[half] > most_ns => format!("; at most {most_ns:.0}: TOO MUCH"),
        Some(most_ns) => format!("; at most {most_ns:.0}"),
        None => String::new(),
    };
    say(&format!(
        "{backend:<8} read: {:>6.1} ns of CPU a value, half of the reads {:.1} to {:.1}{verdict}",
        costs_ns[half],
        costs_ns[quarter],
        costs_ns[READS - 1 - quarter]
    ));
}
