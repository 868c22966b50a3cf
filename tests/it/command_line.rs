//! What the program says: help, lists, generated data, samples, and what is wrong with arguments and profiles. No run.

#![expect(clippy::unwrap_used, reason = "a test that cannot start the program has failed")]

mod beforehand;
mod check;
mod ci;
mod deploy;
mod doctor;
mod generate;
mod learn;
mod lists;
mod program;
mod sample;
mod suites;
mod usage;
