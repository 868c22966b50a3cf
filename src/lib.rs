//! iotbench as a library: which database carries this sensor load, how much of it, and at what cost?
//!
//! A [`Benchmark`] runs a profile against a backend and gives the [`Outcome`], which a test can assert on:
//!
//! ```
//! use iotbench::{Benchmark, Level, Status};
//!
//! let outcome = Benchmark::builtin("pmu_write")?.backend("sqlite:wide").users(5).duration("1s").run()?;
//! assert_eq!(outcome.verdict.status, Status::Valid);
//! let measured = outcome.measured.expect("a valid run was measured");
//! let response = measured.recording.pooled().by_operation().ok().response().clone();
//! assert!(response.value_at(Level::P50).expect("operations succeeded") < 1_000_000_000, "in nanoseconds");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A backend of your own implements [`Backend`] and joins by [`Benchmark::register`]; `examples/own_backend.rs` shows one.
//! For benchmarks of single functions use criterion: it repeats a closure in one thread, where iotbench drives a target
//! with many users by a load model and says what they waited for.
//!
//! This crate holds no logic of its own: the parts are re-exported as modules.

mod benchmark;
mod profiles;
mod scores;
mod suites;

pub use benchmark::{Benchmark, BenchmarkError};
pub use iotbench_backends::BACKENDS;
pub use iotbench_core::{Backend, Layout, Registry};
pub use iotbench_engine::{Outcome, Overrides, Profile, Status, StopSignal, Verdict};
pub use iotbench_recorder::Level;
pub use profiles::{BuiltinProfile, PROFILES, find_profile};
pub use scores::HOF_SCORE;
pub use suites::{BuiltinSuite, SUITES, UnknownSuite, find_suite};

pub use iotbench_core as core;
pub use iotbench_engine as engine;
pub use iotbench_recorder as recorder;
pub use iotbench_scoring as scoring;
pub use iotbench_simulator as simulator;
