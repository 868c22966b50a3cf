//! A loopback server that knows the truth about a latency measurement. Test support.
//!
//! The server takes requests over TCP, in frames of its own ([`wire`]) or over HTTP ([`http`]), answers each after a *programmed* time, freezes or fails when told to, and
//! writes down every arrival and reply in a [`Ledger`]. It runs in the process of the client under test, on threads of
//! its own, and stamps with the client's monotonic clock (nanoseconds since an epoch that the caller gives). So for
//! each request `service = reply − arrival` and `response = reply − intended start` are known exactly, and what a
//! client reports can be held against them, or against the closed formulae in [`analytic`].
//!
//! ```
//! use std::time::{Duration, Instant};
//! use iotbench_oracle_server::{Discipline, Program, Server, ServiceTime, Settings, wire};
//!
//! let epoch = Instant::now();
//! let program = Program {
//!     service: ServiceTime::Constant(Duration::from_millis(2)),
//!     discipline: Discipline::Queue, // one server, first come first served: 500 requests/s
//!     faults: vec![],
//! };
//! let server = Server::start(Settings::new(program, epoch))?;
//! let mut client = wire::Client::connect(server.address())?;
//! let reply = client.call(&wire::Request { id: 0, points: 10, payload: b"ten datapoints" })?;
//! assert_eq!(reply.count, 10);
//!
//! let ledger = server.ledger();
//! assert!(ledger.service_ns().all(|service_ns| service_ns >= 2_000_000));
//! assert_eq!(ledger.missing().count(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`backend`] makes a server the target of a whole run of the tool; over [`http`] it is the target of the backends of real
//! databases, for which it stands in.
//!
//! # How exact
//!
//! - Arrival is stamped when the request's last bytes can be read, reply just before its write. A client that
//!   stamps before its own write and after its own read therefore never measures less than the ledger says.
//! - Due times are computed from arrivals and programmed service times alone, so a late wake-up of the server delays the
//!   replies that fell due meanwhile and shifts none after them: a queue keeps its capacity. What was late is in the
//!   ledger, because the ledger holds what happened, not what was programmed.
//! - The dispatcher sleeps on a kernel timer with a slack of 1 ns; no runtime's timer quantises its service times.
//!   Measured on two virtual cores: late by 50 µs in the median, 0.2 to 0.3 ms at the 99th percentile;
//!   `tests/it/accuracy.rs` measures yours.
//!
//! # Limits
//!
//! At most [`CONNECTIONS_MAX`] connections at once (more are closed on accept), [`wire::PAYLOAD_MAX_BYTES`] per request
//! and [`Settings::ledger_capacity`] requests per server. It answers about 100,000 requests/s on two cores that it shares
//! with its clients. The ledger lives in the client's process and fills by 56 bytes a request: a test of the client's
//! memory must start the server in another process. A client that half-closes its connection gets no more replies. Over HTTP,
//! a request's length must be told in advance, and a compressed body is not looked into.
//!
//! # Never
//!
//! - It is never a dependency of what users run: only of tests and benches.
//! - It never runs on the client's runtime and never shares a thread with it.
//! - It never invents a time: the [`Scheduler`] reads no clock, and a ledger entry holds stamps only.
//! - It never drops a request silently: what the ledger cannot hold is counted in [`Ledger::overflow`], and the
//!   connection that brought it is closed.

pub mod http;
pub mod wire;

mod program;
mod work_clock;

mod scheduler;

mod ledger;

mod protocol;

mod connection;
mod dispatcher;
mod server;
mod state;

mod closed_port;

pub mod analytic;

pub mod backend;

pub use closed_port::ClosedPort;
pub use ledger::{Entry, Fate, Ledger};
pub use program::{Discipline, Fault, Program, ServiceTime};
pub use protocol::Protocol;
pub use scheduler::{Action, Due, Scheduler};
pub use server::{CONNECTIONS_MAX, LEDGER_CAPACITY, Server, Settings, StartError};
pub use work_clock::Stall;
