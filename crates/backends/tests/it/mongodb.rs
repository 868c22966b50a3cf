//! MongoDB behaves as it should, on a real server, whose address is in `IOTBENCH_TEST_MONGODB_URL`.

#![cfg(feature = "mongodb")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod conformance;
mod failures;
mod ownership;
mod server;
mod times;
