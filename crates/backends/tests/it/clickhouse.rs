//! ClickHouse against a real server, whose address is in `IOTBENCH_TEST_CLICKHOUSE_URL`:
//! `http://iotbench:PASSWORD@127.0.0.1:8123/`.

#![cfg(feature = "clickhouse")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod behaviour;
mod conformance;
mod server;
