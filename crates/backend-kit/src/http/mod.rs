//! HTTP/1.1 as the backends need it: one connection after the other, requests that wait for their answer, nothing in the
//! background. What it never does: follow a redirect, retry, keep connections for others, take a compressed answer, or more of
//! one than [`limits`] say.

pub mod address;
pub mod connection;
pub mod date;
pub mod error;
pub mod gzip;
pub mod limits;
pub mod rows;
pub mod server;
mod tls;
pub mod writer;

pub use connection::{Connection, Content};
pub use gzip::Gzip;
pub use server::Server;
pub use writer::HttpWriter;
