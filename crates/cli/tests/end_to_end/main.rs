//! The program as a user runs it: real runs, their results folders, signals, and what happens when something is missing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod capacity;
mod embedded;
mod exit_codes;
mod interruption;
mod load_models;
mod local_io;
mod program;
mod readme;
mod repetitions;
mod results;
mod score;
mod tampered;
mod verify;
