//! The database under load.

use super::rounding::finite;
use iotbench_core::{Promise, PromiseLevel, PromiseSource};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The database under load. What only the database can tell is null until it was reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The backend's name.
    pub backend: String,
    /// How datapoints become records.
    pub layout: String,
    /// How reads are put together; null for workloads that only write.
    pub strategy: Option<String>,
    /// What a suite calls this form of the database; of its own page and tables, not of a run's document.
    #[serde(skip)]
    pub form: Option<String>,
    /// What carried datapoints from devices to its writers, such as `mqtt qos 1 json64`; null: devices wrote themselves.
    #[serde(default)]
    pub via: Option<String>,
    /// How batches are written, such as `insert` or `copy`.
    pub method: Option<String>,
    /// The client library with its version.
    pub driver: Option<String>,
    /// The product's own name.
    pub product: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// Whether its server was started for this run.
    pub managed: bool,
    /// Whether it runs inside the client's process.
    pub embedded: bool,
    /// Addresses and paths, without secrets.
    pub endpoints: Vec<String>,
    /// Its effective settings that matter for the result.
    pub settings: BTreeMap<String, String>,
    /// What an acknowledged write survives.
    pub durability: Option<Durability>,
    /// What an acknowledged write has reached: `none`, `queued`, `applied` or `durable`.
    pub acknowledgement: String,
}

/// What an acknowledged write survives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Durability {
    /// The worst event survived: `buffered` (none), `process_crash`, `os_crash_within` or `os_crash`.
    pub promise: String,
    /// With `os_crash_within`: how much of the past may be lost, in seconds.
    pub within_s: Option<f64>,
    /// How many nodes hold a write when it is acknowledged.
    pub nodes: u32,
    /// How this is known: `read_back` from the database, or `declared`.
    pub source: String,
    /// With `declared`: where.
    pub declared_in: Option<String>,
}

impl Target {
    /// Backend and layout as on the command line, how reads are put together where there are several ways, and what a suite
    /// calls this form of it, and what carries datapoints to it.
    #[must_use]
    pub fn title(&self) -> String {
        let via = self.via.as_ref().map(|via| format!("via {via}"));
        [Some(self.name()), self.strategy.clone(), self.form.clone(), via]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Backend and layout as on the command line.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}:{}", self.backend, self.layout)
    }
}

impl From<&Promise> for Durability {
    fn from(promise: &Promise) -> Self {
        let (word, within_s) = match promise.level {
            PromiseLevel::Buffered => ("buffered", None),
            PromiseLevel::ProcessCrash => ("process_crash", None),
            PromiseLevel::OsCrashWithin { seconds } => ("os_crash_within", finite(seconds)),
            PromiseLevel::OsCrash => ("os_crash", None),
        };
        let (source, declared_in) = match &promise.source {
            PromiseSource::ReadBack => ("read_back", None),
            PromiseSource::Declared(place) => ("declared", Some(place.clone())),
        };
        Self { promise: word.into(), within_s, nodes: promise.nodes, source: source.into(), declared_in }
    }
}
