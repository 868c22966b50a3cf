//! Code of one's own in the place of a database, asserted on as in a test: a file of fixed records, flushed to the disk once a
//! batch.
//!
//! ```text
//! cargo run --release --example closure
//! ```

use iotbench::{Benchmark, Closure, Level, core::Batch};
use std::{
    fs::{self, File},
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// Device and time.
const RECORD_BYTES: u64 = 12;

/// What is under test.
struct Records {
    file: Mutex<File>,
}

impl Records {
    fn append(&self, batch: &Batch) -> io::Result<()> {
        let devices = batch.runs().iter().flat_map(|run| std::iter::repeat_n(run.device, run.count as usize));
        let mut records = Vec::new();
        for (device, time) in devices.zip(batch.timestamps_ns()) {
            records.extend_from_slice(&device.to_le_bytes());
            records.extend_from_slice(&time.to_le_bytes());
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&records)?;
        file.sync_data()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join(format!("iotbench-closure-{}", std::process::id()));
    let records = Arc::new(Records { file: Mutex::new(File::create_new(&path)?) });
    let counted = path.clone();

    let closure = Closure::new(move |batch| records.append(batch))
        .counting(move || fs::metadata(&counted).map(|file| file.len() / RECORD_BYTES));
    let ended = Benchmark::builtin("pmu_write")?.on(closure).users(50).duration("3s").run();
    fs::remove_file(&path)?;

    let outcome = ended?;
    let measured = outcome.valid()?;
    assert!(measured.points_per_s() > 500.0, "50 units send 50 datapoints a second each");
    let median = measured.response(Level::P50)?;
    assert!(median < Duration::from_secs(1));
    let promise = outcome.target.facts.as_ref().map(|facts| facts.promise.level.to_string()).unwrap_or_default();
    let stored = outcome.stored.counts.map_or(0, |stored| stored.points);
    let message = format!(
        "{:.0} datapoints a second, median response {:.1} ms, {stored} of {} stored; promise: {promise}",
        measured.points_per_s(),
        median.as_secs_f64() * 1e3,
        outcome.points.acked,
    );
    writeln!(io::stdout(), "{message}")?;
    Ok(())
}
