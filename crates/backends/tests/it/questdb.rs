//! QuestDB against a real server, whose address is in `IOTBENCH_TEST_QUESTDB_URL`:
//! `http://127.0.0.1:9000/`.

#![cfg(feature = "questdb")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod behaviour;
mod conformance;
mod server;
