//! How long acknowledged datapoints take to be seen.

use super::Figures;
use serde::{Deserialize, Serialize};

/// Lags from acknowledged to visible, over the whole load. A probe reads the newest datapoint of a random series until it
/// sees one that was just acknowledged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Freshness {
    /// From the acknowledgement to the end of the first read that saw the datapoint, in microseconds: an upper bound, which
    /// holds the time of one read.
    pub lag: Figures,
    /// Datapoints that no read saw within the deadline, or before the load ended.
    pub unseen: u64,
}

impl From<&iotbench_engine::Freshness> for Freshness {
    fn from(freshness: &iotbench_engine::Freshness) -> Self {
        Self { lag: Figures::from(&freshness.lag), unseen: freshness.unseen }
    }
}
