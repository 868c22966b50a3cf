//! Simulated IoT devices: seed → batches.
//!
//! A [`DatasetConfig`] is what a profile says; it opens as a [`Dataset`], which fills
//! [`Batch`](iotbench_core::Batch)es with any datapoints asked for.
//!
//! ```
//! use iotbench_core::{Batch, Run};
//! use iotbench_simulator::{DEFAULT_ORIGIN_NS, DatasetConfig};
//! use std::path::Path;
//!
//! let dataset = DatasetConfig::named("pmu")?.open(1, DEFAULT_ORIGIN_NS, 50, Path::new("."))?;
//! let mut batch = Batch::new(dataset.schema());
//! dataset.fill(Run { device: 7, first: 1_000_000, count: 100 }, &mut batch);
//! assert_eq!(batch.len(), 100);
//! assert_eq!(dataset.index_at(7, batch.timestamps_ns()[0]), 1_000_000);
//! # Ok::<(), iotbench_simulator::DatasetError>(())
//! ```
//!
//! # Limits
//! - Timestamps are 64-bit nanoseconds: a device's time stands still at the year 2262.
//! - The datapoints of a recording are held in memory, by default at most 1 GiB; it is played once.
//! - With late datapoints, a position of the sending order may name an index that is planned a little after that
//!   position's own (by at most share × delay datapoints): a sequence in which some are late and none is missing must
//!   move the others up.
//!
//! # Invariants
//! - A datapoint never depends on anything but seed, origin, device, index and the dataset's parameters.
//! - No `sin`, `exp`, `ln` or `pow` of the platform enters a value: only operations that IEEE 754 rounds exactly.
//! - Nothing here reads a clock; nothing does I/O but opening a recording, or learning from one, or a file of signals.
//! - Filling a warm batch and encoding it into a warm buffer never allocate.

mod alias;
mod bounded_walk;
mod clock;
mod config;
mod counter_hash;
mod dataset;
mod datasets;
mod dirty;
mod encode;
mod learn;
mod noise;
mod oscillator;
mod random_text;
mod random_walk;
mod recording;
mod sending_order;
mod simulated;
mod tags;
mod text_file;
mod twice;

pub use config::{DEFAULT_ORIGIN_NS, DatasetConfig, DatasetError, DatasetInfo, Opening, ParameterError};
pub use dataset::Dataset;
pub use datasets::{DATASETS, MACHINE_AMPLITUDE, MachineCycles, ShapeInfo};
pub use dirty::COMMON_PARAMETERS;
pub use encode::{Encoder, Format, UnknownFormat};
pub use learn::{LearnOptions, Learned, Likeness, learn};
pub use recording::RecordingError;
pub use text_file::{open_regular, read_regular, read_regular_text};
pub use twice::{Sends, Twice};
