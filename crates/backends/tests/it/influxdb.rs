//! InfluxDB against a real server, whose address is in `IOTBENCH_TEST_INFLUXDB_URL`, with the port of a UDP listener for
//! the database `iotbench`: `http://127.0.0.1:18086/?udp=18089`.

#![cfg(feature = "influxdb")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod behaviour;
mod conformance;
mod datagrams;
mod refusals;
mod server;
mod stub;
