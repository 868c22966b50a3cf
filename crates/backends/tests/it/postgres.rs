//! PostgreSQL behaves as it should, on a real server.

#![cfg(feature = "postgres")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod conformance;
mod control;
mod devices;
mod extensions;
mod failures;
mod names;
mod ownership;
mod server;
