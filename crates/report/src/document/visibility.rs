//! How fast acknowledged datapoints became visible.

use super::rounded;
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

impl From<&iotbench_engine::Visibility> for Visibility {
    fn from(seen: &iotbench_engine::Visibility) -> Self {
        Self {
            acked_points_per_s: rounded(seen.acked_per_s),
            visible_points_per_s: rounded(seen.visible_per_s),
            lag_first_s: rounded(seen.lag_first_s),
            lag_last_s: rounded(seen.lag_last_s),
            lag_growth: rounded(seen.lag_growth),
            lag_growth_error: rounded(seen.lag_growth_error),
        }
    }
}
