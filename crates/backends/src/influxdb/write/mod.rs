//! One connection that writes: what a layout encodes, over HTTP or in datagrams.

mod http;
mod udp;

pub(crate) use http::HttpWriter;
pub(crate) use udp::UdpWriter;

use super::influxql::{EARLIEST_NS, LATEST_NS};
use crate::line_protocol::{Encoder, TimeRule};
use iotbench_core::{Error, TableSpec, TimeUnit};
use std::sync::Arc;

/// The encoder of a table for InfluxDB.
fn encoder(table: Arc<TableSpec>) -> Result<Encoder, Error> {
    let times = TimeRule { unit: TimeUnit::Ns, earliest_ns: EARLIEST_NS, latest_ns: LATEST_NS, rounds_down: false };
    Encoder::new("InfluxDB", table, times)
}
