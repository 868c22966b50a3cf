//! What a read asks, as meant.

use super::{
    Context, OwnStatement, Whose, keys_of_kind,
    own_statement::own_statement,
    whose::{by_tag, whose},
};
use crate::{
    profile::{OperationConfig, OperationKind},
    units::Span,
};
use iotbench_core::{Aggregate, BucketWidth, Layout, Predicate, Schema, SignalId, TagId};
use iotbench_cycle_finder::{CycleSearch, SearchError, SearchSpec, Strategy};
use serde::{Deserialize, Serialize};

/// The most buckets of a device that one request asks for.
const MAX_BUCKETS: u64 = 100_000;

/// What a read asks. Which device, signal and moment it is about is drawn for each request, from the seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ask")]
pub enum Question {
    /// A signal of devices over a stretch of time from a random moment of the history on.
    Signal {
        /// The signals of which one is drawn, ascending.
        signals: Vec<SignalId>,
        /// Whose.
        devices: Whose,
        /// The length of the stretch.
        window_ns: u64,
    },
    /// A signal of devices at the time of a random record of the first of them.
    Point {
        /// The signals of which one is drawn, ascending.
        signals: Vec<SignalId>,
        /// Whose.
        devices: Whose,
    },
    /// The newest value of a signal of a random device.
    Latest {
        /// The signals of which one is drawn, ascending.
        signals: Vec<SignalId>,
    },
    /// Consecutive records of a device from a random one on.
    Records {
        /// How many.
        records: u64,
    },
    /// The newest records of all devices.
    Newest {
        /// How many.
        records: u64,
    },
    /// The newest record of each of devices.
    LastPoints {
        /// Whose.
        devices: Whose,
    },
    /// All records of a random device.
    Device,
    /// The greatest value of a signal over consecutive records from a random one on.
    Max {
        /// The signal.
        signal: SignalId,
        /// How many.
        records: u64,
    },
    /// The mean of each signal of a random device.
    Mean {
        /// The signals, ascending.
        signals: Vec<SignalId>,
    },
    /// The values of a signal of devices that meet a condition, or the records with such a value, over a stretch of
    /// time from a random moment of the history on.
    Filter {
        /// The signals of which one is drawn, ascending.
        signals: Vec<SignalId>,
        /// The condition.
        predicate: Predicate,
        /// Whose.
        devices: Whose,
        /// The length of the stretch.
        window_ns: u64,
        /// Whether all signals of these records come back.
        #[serde(default)]
        records: bool,
    },
    /// Figures of each signal of each of several devices, over a stretch of time from a random moment of the history on.
    Figures {
        /// The signals, ascending.
        signals: Vec<SignalId>,
        /// Which figures.
        aggregates: Vec<Aggregate>,
        /// Whose.
        devices: Whose,
        /// The length of the stretch.
        window_ns: u64,
    },
    /// Figures of each signal of each of several devices over the newest stretch of time, and by a second request the same of a
    /// stretch of that length from a random moment on.
    CompareWindows {
        /// The signals, ascending.
        signals: Vec<SignalId>,
        /// Which figures.
        aggregates: Vec<Aggregate>,
        /// Whose.
        devices: Whose,
        /// The length of each stretch.
        window_ns: u64,
    },
    /// Figures of each signal of devices in time buckets, over a stretch of time from a random moment of the
    /// history on.
    Buckets {
        /// The signals, ascending.
        signals: Vec<SignalId>,
        /// Which figures.
        aggregates: Vec<Aggregate>,
        /// Whose.
        devices: Whose,
        /// The length of the stretch.
        window_ns: u64,
        /// The length of a bucket.
        width: BucketWidth,
        /// Whether they are of all these devices together.
        #[serde(default)]
        together: bool,
    },
    /// Figures of each signal of all devices with the same value of a tag together, over a stretch of time from a random moment of the
    /// history on.
    ByTag {
        /// The tag.
        tag: TagId,
        /// Its name.
        name: String,
        /// The signals, ascending.
        signals: Vec<SignalId>,
        /// Which figures.
        aggregates: Vec<Aggregate>,
        /// The length of the stretch.
        window_ns: u64,
        /// In buckets of this length.
        width: Option<BucketWidth>,
    },
    /// Figures of each signal of devices together in the newest time buckets before a random moment of the history.
    NewestBuckets {
        /// The signals, ascending.
        signals: Vec<SignalId>,
        /// Which figures.
        aggregates: Vec<Aggregate>,
        /// Whose.
        devices: Whose,
        /// The length of a bucket.
        width: BucketWidth,
        /// How many buckets.
        buckets: u64,
    },
    /// The devices with the greatest figure of a signal over a stretch of time from a random moment of the history on.
    TopDevices {
        /// The signals of which one is drawn, ascending.
        signals: Vec<SignalId>,
        /// Which figure.
        aggregate: Aggregate,
        /// How many devices.
        count: u64,
        /// Of which.
        devices: Whose,
        /// The length of the stretch.
        window_ns: u64,
    },
    /// The machine cycle around a random moment, and the sum of every signal over it.
    Cycle {
        /// How it is read.
        strategy: Strategy,
        /// The signals to sum, ascending.
        signals: Vec<SignalId>,
        /// The one that is a sawtooth.
        abscissa: SignalId,
        /// Its height.
        amplitude: f64,
    },
    /// Last, least, mean and greatest value of each signal of every device, over the newest stretch of time.
    Dashboard {
        /// The signals, ascending.
        signals: Vec<SignalId>,
        /// The length of the stretch.
        window_ns: u64,
    },
    /// What the user wrote.
    Statement(OwnStatement),
}

impl Question {
    /// Which devices it is about, where a profile says.
    #[must_use]
    pub fn whose(&self) -> Option<&Whose> {
        match self {
            Self::Signal { devices, .. }
            | Self::Point { devices, .. }
            | Self::LastPoints { devices }
            | Self::Filter { devices, .. }
            | Self::Figures { devices, .. }
            | Self::CompareWindows { devices, .. }
            | Self::Buckets { devices, .. }
            | Self::NewestBuckets { devices, .. }
            | Self::TopDevices { devices, .. } => Some(devices),
            Self::Latest { .. }
            | Self::Records { .. }
            | Self::Newest { .. }
            | Self::ByTag { .. }
            | Self::Device
            | Self::Max { .. }
            | Self::Mean { .. }
            | Self::Cycle { .. }
            | Self::Dashboard { .. }
            | Self::Statement(_) => None,
        }
    }

    /// How many records it is about, where its number is asked for.
    #[must_use]
    pub fn records(&self) -> Option<u64> {
        match self {
            Self::Records { records } | Self::Newest { records } | Self::Max { records, .. } => Some(*records),
            Self::Signal { .. }
            | Self::Point { .. }
            | Self::Latest { .. }
            | Self::LastPoints { .. }
            | Self::Device
            | Self::Mean { .. }
            | Self::Filter { .. }
            | Self::Figures { .. }
            | Self::CompareWindows { .. }
            | Self::Buckets { .. }
            | Self::ByTag { .. }
            | Self::NewestBuckets { .. }
            | Self::TopDevices { .. }
            | Self::Cycle { .. }
            | Self::Dashboard { .. }
            | Self::Statement(_) => None,
        }
    }
}

type FieldError = (String, String);

pub(super) fn question(context: Context<'_>, config: &OperationConfig) -> Result<Question, FieldError> {
    let schema = context.schema;
    let window_ns = config.window.as_ns();
    let records = config.records.0;
    if records == 0 {
        return Err(("records".into(), "at least 1".into()));
    }
    keys_of_kind::check(config)?;
    let question = match config.kind {
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
        OperationKind::Figures | OperationKind::TotalBuckets if let Some((tag, name)) = by_tag(context, config)? => {
            let (signals, aggregates) = (numbers(config, schema)?, aggregates_together(config)?);
            let width = match config.kind {
                OperationKind::TotalBuckets => Some(width(config, window_ns)?),
                _ => None,
            };
            Question::ByTag { tag, name, signals, aggregates, window_ns, width }
        }
        OperationKind::Figures => Question::Figures {
            signals: numbers(config, schema)?,
            aggregates: aggregates(config)?,
            devices: whose(context, config)?,
            window_ns,
        },
        OperationKind::CompareWindows => compare_windows(context, config)?,
        OperationKind::Buckets => buckets(context, config, false)?,
        OperationKind::TotalBuckets => buckets(context, config, true)?,
        OperationKind::NewestBuckets => newest_buckets(context, config)?,
        OperationKind::TopDevices => top_devices(context, config)?,
        OperationKind::CycleSearch => cycle(context, config)?,
        OperationKind::Statement => {
            Question::Statement(own_statement(context, config, signals(config, schema, |_| true)?)?)
        }
        OperationKind::Write => {
            return Err(("kind".into(), format!("{} asks nothing", config.kind)));
        }
    };
    check_history(context, &question)?;
    Ok(question)
}

/// The values that meet a condition, or their records.
fn filter(context: Context<'_>, config: &OperationConfig, records: bool) -> Result<Question, FieldError> {
    let (signals, devices, window_ns) =
        (numbers(config, context.schema)?, whose(context, config)?, config.window.as_ns());
    Ok(Question::Filter { signals, predicate: predicate(config)?, devices, window_ns, records })
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

fn predicate(config: &OperationConfig) -> Result<Predicate, FieldError> {
    let error = |key: &str, message: &str| Err((key.to_string(), message.to_string()));
    match (config.above, config.below) {
        (Some(_), Some(_)) => error("below", "write above or below, not both"),
        (None, None) => error("above", "a filter has a limit: write above or below"),
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
    match aggregates.iter().find(|figure| matches!(figure, Aggregate::First | Aggregate::Last)) {
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

/// The signals that the profile names; where it names none, all that are numbers: at least one.
fn numbers(config: &OperationConfig, schema: &Schema) -> Result<Vec<SignalId>, FieldError> {
    let is_number = |id| schema.signals().get(usize::from(id)).is_some_and(|s| s.value_type.is_number());
    let signals = signals(config, schema, is_number)?;
    if signals.is_empty() { Err(("signals".into(), "none of them is a number".into())) } else { Ok(signals) }
}

/// The signals that the profile names; where it names none, all that are `suitable`. A `*` at the end of a name stands for
/// any ending.
fn signals(
    config: &OperationConfig,
    schema: &Schema,
    suitable: impl Fn(SignalId) -> bool,
) -> Result<Vec<SignalId>, FieldError> {
    let all = || (0..).zip(schema.signals());
    if config.signals.is_empty() {
        return Ok(all().map(|(id, _)| id).filter(|&id| suitable(id)).collect());
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
        Question::TopDevices { devices, .. } => (1, devices.least()),
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
