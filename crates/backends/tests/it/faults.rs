//! Every fault of a server, of the network or of what stands between them, against every backend that speaks HTTP: what it
//! makes of an answer ends, is bounded, is of the right class, and never calls stored what was not, or not stored what may
//! be. The server is the oracle server, whose ledger is the truth; no real one is needed.
//!
//! Nothing here depends on how fast the machine is: a fault that never ends is waited for until the server has seen it take
//! effect, and everything else ends by itself.

#![cfg(all(
    feature = "databus",
    feature = "influxdb2",
    feature = "kairosdb",
    feature = "opentsdb",
    feature = "questdb",
    feature = "clickhouse",
    feature = "victoriametrics"
))]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "the bans are a backend's, not those of who watches it")]

mod connecting;
mod place;
mod products;
mod reading;
mod writing;
