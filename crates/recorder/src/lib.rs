//! What a load test measured, as plain values: latency histograms, one-second windows, outcomes and conservation.
//!
//! Each engine thread owns a [`Recorder`] and tells it every event. Each second the thread hands over its finished
//! [`Window`]s; a collector merges those of all threads, prints them, and adds their [`Recording`]s up to the figures of a
//! phase. There is no other path to a total, so windows and totals cannot disagree.
//!
//! ```
//! use std::sync::Arc;
//! use iotbench_recorder::{
//!     Level, OperationKind, Outcome, Payload, Quantile, Recorder, Recording, Requests, Summary, Timing,
//! };
//!
//! let kinds: Arc<[OperationKind]> = [OperationKind { name: "write".into(), requests: Requests::One }].into();
//! let mut recorder = Recorder::new(Arc::clone(&kinds));
//! for number in 0..2_000 {
//!     // Due each millisecond, sent 10 µs late, answered 300 µs after that.
//!     let due_ns = number * 1_000_000;
//!     let timing = Timing::new(due_ns, due_ns + 10_000, due_ns + 310_000).unwrap();
//!     recorder.offer(0, due_ns, 1);
//!     recorder.start(0, due_ns, timing.sent_ns(), 1);
//!     recorder.complete(0, Outcome::Ok, &timing, &Payload::undivided(Outcome::Ok, 1, 15, 120));
//! }
//!
//! let mut total = Recording::new(kinds);
//! for window in recorder.take_windows(2_000_000_000) {
//!     assert_eq!(window.counts().ok, 1_000);
//!     total.merge(window.recording())?;
//! }
//! assert_eq!(total.load().check(), Ok(()));
//! let response = Summary::from(total.kind(0).by_operation().ok().response());
//! assert_eq!(response.p50.ns(), Some(310_000));
//! assert_eq!(response.p999, Quantile::Unsupported { needed: 10_000, have: 2_000 });
//! # Ok::<(), iotbench_recorder::KindsDiffer>(())
//! ```
//!
//! # Limits
//! - Durations up to 24 h keep their value, with an error of at most 0.1 % or 1 ns; longer ones are counted.
//! - Memory is constant in the duration: 1,216 KiB for a window and each kind of operation of one request of which it had
//!   more than 256, twice that and 304 KiB for one of many with pauses, at most four windows a thread.
//! - Confidence intervals of quantiles take the samples for independent; those of an overloaded server are not.
//!
//! # Invariants
//! - Nothing here does I/O, reads a clock, locks, or knows of a runtime; recording a success into a
//!   window that was used before never allocates.
//! - What was not seen to its end is a bound: no mean and no quantile is that of the survivors ([`Bounded`]).
//! - A failure is never in the distribution of the successes; a duration is never clamped; a quantile is never printed
//!   that the sample cannot support; quantiles are never merged, histograms are.
//! - Response is never anything but lag + service, and none of the three is called latency.

mod bounded;
mod buckets;
mod by_outcome;
mod conservation;
mod error_tally;
mod export;
mod histogram;
mod interval;
mod jitter;
mod latency;
mod outcome;
mod own_delay;
mod quantile;
mod quartiles;
mod rank_interval;
mod recorder;
mod recording;
mod seen_late;
mod sent;
mod summary;
mod wide;
mod window;

pub use bounded::{Bounded, QuantileBounds};
pub use buckets::HIGHEST_NS;
pub use by_outcome::ByOutcome;
pub use conservation::{ConservationError, LoadCounts, NOT_CONSERVED, PointCounts};
pub use error_tally::{CauseTally, ErrorTally, SAMPLE_LENGTH, SAMPLES_PER_CAUSE};
pub use export::{ExportError, interval_line, interval_log_head};
pub use histogram::LatencyHistogram;
pub use interval::{LoggedInterval, read_interval_line};
pub use jitter::Jitter;
pub use latency::{Latency, Timing};
pub use outcome::Outcome;
pub use own_delay::OwnDelayRange;
pub use quantile::{Level, Quantile};
pub use quartiles::Quartiles;
pub use recorder::Recorder;
pub use recording::{KindRecording, KindsDiffer, OperationKind, Recording, Requests};
pub use seen_late::SeenLate;
pub use sent::{NotOurWindow, SentWindow};
pub use summary::Summary;
pub use window::{PART_NS, Payload, WINDOW_NS, Window, WindowCounts};
