//! InfluxDB 1.x, over HTTP and UDP.
