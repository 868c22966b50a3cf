//! Whether what was read is the truth.

use iotbench_engine::Outcome;
use serde::{Deserialize, Serialize};

/// Answers held against what the simulator recomputes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// Requests that were answered, over the whole run, warm-up included.
    pub requests: u64,
    /// Of these, the ones that the client worked out from more rows than it answers with.
    pub computed_by_client: u64,
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
    /// The first wrong ones, at most five: what was asked, and how the answer differs.
    pub examples: Vec<String>,
}

impl Answers {
    pub(super) fn new(outcome: &Outcome) -> Option<Self> {
        let answers = outcome.answers.as_ref()?;
        Some(Self {
            requests: outcome.reads.requests,
            computed_by_client: outcome.reads.by_client,
            mode: answers.mode.name().into(),
            right: answers.right,
            wrong: answers.wrong,
            not_judged: answers.not_judged,
            skipped: answers.skipped,
            examples: answers.examples.clone(),
        })
    }
}
