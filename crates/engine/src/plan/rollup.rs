//! Figures over some records, and what figures of devices come to together, by the keys of an operation.

use super::{
    Context, Question,
    having::the_only_signal,
    question_keys::{limit, predicate},
};
use crate::{
    profile::{OperationConfig, OperationKind, RollupConfig},
    units::{Auto, Span},
};
use iotbench_core::{Aggregate, BucketWidth, Items, Rollup, TagId};

type FieldError = (String, String);

/// The same over the records alone that the profile writes; over all where it writes none.
pub(super) fn over_some(context: Context<'_>, config: &OperationConfig, of: Question) -> Result<Question, FieldError> {
    let Some(only) = &config.only else { return Ok(of) };
    let error = |key: &str, message: String| (format!("where.{key}"), message);
    let signals = context.schema.signals();
    let found = (0..).zip(signals).find(|(_, signal)| signal.name == only.signal);
    let Some((signal, _)) = found.filter(|(_, signal)| signal.value_type.is_number()) else {
        let numbers = signals.iter().filter(|signal| signal.value_type.is_number());
        let names: Vec<_> = numbers.map(|signal| signal.name.as_str()).collect();
        return Err(error("signal", format!("{:?} is no number: there are {}", only.signal, names.join(", "))));
    };
    let predicate = limit(only.above, only.below).map_err(|(key, message)| error(&key, message))?;
    let of_signals = match &of {
        Question::Figures { signals, .. } | Question::Buckets { signals, .. } | Question::ByTag { signals, .. } => {
            signals
        }
        _ => return Err(("where".into(), "only figures are over some of the records: leave it out".into())),
    };
    if only.indicator && of_signals[..] != [signal] {
        let message = format!(
            "the part of the values that are so is a figure of that signal: write signals = [{:?}]",
            only.signal
        );
        return Err(error("indicator", message));
    }
    Ok(Question::Where { of: Box::new(of), signal, predicate, indicator: only.indicator })
}

/// What figures of devices come to together.
pub(super) fn rollup(context: Context<'_>, config: &OperationConfig, of: Question) -> Result<Question, FieldError> {
    let Some(written) = &config.rollup else { return Ok(of) };
    let figures = if let Question::Where { of, .. } = &of { of } else { &of };
    if !matches!(figures, Question::Figures { .. } | Question::Buckets { together: false, .. }) {
        return Err((
            "rollup".into(),
            "figures of each device come together: write devices without by, or leave it out".into(),
        ));
    }
    let (items, of) = items(context, config, written, of)?;
    let has_none = matches!(written.figure, Aggregate::First | Aggregate::Last | Aggregate::Percentile(_));
    if has_none || matches!(items, Items::Values { .. }) && written.figure != Aggregate::Mean {
        let known = if has_none { "min, mean, max, sum or count" } else { "mean" };
        return Err(error("figure", format!("devices together have no {}: write {known}", written.figure)));
    }
    let tag = |name: &String| tag(context, "rollup.by", name);
    let by = written.by.iter().map(tag).collect::<Result<Vec<_>, _>>()?;
    let places = by.iter().try_fold(1_u32, |places, &tag| places.checked_mul(context.schema.tags().choices(tag)));
    if places.is_none() {
        return Err(error("by", "these tags have more values together than 2^32: write fewer".into()));
    }
    let every = width("every", written.every)?;
    if every.is_some() && matches!(items, Items::Figures { .. } | Items::Values { .. }) {
        return Err(error(
            "every",
            "a figure is of all of the time: leave it out, or ask for counts or stretches of buckets".into(),
        ));
    }
    let rollup = Rollup { items, by, every, figure: written.figure };
    Ok(Question::Rollup { of: Box::new(of), rollup, by: written.by.clone() })
}

/// What comes together, of which figures.
fn items(
    context: Context<'_>,
    config: &OperationConfig,
    written: &RollupConfig,
    of: Question,
) -> Result<(Items, Question), FieldError> {
    let each = width("each", written.each)?;
    if each.is_some() && config.kind != OperationKind::CountBuckets {
        return Err(error("each", format!("{} counts nothing: leave it out", config.kind)));
    }
    if !config.per_tag.is_empty() && (config.kind != OperationKind::Figures || !written.beside.is_empty()) {
        return Err((
            "per_tag".into(),
            "only a figure of each device is compared with the number of a tag: leave it out".into(),
        ));
    }
    if !written.beside.is_empty() {
        let beside = tag_of_numbers(context, "rollup.beside", &written.beside)?;
        return Ok((Items::Values { beside }, sum_and_count(config, of)?));
    }
    the_only_signal(context, config, &of)?;
    let items = match config.kind {
        OperationKind::Figures if config.above.is_some() || config.below.is_some() => {
            return Err(("rollup".into(), "all figures come together: leave it out, or above and below".into()));
        }
        OperationKind::Figures => {
            let per = &config.per_tag;
            let per = if per.is_empty() { None } else { Some(tag_of_numbers(context, "per_tag", per)?) };
            Items::Figures { per }
        }
        OperationKind::CountBuckets if config.records.0 > 1 => {
            return Err(("records".into(), "counts that come together are those of 1 and more: leave it out".into()));
        }
        OperationKind::CountBuckets => Items::Counts { predicate: predicate(config)?, each },
        _ => Items::Runs { predicate: predicate(config)? },
    };
    Ok((items, of))
}

/// Figures as the means of all values are put together from.
fn sum_and_count(config: &OperationConfig, of: Question) -> Result<Question, FieldError> {
    let values = vec![Aggregate::Sum, Aggregate::Count];
    if !config.aggregates.is_empty() {
        return Err(("aggregates".into(), "beside the numbers of a tag stands the mean: leave it out".into()));
    }
    Ok(match of {
        Question::Where { of, signal, predicate, indicator } => {
            let of = Box::new(sum_and_count(config, *of)?);
            Question::Where { of, signal, predicate, indicator }
        }
        Question::Figures { signals, devices, window_ns, .. } if signals.len() == 1 => {
            Question::Figures { signals, aggregates: values, devices, window_ns }
        }
        Question::Figures { .. } => {
            return Err(("signals".into(), "one alone stands beside the numbers of a tag".into()));
        }
        _ => return Err(error("beside", "only figures stand beside the numbers of a tag: leave it out".into())),
    })
}

/// A tag of which each value is a number other than 0.
pub(super) fn tag_of_numbers(context: Context<'_>, key: &str, name: &str) -> Result<TagId, FieldError> {
    let (id, tags) = (tag(context, key, name)?, context.schema.tags());
    let is_number = |choice| {
        let value = tags.value(id, choice).and_then(|value| value.to_string().parse::<f64>().ok());
        value.is_some_and(|value| value.is_finite() && value != 0.0)
    };
    match (0..tags.choices(id)).all(is_number) {
        true => Ok(id),
        false => Err((key.into(), format!("not every value of {name} is a number other than 0: write another tag"))),
    }
}

fn tag(context: Context<'_>, key: &str, name: &str) -> Result<TagId, FieldError> {
    let tags = context.schema.tags();
    if tags.as_slice().iter().any(|tag| tag.name == name && tag.values.is_serial()) {
        return Err((
            key.into(),
            format!("{name} is the serial number of a unit, which nobody asks for: take another tag"),
        ));
    }
    tags.find(name).ok_or_else(|| {
        let names: Vec<_> = tags.as_slice().iter().map(|tag| tag.name.as_str()).collect();
        let there = if names.is_empty() { "none (dataset.tags)".into() } else { names.join(", ") };
        (key.into(), format!("{name:?} is no tag of the devices: the tags are {there}"))
    })
}

fn width(key: &str, written: Auto<Span>) -> Result<Option<BucketWidth>, FieldError> {
    let Some(span) = written.set() else { return Ok(None) };
    let width = BucketWidth::from_ns(span.as_ns());
    width.map(Some).ok_or_else(|| error(key, "a stretch of time is longer than 0 and at most 292 years".into()))
}

fn error(key: &str, message: String) -> FieldError {
    (format!("rollup.{key}"), message)
}
