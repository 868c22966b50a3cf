//! Signals that devices began to send under load.

use serde::{Deserialize, Serialize};

/// The change as it went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SchemaChange {
    /// The names of the signals that were added.
    pub signals: Vec<String>,
    /// When the first operation with them was due to be sent, in seconds since the load's start.
    pub from_s: Option<f64>,
    /// How long it took from then until the database had altered its table; null: it did not have to, or did not.
    pub altered_s: Option<f64>,
}
