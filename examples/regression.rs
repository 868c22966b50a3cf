//! A test for continuous integration of a storage engine of one's own: has it become slower than it was on the main branch?
//!
//! ```text
//! cargo run --release --example regression -- results-of-main      # the first call makes them, the others are held against them
//! ```
//!
//! Here the engine is a log in memory; `examples/own_backend.rs` has one on disk. Without an argument both sides are run.

use iotbench::{Benchmark, BenchmarkRuns, Closure, CompareOptions, core::Batch, report::render_comparisons};
use std::{
    convert::Infallible,
    error,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// Ten of each are better, and longer ones: docs/compare.md says what so many find.
const RUNS: u32 = 2;

/// What is under test: each datapoint's device and time.
#[derive(Default)]
struct Engine(Mutex<Vec<(u32, i64)>>);

impl Engine {
    fn append(&self, batch: &Batch) {
        let devices = batch.runs().iter().flat_map(|run| std::iter::repeat_n(run.device, run.count as usize));
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.extend(devices.zip(batch.timestamps_ns().iter().copied()));
    }

    fn len(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len() as u64
    }
}

/// The same load, several times.
fn benchmark() -> Result<Benchmark, Box<dyn error::Error>> {
    let engine = Arc::new(Engine::default());
    let counted = Arc::clone(&engine);
    let closure = Closure::new(move |batch: &Batch| {
        engine.append(batch);
        Ok::<_, Infallible>(())
    });
    let closure = closure.counting(move || Ok::<_, Infallible>(counted.len()));
    Ok(Benchmark::builtin("pmu_write")?.on(closure).set("warmup=0s").users(20).duration("1s").repetitions(RUNS))
}

/// New runs, with their results in a folder, held against the baseline.
fn compared(baseline: &Path, new: PathBuf) -> Result<BenchmarkRuns, Box<dyn error::Error>> {
    let how = CompareOptions { threshold: 0.1, ..CompareOptions::default() };
    Ok(benchmark()?.results(new).baseline(baseline, how).run_all()?)
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let temporary = tempfile::tempdir()?;
    let named = std::env::args_os().nth(1).map(PathBuf::from);
    let baseline = named.unwrap_or_else(|| temporary.path().join("main"));
    if !baseline.exists() {
        benchmark()?.results(&baseline).run_all()?;
    }
    let now = compared(&baseline, temporary.path().join("branch"))?;
    let text = match now.comparisons.as_slice() {
        [] => "not compared: a run is not valid\n".to_owned(),
        comparisons => render_comparisons(comparisons, 100),
    };
    // In a test: assert!(!now.is_regression(), "{text}");
    Ok(writeln!(io::stdout(), "{text}regression: {}", now.is_regression())?)
}
