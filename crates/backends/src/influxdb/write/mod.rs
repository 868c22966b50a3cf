//! One connection that writes: what a layout encodes, over HTTP or in datagrams.

mod udp;

pub(crate) use udp::UdpWriter;

use super::{
    client::{connect_to_write, write_uri},
    error,
    influxql::{EARLIEST_NS, LATEST_NS},
};
use iotbench_backend_kit::http::Server;
use iotbench_backend_kit::{
    http::HttpWriter,
    line_protocol::{Dialect, Encoder, TimeRule},
};
use iotbench_core::{Error, Name, TableSpec, TimeUnit};
use std::sync::Arc;

/// What InfluxDB takes, of version 1 and of version 2.
pub(crate) const DIALECT: Dialect = Dialect {
    product: "InfluxDB",
    times: TimeRule { unit: TimeUnit::Ns, earliest_ns: EARLIEST_NS, latest_ns: LATEST_NS },
    refuse_values: |_| Ok(()),
    escapes_newlines: false,
    has_typed_fields: false,
};

/// A writer over HTTP.
pub(crate) async fn over_http(
    server: &Server,
    database: &Name,
    table: Arc<TableSpec>,
    is_compressed: bool,
) -> Result<HttpWriter<Encoder>, Error> {
    let (connection, uri) = (connect_to_write(server).await?, write_uri(server, database)?);
    Ok(HttpWriter::new(connection, uri, Encoder::new(DIALECT, table)?, is_compressed, error::of_write))
}
