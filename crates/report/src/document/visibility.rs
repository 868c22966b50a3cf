//! How fast acknowledged datapoints became visible.

use serde::{Deserialize, Serialize};

/// For databases that acknowledge before they store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visibility {
    /// Datapoints acknowledged a second.
    pub acked_points_per_s: Option<f64>,
    /// Datapoints that became visible a second.
    pub visible_points_per_s: Option<f64>,
    /// From acknowledged to visible at the beginning, in seconds: what is not visible yet over the acknowledged rate.
    pub lag_first_s: Option<f64>,
    /// At the end.
    pub lag_last_s: Option<f64>,
    /// How much the lag grows in a second: the slope of a line through all counts.
    pub lag_growth: Option<f64>,
    /// The slope's standard error.
    pub lag_growth_error: Option<f64>,
}
