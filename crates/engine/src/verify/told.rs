//! Whether it can be told if an answer is right: what was written meanwhile, and what of a long answer is kept, may leave it open.

use super::{exactness::Exactness, overlap::Overlap, second_sends::SecondSends, truth::Truth};
use crate::read::KeptAnswer;
use iotbench_core::Query;

/// Whether an answer can be held against the truth beside what was written while it was asked.
pub(super) fn can_be_told(truth: &Truth, answer: &KeptAnswer, exactness: Exactness) -> bool {
    // What is written meanwhile fills a gap, or changes what fills others.
    let may_be_filled = matches!(answer.query, Query::Filled { .. }) && answer.overlap != Overlap::None;
    let is_beyond = truth.second_sends().is_some_and(|sends| is_beyond(answer, sends));
    let is_open = may_be_filled || is_beyond || answer.overlap == Overlap::Unknown;
    !is_open && !only_counts(truth, answer, exactness)
}

/// Whether nothing tells which rows these are: of the last of many there are digests, and those of rounded numbers tell
/// nothing where it is not known which rows there have to be.
fn only_counts(truth: &Truth, answer: &KeptAnswer, exactness: Exactness) -> bool {
    let mut signals = truth.history().dataset.schema().signals().iter();
    match answer.query {
        _ if answer.digests.is_empty() => false,
        Query::Newest { .. } | Query::TopDevices { .. } | Query::Having { .. } | Query::Rollup { .. } => true,
        // It is told how many rows there are.
        Query::Filled { .. } => false,
        Query::Aggregates { .. }
        | Query::Buckets { .. }
        | Query::TotalBuckets { .. }
        | Query::TagFigures { .. }
        | Query::Where { .. }
        | Query::Consecutive { .. } => answer.overlap != Overlap::None,
        _ => answer.overlap != Overlap::None && signals.any(|signal| exactness.rounds(signal.value_type)),
    }
}

/// Whether an answer beside datapoints that are sent twice cannot be told: which of two of the same device and time is the last, and what
/// lies between them, is the database's; and a condition on one signal may hold by its first value beside the corrected one of another.
fn is_beyond(answer: &KeptAnswer, sends: SecondSends) -> bool {
    fn of(query: &Query, sends: SecondSends) -> bool {
        match query {
            Query::Consecutive { .. } => true,
            Query::LastPoints { .. } => sends.keeps_both(),
            Query::Where { .. } => sends.corrects(),
            Query::Having { of: inner, .. } | Query::Rollup { of: inner, .. } => of(inner, sends),
            _ => false,
        }
    }
    of(&answer.query, sends) || (sends.corrects() && !answer.digests.is_empty())
}
