//! The program as a user runs it: real runs, their results folders, signals, and what happens when something is missing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod action;
mod bounds;
mod browser;
mod capacity;
mod clock_step;
mod compare;
mod dirty;
mod disk_written;
mod embedded;
mod exit_codes;
mod held_up;
mod interrupted_search;
mod interruption;
mod live;
mod load_models;
mod local_io;
mod others;
mod otlp;
mod program;
mod pseudo_terminal;
mod readme;
mod recover;
mod repetitions;
mod replay;
mod report;
mod results;
mod score;
mod sessions;
mod suite;
mod tampered;
mod verify;
