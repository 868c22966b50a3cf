//! What the server counted of itself.

use serde::{Deserialize, Serialize};

/// What the server counted of itself in the measured part, read once a second on a connection of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerCounters {
    /// Looks over the whole load.
    pub looks: u64,
    /// Those of them that failed.
    pub failed_looks: u64,
    /// How long they took in all, in milliseconds: their cost.
    pub looks_ms: f64,
    /// The first look in the measured part, in seconds since the run's start; null: there were not two.
    pub from_s: Option<f64>,
    /// The last one.
    pub to_s: Option<f64>,
    /// How often counters had become lower: the server had begun anew.
    pub resets: u64,
    /// One by one; none: there were not two looks.
    pub counters: Vec<ServerCounter>,
}

/// How far a counter came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerCounter {
    /// Its name, the same of every server: docs/server-counters.md.
    pub name: String,
    /// At the first look of the measured part.
    pub first: u64,
    /// At the last one.
    pub last: u64,
    /// What was counted between the two, also where the server began anew meanwhile.
    pub growth: u64,
    /// The same a second.
    pub per_s: Option<f64>,
}

impl ServerCounter {
    /// Whether it counts bytes.
    #[must_use]
    pub fn is_of_bytes(&self) -> bool {
        self.name.ends_with("_bytes")
    }
}
