//! The statistics of a benchmark's results.
//!
//! | question | answer | file |
//! |---|---|---|
//! | when was the warm-up over, and was the rest steady? | [`judge`] | `steady.rs`, from `mser.rs`, `trend.rs`, `change_point.rs` |
//! | how exact is a mean of one run, whose seconds resemble their neighbours? | [`batch_means`] | `batch_means.rs`, `autocorrelation.rs` |
//! | how exact is a mean over several runs? | [`t_interval`], [`bootstrap_t_interval`] | `repetitions.rs` |
//! | how exact is a figure over several sittings, each with a time of its own? | [`sittings_interval`] | `sittings.rs` |
//! | how exact is what is made of several means? | [`interval_of_parts`] | `parts.rs` |
//! | in which order are several things repeated? | [`interleaved`] | `interleaving.rs` |
//! | what limits throughput as the load grows, and where is its peak? | [`fit_usl`] | `usl.rs` |
//! | how far do two sides lie apart? | [`difference`] | `difference.rs` |
//! | which of several differences may be believed together? | [`holm`] | `holm.rs` |
//! | is it better, worse, or the same? | [`judge_family`] | `regression.rs` |
//! | how far do equals lie apart? | [`noise_floor`] | `noise_floor.rs` |
//! | at what level does a figure reach its limit? | [`crossing`] | `crossing.rs` |
//! | the same from pass and fail alone | [`threshold`] | `threshold.rs` |
//! | did a short series move? | [`shift`] | `shift.rs` |
//! | since when is it otherwise? | [`level_changes`] | `history.rs`, from `change_point.rs` |
//!
//! ```
//! let runs = [101.0, 98.0, 103.0, 99.0, 100.0];
//! let interval = iotbench_statistics::t_interval(&runs).unwrap();
//! assert!(interval.low < 100.2 && 100.2 < interval.high);
//! ```
//!
//! # Invariants
//! - No I/O, no clock; chance comes from a seed that the caller gives, and the same seed gives the same result.
//! - No interval from a sample that does not support it: what is too small or too alike is refused.
//! - No percentile bootstrap of repetitions: below 20 of them it covers less than it claims.
//! - No figure outside the loads that were measured.

mod autocorrelation;
mod batch_means;
mod change_point;
mod crossing;
mod detection;
mod difference;
mod history;
mod holm;
mod interleaving;
mod interval;
mod least_squares;
mod mser;
mod noise_floor;
mod parts;
mod regression;
mod repetitions;
mod rounds;
mod sample;
mod shift;
mod sittings;
mod steady;
mod student;
mod threshold;
mod trend;
mod usl;

pub use autocorrelation::{correlation_time, effective_sample_size};
pub use batch_means::{BatchMeans, MIN_EFFECTIVE_SIZE, TooCorrelated, batch_means};
pub use change_point::{ChangePoint, change_point};
pub use crossing::{Crossing, MIN_POINTS, Slope, crossing};
pub use detection::detectable_part;
pub use difference::{Difference, NoDifference, Sides, difference};
pub use history::{LevelChange, MIN_LEVEL, NoHistory, level_changes};
pub use holm::holm;
pub use interleaving::interleaved;
pub use interval::MeanInterval;
pub use mser::{Truncation, mser5};
pub use noise_floor::{NoiseFloor, noise_floor};
pub use parts::{interval_of_parts, p_of_parts};
pub use regression::{Direction, Judged, MAX_RUNS, Test, Verdict, judge_family};
pub use repetitions::{PUBLISHABLE_REPETITIONS, bootstrap_t_interval, t_interval};
pub use rounds::{ROUNDS_JUDGED, rounds_are_steady};
pub use shift::{Shift, shift};
pub use sittings::{SITTINGS_CONFIDENCE, sittings_interval};
pub use steady::{Judgement, MIN_WINDOWS, State, judge};
pub use threshold::{Attempt, Threshold, threshold};
pub use trend::{Trend, trend};
pub use usl::{Estimate, Level, NoPeak, Peak, Refusal, UslFit, fit_usl};
