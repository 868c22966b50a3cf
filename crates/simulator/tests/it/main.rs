//! Datasets: the same values for the same seed, everywhere.

mod allocations;
mod benchmarks;
mod custom;
mod dirty;
mod domains;
mod encode;
mod fingerprints;
mod learn;
mod purity;
mod replay;
