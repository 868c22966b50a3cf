//! VictoriaMetrics against a real server, whose address is in `IOTBENCH_TEST_VICTORIAMETRICS_URL`:
//! `http://127.0.0.1:8428/`.

#![cfg(feature = "victoriametrics")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod behaviour;
mod conformance;
mod server;
