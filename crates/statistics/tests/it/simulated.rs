//! What the methods claim, tried on thousands of simulated experiments whose truth is known, with fixed seeds.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod comparisons;
mod families;
mod history;
mod intervals;
mod scalability;
mod series;
mod steady_state;
