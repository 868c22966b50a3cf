//! The condition on what an operation asks for.

use super::{
    Context, Question,
    question_keys::{numbers, predicate},
    rollup::{over_some, rollup, tag_of_numbers},
};
use crate::profile::{OperationConfig, OperationKind};
use iotbench_core::SignalId;

type FieldError = (String, String);

/// What is asked for as far as it meets the condition that the profile writes; all of it where it writes none.
///
/// # Errors
/// The key, and what is wrong: a condition on more than one figure, or none where there has to be one.
pub(super) fn having(context: Context<'_>, config: &OperationConfig, of: Question) -> Result<Question, FieldError> {
    let of = over_some(context, config, of)?;
    if config.rollup.is_some() {
        return rollup(context, config, of);
    }
    let counts = config.kind == OperationKind::CountBuckets;
    let takes_one = matches!(
        config.kind,
        OperationKind::LastPoints | OperationKind::Figures | OperationKind::Buckets | OperationKind::TotalBuckets
    );
    if !counts && !(takes_one && (config.above.is_some() || config.below.is_some())) {
        return match config.kind {
            OperationKind::LastPoints if !config.signals.is_empty() => {
                let message = "whole records are read: leave it out, or write above or below which its value has to be";
                Err(("signals".into(), message.into()))
            }
            _ if !config.per_tag.is_empty() => {
                Err(("per_tag".into(), "write above or below, which the value has to be, or rollup".into()))
            }
            _ => Ok(of),
        };
    }
    let (predicate, signal) = (predicate(config)?, the_only_signal(context, config, &of)?);
    let at_least = counts.then_some(config.records.0);
    let per = match (config.per_tag.as_str(), &of) {
        ("", _) => None,
        (name, Question::LastPoints { .. }) => Some((tag_of_numbers(context, "per_tag", name)?, name.into())),
        _ => return Err(("per_tag".into(), "only newest records, and figures with rollup, go by it".into())),
    };
    Ok(Question::Having { of: Box::new(of), signal, predicate, at_least, per })
}

/// The signal that is compared.
pub(super) fn the_only_signal(
    context: Context<'_>,
    config: &OperationConfig,
    of: &Question,
) -> Result<SignalId, FieldError> {
    let figures = match of {
        Question::Figures { aggregates, .. }
        | Question::Buckets { aggregates, .. }
        | Question::ByTag { aggregates, .. } => aggregates.len(),
        Question::Where { of, .. } => return the_only_signal(context, config, of),
        _ => 1,
    };
    if figures > 1 {
        return Err(("aggregates".into(), "a condition is on one figure: write one".into()));
    }
    match numbers(config, context.schema)?.as_slice() {
        &[signal] => Ok(signal),
        signals => {
            let message =
                format!("a condition is on the value of one signal, and these are {}: write one", signals.len());
            Err(("signals".into(), message))
        }
    }
}
