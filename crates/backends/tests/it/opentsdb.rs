//! OpenTSDB: against a stub; and against a real server, whose address is in `IOTBENCH_TEST_OPENTSDB_URL`, in the long set
//! alone (`scripts/long opentsdb`).

#![cfg(feature = "opentsdb")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod behaviour;
mod conformance;
mod server;
mod stub;
