//! Real runs against the oracle server, whose ledger is the truth. They take turns, and never assert how fast the machine
//! is: only that the client's account agrees with the ledger's, or with a formula.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod oracle;

mod arrivals;
mod capacity;
mod failures;
mod intervals;
mod limits;
mod observers;
mod operations;
mod over_http;
mod partial;
mod parts;
mod queued;
mod queueing;
mod ramp;
mod reproduction;
mod response;
mod returning;
mod soak;
mod stall;
mod stopping;
