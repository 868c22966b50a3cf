//! How long acknowledged datapoints take to be seen.

use super::Figures;
use serde::{Deserialize, Serialize};

/// Lags from acknowledged to visible, over the whole load. Probes begin at exponential intervals; each takes the next datapoint
/// that is acknowledged, and reads the newest of its series until it sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Freshness {
    /// From the acknowledgement to the end of the first read that saw the datapoint, in microseconds: an upper bound, which
    /// holds the time of one read. With datapoints that were not seen, quantiles of all where these do not matter.
    pub lag: Figures,
    /// With datapoints that were not seen, figures of all with these at their age: lower bounds; null: all were seen.
    #[serde(default)]
    pub lag_at_least: Option<Figures>,
    /// Datapoints that no read saw within the deadline.
    pub unseen: u64,
}

impl From<&iotbench_engine::Freshness> for Freshness {
    fn from(freshness: &iotbench_engine::Freshness) -> Self {
        let (lag, lag_at_least) = Figures::with_bounds(&freshness.lag, &freshness.unseen);
        Self { lag, lag_at_least, unseen: freshness.unseen.count() }
    }
}
