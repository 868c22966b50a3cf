//! The databases that iotbench can load.
//!
//! Each has a folder with all that belongs to it: settings, control plane, a writer for each layout, reader, and the
//! mapping of its errors. [`BACKENDS`] is the one list of them; help, documentation and tests read it. [`Closure`] is a function in the place of one.
//!
//! ```
//! use iotbench_core::Registry;
//!
//! let registry = Registry::new(iotbench_backends::BACKENDS);
//! # #[cfg(feature = "sqlite")]
//! assert_eq!(registry.find("sqlite")?.info().name, "sqlite");
//! # Ok::<(), iotbench_core::UnknownBackend>(())
//! ```
//!
//! # Invariants
//! - A backend never times, retries, sleeps, spawns, counts operations, logs or prints: a batch in, an acknowledgement
//!   out.
//! - `open` never does I/O; no file and no connection is opened before the first call of the control or data plane.
//! - Nothing is ever dropped, replaced or altered that does not carry our marker.
//! - Backends never know each other.

pub use closure::Closure;

use iotbench_core::Backend;

#[cfg(test)]
#[cfg(any(feature = "sqlite", feature = "mariadb", feature = "postgres", feature = "mongodb"))]
mod query_plan;
#[cfg(test)]
mod with_tags;

#[cfg(feature = "blackhole")]
mod blackhole;
#[cfg(feature = "clickhouse")]
mod clickhouse;
mod closure;
#[cfg(feature = "databus")]
mod databus;
#[cfg(feature = "influxdb")]
mod influxdb;
#[cfg(feature = "influxdb2")]
mod influxdb2;
#[cfg(feature = "kairosdb")]
mod kairosdb;
#[cfg(feature = "mariadb")]
mod mariadb;
#[cfg(feature = "memory")]
mod memory;
#[cfg(feature = "mongodb")]
mod mongodb;
#[cfg(feature = "opentsdb")]
mod opentsdb;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "questdb")]
mod questdb;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "victoriametrics")]
mod victoriametrics;

/// Every backend that this build holds, the default one first.
pub const BACKENDS: &[&dyn Backend] = &[
    #[cfg(feature = "sqlite")]
    &sqlite::Sqlite,
    #[cfg(feature = "mariadb")]
    &mariadb::MariaDb,
    #[cfg(feature = "mariadb")]
    &mariadb::MySql,
    #[cfg(feature = "postgres")]
    &postgres::Postgres,
    #[cfg(feature = "influxdb")]
    &influxdb::InfluxDb,
    #[cfg(feature = "influxdb2")]
    &influxdb2::InfluxDb2,
    #[cfg(feature = "mongodb")]
    &mongodb::MongoDb,
    #[cfg(feature = "kairosdb")]
    &kairosdb::KairosDb,
    #[cfg(feature = "opentsdb")]
    &opentsdb::OpenTsdb,
    #[cfg(feature = "databus")]
    &databus::Databus,
    #[cfg(feature = "questdb")]
    &questdb::QuestDb,
    #[cfg(feature = "victoriametrics")]
    &victoriametrics::VictoriaMetrics,
    #[cfg(feature = "clickhouse")]
    &clickhouse::ClickHouse,
    #[cfg(feature = "memory")]
    &memory::Memory,
    #[cfg(feature = "blackhole")]
    &blackhole::Blackhole,
];

/// The backend that does nothing, on which a client's own cost is measured; `None`: this build has none.
#[must_use]
pub fn null_backend() -> Option<&'static dyn Backend> {
    #[cfg(feature = "blackhole")]
    return Some(&blackhole::Blackhole);
    #[cfg(not(feature = "blackhole"))]
    return None;
}
