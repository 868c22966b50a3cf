//! What a read asks by the keys of its operation.

use super::{
    Context, Question,
    having::having,
    own_statement::own_statement,
    whose::{Whose, by_tag, whose},
};
use crate::{
    profile::{OperationConfig, OperationKind},
    units::Span,
};
use iotbench_core::{Aggregate, BucketWidth, Consecutive, Layout, Predicate, Schema, SignalId, TagId};
use iotbench_cycle_finder::{CycleSearch, SearchError, SearchSpec, Strategy};
use std::num::NonZeroU64;

/// The most buckets of a device that one request asks for.
const MAX_BUCKETS: u64 = 100_000;

type FieldError = (String, String);

pub(super) fn question(context: Context<'_>, config: &OperationConfig) -> Result<Question, FieldError> {
    let schema = context.schema;
    let window_ns = config.window.as_ns();
    let records = config.records.0;
    if records == 0 {
        return Err(("records".into(), "at least 1".into()));
    }
    let asked = match config.kind {
        OperationKind::ReadSignal => Question::Signal {
            signals: signals(config, schema, |_| true)?,
            devices: whose(context, config)?,
            window_ns,
        },
        OperationKind::ReadPoint => {
            Question::Point { signals: signals(config, schema, |_| true)?, devices: whose(context, config)? }
        }
        OperationKind::ReadLatest => Question::Latest { signals: signals(config, schema, |_| true)? },
        OperationKind::ReadRecords => Question::Records { records },
        OperationKind::ReadNewest => Question::Newest { records },
        OperationKind::LastPoints => Question::LastPoints { devices: whose(context, config)? },
        OperationKind::ReadDevice => Question::Device,
        OperationKind::MaxRecords => {
            let signals = signals(config, schema, |_| true)?;
            let signal = signals.first().copied().ok_or_else(|| ("signals".into(), "none is left".into()))?;
            Question::Max { signal, records }
        }
        OperationKind::MeanDevice => Question::Mean { signals: numbers(config, schema)? },
        OperationKind::Dashboard => Question::Dashboard { signals: numbers(config, schema)?, window_ns },
        OperationKind::Filter => filter(context, config, false)?,
        OperationKind::FilterRecords => filter(context, config, true)?,
        OperationKind::Figures | OperationKind::TotalBuckets if let Some(tag) = by_tag(context, config)? => {
            figures_by_tag(context, config, tag)?
        }
        OperationKind::Figures => Question::Figures {
            signals: numbers(config, schema)?,
            aggregates: aggregates(config)?,
            devices: whose(context, config)?,
            window_ns,
        },
        OperationKind::CompareWindows => compare_windows(context, config)?,
        OperationKind::Buckets => buckets(context, config, false)?,
        OperationKind::CountBuckets => counted(context, config)?,
        OperationKind::TotalBuckets => buckets(context, config, true)?,
        OperationKind::NewestBuckets => newest_buckets(context, config)?,
        OperationKind::TopDevices => top_devices(context, config)?,
        OperationKind::Gaps => gaps(context, config)?,
        OperationKind::Differences => differences(context, config)?,
        OperationKind::TimeWeightedMean => {
            let (signals, devices) = (numbers(config, context.schema)?, whose(context, config)?);
            Question::Consecutive { signals, what: Consecutive::TimeWeightedMean, devices, window_ns }
        }
        OperationKind::CycleSearch => cycle(context, config)?,
        OperationKind::Statement => {
            Question::Statement(own_statement(context, config, signals(config, schema, |_| true)?)?)
        }
        OperationKind::Write => {
            return Err(("kind".into(), format!("{} asks nothing", config.kind)));
        }
    };
    let question = descending(config, filled(config, having(context, config, asked)?)?)?;
    check_history(context, &question)?;
    Ok(question)
}

/// The values that meet a condition, or their records.
fn filter(context: Context<'_>, config: &OperationConfig, records: bool) -> Result<Question, FieldError> {
    let (signals, devices, window_ns) =
        (numbers(config, context.schema)?, whose(context, config)?, config.window.as_ns());
    Ok(Question::Filter { signals, predicate: predicate(config)?, devices, window_ns, records })
}

fn figures_by_tag(
    context: Context<'_>,
    config: &OperationConfig,
    (tag, name): (TagId, String),
) -> Result<Question, FieldError> {
    let (signals, aggregates) = (numbers(config, context.schema)?, aggregates_together(config)?);
    let window_ns = config.window.as_ns();
    let width = match config.kind {
        OperationKind::Figures => None,
        _ => Some(width(config, window_ns)?),
    };
    Ok(Question::ByTag { tag, name, signals, aggregates, window_ns, width })
}

/// With rows of the buckets that hold no point, where the profile says what they hold.
fn filled(config: &OperationConfig, of: Question) -> Result<Question, FieldError> {
    match config.fill.set() {
        None => Ok(of),
        Some(_) if !matches!(of, Question::Buckets { .. }) => {
            let message = "buckets are filled, or kept by a condition, or put together: leave it out, or above, below, where and rollup";
            Err(("fill".into(), message.into()))
        }
        Some(fill) => Ok(Question::Filled { of: Box::new(of), fill }),
    }
}

/// The newest first, where the profile says so.
fn descending(config: &OperationConfig, of: Question) -> Result<Question, FieldError> {
    match of {
        of if !config.descending => Ok(of),
        Question::Signal { .. } | Question::Filter { .. } | Question::Buckets { together: true, .. } => {
            Ok(Question::Descending { of: Box::new(of) })
        }
        _ => {
            let message = "those that a condition or a tag puts together come by time: leave it out, or above, below, where and by";
            Err(("descending".into(), message.into()))
        }
    }
}

/// The buckets that are counted: of each device, or of all those with the same value of a tag.
fn counted(context: Context<'_>, config: &OperationConfig) -> Result<Question, FieldError> {
    let (window_ns, least) = (config.window.as_ns(), config.records.0);
    // A window that begins within a bucket cuts one more.
    let most = window_ns.div_ceil(width(config, window_ns)?.as_ns().unsigned_abs()) + 1;
    if least > most {
        return Err((
            "records".into(),
            format!("a window has at most {most} buckets, and never {least} of them: write fewer"),
        ));
    }
    match by_tag(context, config)? {
        Some(tag) => figures_by_tag(context, config, tag),
        None => buckets(context, config, false),
    }
}

/// Two stretches of time, of the same devices.
fn compare_windows(context: Context<'_>, config: &OperationConfig) -> Result<Question, FieldError> {
    if config.requests.0 > 1 {
        return Err(("requests".into(), "windows are compared by two requests: leave it out".into()));
    }
    let (signals, aggregates, devices) =
        (numbers(config, context.schema)?, aggregates(config)?, whose(context, config)?);
    Ok(Question::CompareWindows { signals, aggregates, devices, window_ns: config.window.as_ns() })
}

/// Of each device, or of all of them together.
fn buckets(context: Context<'_>, config: &OperationConfig, together: bool) -> Result<Question, FieldError> {
    let aggregates = if together { aggregates_together(config)? } else { aggregates(config)? };
    let (signals, devices, window_ns) =
        (numbers(config, context.schema)?, whose(context, config)?, config.window.as_ns());
    let width = width(config, window_ns)?;
    Ok(Question::Buckets { signals, aggregates, devices, window_ns, width, together })
}

fn newest_buckets(context: Context<'_>, config: &OperationConfig) -> Result<Question, FieldError> {
    let error = |key: &str, message: String| (key.to_string(), message);
    let (signals, aggregates, buckets) =
        (numbers(config, context.schema)?, aggregates_together(config)?, config.records.0);
    if buckets > MAX_BUCKETS {
        return Err(error("records", format!("more than {MAX_BUCKETS} buckets: write fewer")));
    }
    let width = config.width.set().and_then(|width| BucketWidth::from_ns(width.as_ns()));
    let width =
        width.ok_or_else(|| error("width", "write how long a bucket is: longer than 0, at most 292 years".into()))?;
    Ok(Question::NewestBuckets { signals, aggregates, devices: whose(context, config)?, width, buckets })
}

fn top_devices(context: Context<'_>, config: &OperationConfig) -> Result<Question, FieldError> {
    let (signals, window_ns, count) = (numbers(config, context.schema)?, config.window.as_ns(), config.records.0);
    // One alone has no order.
    let devices = match whose(context, config)? {
        Whose::Consecutive(1) => Whose::All,
        devices => devices,
    };
    match aggregates_together(config)?.as_slice() {
        &[aggregate] => Ok(Question::TopDevices { signals, aggregate, count, devices, window_ns }),
        _ => Err(("aggregates".into(), "devices are put in order by one figure: write one".into())),
    }
}

/// Of any signal: that a value is there says when it was measured.
fn gaps(context: Context<'_>, config: &OperationConfig) -> Result<Question, FieldError> {
    let error = |message: String| Err(("longer_than".into(), message));
    let Some(longer_than) = config.longer_than.set() else {
        return error("a gap is longer than a length of time: write which, as in longer_than = \"5s\"".into());
    };
    if longer_than >= config.window {
        let message = format!("in a window of {} no gap is longer than {longer_than}: write less", config.window);
        return error(message);
    }
    let what = Consecutive::Gaps { longer_than_ns: longer_than.as_ns() };
    let (signals, devices) = (signals(config, context.schema, |_| true)?, whose(context, config)?);
    Ok(Question::Consecutive { signals, what, devices, window_ns: config.window.as_ns() })
}

fn differences(context: Context<'_>, config: &OperationConfig) -> Result<Question, FieldError> {
    let per_ns = config.per.set().map(|per| NonZeroU64::new(per.as_ns()));
    if per_ns == Some(None) {
        return Err(("per".into(), "in no time nothing changes: write a longer one, or leave it out".into()));
    }
    let (signals, devices) = (numbers(config, context.schema)?, whose(context, config)?);
    let what = Consecutive::Differences { per_ns: per_ns.flatten() };
    Ok(Question::Consecutive { signals, what, devices, window_ns: config.window.as_ns() })
}

pub(super) fn predicate(config: &OperationConfig) -> Result<Predicate, FieldError> {
    limit(config.above, config.below)
}

/// The condition that one of two keys writes.
pub(super) fn limit(above: Option<f64>, below: Option<f64>) -> Result<Predicate, FieldError> {
    let error = |key: &str, message: &str| Err((key.to_string(), message.to_string()));
    match (above, below) {
        (Some(_), Some(_)) => error("below", "write above or below, not both"),
        (None, None) => error("above", "there is no limit: write above or below"),
        (Some(limit), None) if limit.is_finite() => Ok(Predicate::Above(limit)),
        (None, Some(limit)) if limit.is_finite() => Ok(Predicate::Below(limit)),
        (Some(_), None) => error("above", "not a finite number"),
        (None, Some(_)) => error("below", "not a finite number"),
    }
}

/// A bucket as long as a tenth of the stretch where the profile names none.
fn width(config: &OperationConfig, window_ns: u64) -> Result<BucketWidth, FieldError> {
    let key = || "width".to_string();
    let width_ns = config.width.set().map_or(window_ns.div_ceil(10), Span::as_ns);
    if width_ns > 0 && window_ns / width_ns > MAX_BUCKETS {
        let message = format!("the window has more than {MAX_BUCKETS} of them: write a longer one");
        return Err((key(), message));
    }
    BucketWidth::from_ns(width_ns).ok_or_else(|| (key(), "a bucket is longer than 0 and at most 292 years".into()))
}

/// The figures that the profile names, each once; the mean where it names none.
fn aggregates(config: &OperationConfig) -> Result<Vec<Aggregate>, FieldError> {
    let mut aggregates = Vec::new();
    for &aggregate in &config.aggregates {
        if aggregates.contains(&aggregate) {
            return Err(("aggregates".into(), format!("{aggregate} stands there twice")));
        }
        aggregates.push(aggregate);
    }
    if aggregates.is_empty() {
        aggregates.push(Aggregate::Mean);
    }
    Ok(aggregates)
}

/// The same, of which several devices have one each.
fn aggregates_together(config: &OperationConfig) -> Result<Vec<Aggregate>, FieldError> {
    let aggregates = aggregates(config)?;
    let has_none =
        |figure: &&Aggregate| matches!(figure, Aggregate::First | Aggregate::Last | Aggregate::Percentile(_));
    match aggregates.iter().find(has_none) {
        Some(figure @ Aggregate::Percentile(_)) => {
            let message = format!(
                "{figure} is found device by device, not of devices together and not to put them in order: write min, mean, max, \
                 sum or count, or devices that are not put together"
            );
            Err(("aggregates".into(), message))
        }
        Some(figure) => {
            let message = format!("write min, mean, max, sum or count: not the {figure} value of several devices");
            Err(("aggregates".into(), message))
        }
        None => Ok(aggregates),
    }
}

fn cycle(context: Context<'_>, config: &OperationConfig) -> Result<Question, FieldError> {
    let signals = numbers(config, context.schema)?;
    let abscissa = signals[0];
    let suggested = if context.layout == Layout::Bulk { Strategy::Bulk } else { Strategy::Individual };
    let (strategy, amplitude) = (config.strategy.set().unwrap_or(suggested), config.amplitude);
    let spec = SearchSpec { strategy, signals: signals.clone(), abscissa, amplitude };
    CycleSearch::new(spec, 0, 0).map_err(|error| {
        let key = if error == SearchError::Amplitude { "amplitude" } else { "signals" };
        (key.to_string(), error.to_string())
    })?;
    if config.requests.0 > 1 {
        return Err(("requests".into(), "a search asks as often as it must: write 1".into()));
    }
    Ok(Question::Cycle { strategy, signals, abscissa, amplitude })
}

/// The signals that the profile names, each a number; where it names none, all that are numbers: at least one.
pub(super) fn numbers(config: &OperationConfig, schema: &Schema) -> Result<Vec<SignalId>, FieldError> {
    let is_number = |id| schema.signals().get(usize::from(id)).is_some_and(|s| s.value_type.is_number());
    let signals = signals(config, schema, is_number)?;
    let text = signals.iter().find(|&&id| !is_number(id)).and_then(|&id| schema.signals().get(usize::from(id)));
    match text {
        Some(text) => Err((
            "signals".into(),
            format!("{} is text, and {} asks about numbers: leave it out", text.name, config.kind),
        )),
        None if signals.is_empty() => Err(("signals".into(), "none of them is a number".into())),
        None => Ok(signals),
    }
}

/// The signals that the profile names; where it names none, all that are `suitable` and there from the beginning. A `*` at the end
/// of a name stands for any ending.
fn signals(
    config: &OperationConfig,
    schema: &Schema,
    suitable: impl Fn(SignalId) -> bool,
) -> Result<Vec<SignalId>, FieldError> {
    let all = || (0..).zip(schema.signals());
    if config.signals.is_empty() {
        let first = (0..).zip(schema.first_signals());
        return Ok(first.map(|(id, _)| id).filter(|&id| suitable(id)).collect());
    }
    let mut found = Vec::new();
    for pattern in &config.signals {
        let fits = |name: &str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == pattern,
        };
        let before = found.len();
        found.extend(all().filter(|(_, signal)| fits(&signal.name)).map(|(id, _)| id));
        if found.len() == before {
            let names: Vec<_> = schema.signals().iter().map(|s| s.name.as_str()).collect();
            return Err(("signals".into(), format!("no signal is called {pattern:?}: there are {}", names.join(", "))));
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn check_history(context: Context<'_>, question: &Question) -> Result<(), FieldError> {
    let (history, devices) = (context.phases.preload, context.phases.preload_devices);
    let (records, of_devices) = match question {
        Question::Newest { .. } => return Ok(()),
        Question::TopDevices { count: most, .. } if history > 0 && *most > u64::from(devices) => {
            return Err(("records".into(), format!("{most} of a history of {devices} devices")));
        }
        Question::Records { records } | Question::Max { records, .. } => (*records, 1),
        Question::Signal { devices, .. }
        | Question::Point { devices, .. }
        | Question::Filter { devices, .. }
        | Question::Figures { devices, .. }
        | Question::CompareWindows { devices, .. }
        | Question::Buckets { devices, .. }
        | Question::NewestBuckets { devices, .. }
        | Question::LastPoints { devices } => (1, devices.least()),
        Question::TopDevices { devices, .. } | Question::Consecutive { devices, .. } => (1, devices.least()),
        Question::Having { of, .. }
        | Question::Filled { of, .. }
        | Question::Where { of, .. }
        | Question::Descending { of }
        | Question::Rollup { of, .. } => return check_history(context, of),
        Question::Cycle { .. }
        | Question::Device
        | Question::Mean { .. }
        | Question::Dashboard { .. }
        | Question::ByTag { .. }
        | Question::Latest { .. } => (1, 1),
        Question::Statement(_) => (1, 1),
    };
    if history == 0 {
        let message = "it reads what was written before the run: set phases.preload, or --history";
        return Err(("kind".into(), message.into()));
    }
    if records > history {
        return Err(("records".into(), format!("{records} of a history of {history} of each device (phases.preload)")));
    }
    if of_devices > devices {
        return Err(("devices".into(), format!("{of_devices} of a history of {devices} devices")));
    }
    Ok(())
}
