//! iotbench as a library: which database carries this sensor load, how much of it, and at what cost?
//!
//! A [`Benchmark`] runs a profile against a backend and gives the [`Outcome`], on which a test asserts:
//!
//! ```
//! use iotbench::{Benchmark, Level};
//! use std::time::Duration;
//!
//! let outcome = Benchmark::builtin("pmu_write")?.backend("sqlite:wide").users(30).duration("2s").run()?;
//! let measured = outcome.valid()?; // else an error that holds every reason against the figures
//! assert!(measured.points_per_s() > 100.0);
//! assert!(measured.response(Level::P50)? < Duration::from_secs(1));
//! assert_eq!(measured.not_acknowledged(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A database with a server is where [`Benchmark::url`] says, or gets a private server that is started for the run and removed at its
//! end. The program `iotbench` looks after it: it is in PATH, or named by [`Benchmark::program`].
//!
//! # Code instead of a database
//!
//! A [`Closure`] puts a function in the database's place. The load, its pacing, the response times and the verdict are the
//! same; only what nobody can know is not told. The durability promise is declared by nobody, and nothing is read back. With
//! a function that counts, every datapoint that was taken has to be there at the end.
//!
//! ```
//! use iotbench::{Benchmark, Closure, Level, core::Batch};
//! use std::{convert::Infallible, sync::Mutex};
//!
//! static TIMES: Mutex<Vec<i64>> = Mutex::new(Vec::new());
//!
//! fn store(batch: &Batch) -> Result<(), Infallible> {
//!     TIMES.lock().unwrap().extend_from_slice(batch.timestamps_ns());
//!     Ok(())
//! }
//!
//! let closure = Closure::new(store).counting(|| Ok::<_, Infallible>(TIMES.lock().unwrap().len() as u64));
//! let outcome = Benchmark::builtin("pmu_write")?.on(closure).users(30).duration("2s").run()?;
//! assert!(outcome.valid()?.response(Level::P50)?.as_millis() < 500);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is more than a function implements [`Backend`]: then it is read, verified and judged like any other.
//! `examples/own_backend.rs` shows one, `examples/closure.rs` a test of a queue with a worker.
//!
//! # In tests, and beside criterion
//!
//! - criterion is for micro-benchmarks: it repeats a function in one thread, in `benches/`, and says how long it takes.
//!   iotbench drives a whole target with many users by a load model and says what they waited for; it lives in `tests/`, and
//!   both are dev-dependencies of one crate without meeting. How long a batch takes to encode is criterion's question; how
//!   many devices the store behind it carries is ours.
//! - Figures of unoptimised code are nobody's: `cargo test --release`, one such test at a time (`--test-threads=1`), and
//!   limits with room, because a machine that is shared answers late now and then. A run in which the client itself could not
//!   run says so, and is not valid.
//! - Which of two states of a program is slower, and how sure that is, takes several runs of each: `iotbench compare`.
//!
//! # Regressions in continuous integration
//!
//! [`Benchmark::results`] keeps what the command keeps, and [`Benchmark::baseline`] holds new runs against it. `examples/regression.rs`
//! is such a test of a storage engine of one's own.
//!
//! ```
//! use iotbench::{Benchmark, Closure, CompareOptions, core::Batch};
//! use std::convert::Infallible;
//!
//! fn engine(work: u32) -> Closure {
//!     Closure::new(move |batch: &Batch| {
//!         std::hint::black_box((0..work).fold(batch.len() as u32, |sum, n| sum.rotate_left(3) ^ n));
//!         Ok::<_, Infallible>(())
//!     })
//! }
//!
//! let folder = tempfile::tempdir()?;
//! let runs = |engine| Benchmark::builtin("pmu_write").map(|benchmark| {
//!     benchmark.on(engine).set("warmup=0s").users(5).duration("1s").repetitions(2)
//! });
//! runs(engine(1))?.results(folder.path().join("main")).run_all()?;
//! let now = runs(engine(2))?.baseline(folder.path().join("main"), CompareOptions::default()).run_all()?;
//! assert!(!now.is_regression(), "{:?}", now.comparisons);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Capacity, from an asynchronous test
//!
//! Each way of running has one that gives a future, which a thread of its own works off: it blocks no runtime and needs none. Dropped,
//! it stops the run. `examples/capacity.rs` prints the search as it goes.
//!
//! ```no_run
//! use iotbench::Benchmark;
//!
//! #[tokio::test]
//! async fn postgres_carries_a_hundred_units() -> Result<(), Box<dyn std::error::Error>> {
//!     let search = Benchmark::builtin("pmu_write")?.backend("postgres").criterion("p99<200ms").trial("5s").trials(12);
//!     let outcome = search.run_async().await?;
//!     let limit = outcome.capacity.ok_or("no load was tried")?.bounds.lower;
//!     assert!(limit >= Some(100), "{limit:?}");
//!     Ok(())
//! }
//! # fn main() {}
//! ```
//!
//! This crate holds no logic of its own: the parts are re-exported as modules.

mod benchmark;
mod suite;

pub use benchmark::{Benchmark, BenchmarkError, BenchmarkRun, BenchmarkRuns, Running};
pub use iotbench_backends::{BACKENDS, Closure};
pub use iotbench_core::{Backend, Layout, Registry};
pub use iotbench_engine::{Measured, NoQuantile, NotValid, Outcome, Overrides, Profile, Status, StopSignal, Verdict};
pub use iotbench_recorder::Level;
pub use iotbench_report::CompareOptions;
pub use iotbench_session::{Progress, ProgressStream};
pub use iotbench_workloads::{
    BuiltinProfile, BuiltinSuite, HOF_SCORE, PROFILES, SUITES, UnknownSuite, find_profile, find_suite,
};
pub use suite::{BenchmarkSuite, SuiteOutcome};

pub use iotbench_backend_kit as backend_kit;
pub use iotbench_core as core;
pub use iotbench_engine as engine;
pub use iotbench_recorder as recorder;
pub use iotbench_report as report;
pub use iotbench_scoring as scoring;
pub use iotbench_session as session;
pub use iotbench_simulator as simulator;
