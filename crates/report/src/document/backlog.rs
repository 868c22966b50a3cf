//! What became of the queue of an open loop in a step.

use serde::{Deserialize, Serialize};

/// The queue over the settled part of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Backlog {
    /// Operations that ended over those that were offered.
    pub achieved_ratio: Option<f64>,
    /// Operations by which the queue grew in a second: the slope of a line through its length at the end of each second.
    pub growth_per_s: Option<f64>,
    /// The slope's standard error, the resemblance of one second to the next allowed for.
    pub growth_error_per_s: Option<f64>,
}
