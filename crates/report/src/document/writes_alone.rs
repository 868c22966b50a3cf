//! The writes of a mixed load with its reads and without them.

use super::LatencySummary;
use serde::{Deserialize, Serialize};

/// How the writes of the greatest sustained load do beside its reads, and by themselves: equal figures say that the
/// database keeps the two apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WritesAlone {
    /// Each kind of write.
    pub kinds: Vec<WritesOfKind>,
}

/// One kind of write, twice by equally many users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WritesOfKind {
    /// The kind's name, as in `latency.kinds`.
    pub name: String,
    /// While others read.
    pub mixed: WriteFigures,
    /// While nobody reads.
    pub alone: WriteFigures,
}

/// What became of one kind of write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WriteFigures {
    /// Operations acknowledged a second.
    pub operations_per_s: Option<f64>,
    /// From the intended start to the last reply.
    pub response: LatencySummary,
    /// From the send to the last reply.
    pub service: LatencySummary,
}
