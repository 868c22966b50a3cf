//! Whether what was read is the truth.

use serde::{Deserialize, Serialize};

/// Answers held against what the simulator recomputes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// Requests that were answered, over the whole run, warm-up included.
    pub requests: u64,
    /// Of these, the ones that the client worked out from more rows than it answers with.
    pub computed_by_client: u64,
    /// From the send of a request to its first rows, in microseconds: the mean over those that were answered with rows. Rows
    /// come in chunks: of a short answer the first are the last. Null: there were none.
    #[serde(default)]
    pub first_rows_us: Option<f64>,
    /// Of these, the statements of a user's own that write, and how many rows they changed.
    #[serde(default)]
    pub changes: u64,
    /// See `changes`.
    #[serde(default)]
    pub rows_changed: u64,
    /// Which were compared: `none`, `sample` (the first 100, then one of 16) or `full`.
    pub mode: String,
    /// Compared, and the truth.
    pub right: u64,
    /// Compared, and not the truth.
    pub wrong: u64,
    /// Looked at, and not to be judged: datapoints were written meanwhile.
    pub not_judged: u64,
    /// Chosen, and not compared because the comparison was behind.
    pub skipped: u64,
    /// Searches for a machine cycle, over the whole run; null: none were made.
    pub cycles: Option<Cycles>,
    /// The first wrong ones, at most five: what was asked, and how the answer differs.
    pub examples: Vec<String>,
}

/// Searches for a machine cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cycles {
    /// Cycles that were found.
    pub found: u64,
    /// Searches that ended without one.
    pub not_found: u64,
    /// Compared, and the one that the truth has.
    pub right: u64,
    /// Compared, and not that one.
    pub wrong: u64,
}
