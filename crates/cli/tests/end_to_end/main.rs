//! The program as a user runs it: real runs, their results folders, signals, and what happens when something is missing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod browser;
mod capacity;
mod embedded;
mod interruption;
mod load_models;
mod local_io;
mod program;
mod readme;
mod repetitions;
mod report;
mod results;
mod score;
mod tampered;
mod verify;
