//! KairosDB against a real server, whose address is in `IOTBENCH_TEST_KAIROSDB_URL`, with that of its telnet server:
//! `http://127.0.0.1:18080/?telnet=127.0.0.1:14242`.

#![cfg(feature = "kairosdb")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod behaviour;
mod conformance;
mod server;
mod stub;
