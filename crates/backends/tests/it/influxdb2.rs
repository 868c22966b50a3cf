//! InfluxDB 2.x against servers that speak its way of writing, VictoriaMetrics and QuestDB; and against a real one,
//! whose address is in `IOTBENCH_TEST_INFLUXDB2_URL`, where there is one: `http://127.0.0.1:8086/?setup=private`.

#![cfg(feature = "influxdb2")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod answers;
mod conformance;
mod place;
mod relay;
mod stub;
mod writing;
