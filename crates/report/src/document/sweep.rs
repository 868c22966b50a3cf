//! What a run is in a sweep.

use serde::{Deserialize, Serialize};

/// What a run is in a sweep, which has one for each value of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swept {
    /// The field of the profile that differs from run to run.
    pub field: String,
    /// Its value in this run.
    pub value: u64,
    /// Limits of the classes of values over which the query jitter is averaged, ascending; empty: it is not reported.
    pub classes: Vec<u64>,
    /// Datapoints that an operation carries; null where that differs.
    pub records: Option<u64>,
    /// How many bytes a record counts as, by the profile; null where it does not say.
    pub record_bytes: Option<u64>,
}
