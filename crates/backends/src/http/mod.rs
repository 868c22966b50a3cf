//! HTTP/1.1 as the backends need it: one connection after the other, requests that wait for their answer, nothing in the
//! background. What it never does: follow a redirect, retry, keep connections for others, take a compressed answer, or more of
//! one than [`limits`] say.

pub(crate) mod address;
pub(crate) mod connection;
pub(crate) mod error;
#[cfg(any(feature = "_line_protocol", feature = "kairosdb", feature = "opentsdb"))]
pub(crate) mod gzip;
pub(crate) mod limits;
pub(crate) mod server;
mod tls;

pub(crate) use connection::{Connection, Content};
#[cfg(any(feature = "_line_protocol", feature = "kairosdb", feature = "opentsdb"))]
pub(crate) use gzip::Gzip;
pub(crate) use server::Server;
