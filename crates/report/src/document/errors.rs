//! Errors by cause.

use iotbench_recorder::ErrorTally;
use serde::{Deserialize, Serialize};

/// How often one cause was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorsOfCause {
    /// The cause's word, such as `timed_out`.
    pub cause: String,
    /// Errors of this cause.
    pub count: u64,
    /// The first messages, at most five, escaped and cut.
    pub samples: Vec<String>,
}

/// The most frequent cause first.
#[must_use]
pub fn by_cause(tally: &ErrorTally) -> Vec<ErrorsOfCause> {
    let mut errors: Vec<_> = tally
        .iter()
        .map(|(cause, seen)| ErrorsOfCause { cause: cause.into(), count: seen.count, samples: seen.samples.clone() })
        .collect();
    errors.sort_by_key(|e| std::cmp::Reverse(e.count));
    errors
}
