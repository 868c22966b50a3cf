//! What a database is asked to create.

use crate::{Layout, Name, Schema};
use serde::{Deserialize, Serialize};

/// Says that an object is ours: only objects that carry it are dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// The run that created the object.
    pub run_id: String,
    /// A digest of profile, seed, layout and schema: equal fingerprints hold equal data.
    pub fingerprint: String,
}

/// The table (collection, measurement, metric) that holds a run's datapoints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSpec {
    /// Its name; what else a backend creates has this as its prefix.
    pub name: Name,
    /// How datapoints become records.
    pub layout: Layout,
    /// What a datapoint consists of.
    pub schema: Schema,
    /// How many devices write to it. With one device there is no device column, as in the studies.
    pub devices: u32,
    /// Whose it is.
    pub marker: Marker,
}

impl TableSpec {
    /// Whether records name their device.
    #[must_use]
    pub fn has_device_column(&self) -> bool {
        self.devices > 1
    }
}
