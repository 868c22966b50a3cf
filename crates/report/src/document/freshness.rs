//! How long acknowledged datapoints take to be seen.

use super::LatencySummary;
use serde::{Deserialize, Serialize};

/// Lags from acknowledged to visible, over the whole load. Probes begin at exponential intervals; each takes the next datapoint
/// that is acknowledged, and reads the newest of its series until it sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Freshness {
    /// From the acknowledgement to the end of the first read that saw the datapoint, in microseconds: an upper bound, which
    /// holds the time of one read. Datapoints that were not seen have at least their age.
    pub lag: LatencySummary,
    /// Datapoints that no read saw within the deadline.
    pub unseen: u64,
}
