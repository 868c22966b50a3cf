//! Batches as text.

mod influx;

pub use influx::InfluxEncoder;
