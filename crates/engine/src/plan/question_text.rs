//! A question in words, as a plan is shown.

use super::Question;
use crate::units::Span;
use iotbench_core::{Aggregate, BucketWidth, Consecutive, Items, Predicate, SignalId};
use std::{fmt, time::Duration};

impl fmt::Display for Question {
    /// What is asked for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signal { devices, window_ns, .. } => {
                let window = Span(Duration::from_nanos(*window_ns));
                write!(f, "{window} of a signal of {devices}")
            }
            Self::Point { devices, .. } => write!(f, "a signal of {devices} at the time of a record"),
            Self::Latest { .. } => f.write_str("the newest value of a signal of a device"),
            Self::Records { records } => write!(f, "{records} consecutive records of a device"),
            Self::Newest { records } => write!(f, "the newest {records} records"),
            Self::LastPoints { devices } => write!(f, "the newest record of each of {devices}"),
            Self::Device => f.write_str("all records of a device"),
            Self::Cycle { strategy, .. } => write!(f, "the machine cycle around a random moment ({strategy})"),
            Self::Max { records, .. } => write!(f, "the greatest of a signal over {records} consecutive records"),
            Self::Mean { signals } => write!(f, "the mean of {} of a device", counted(signals)),
            Self::Filter { predicate, devices, window_ns, records, .. } => {
                let window = Span(Duration::from_nanos(*window_ns));
                let condition = condition(*predicate);
                match records {
                    false => write!(f, "the values {condition} of a signal of {devices} over {window}"),
                    true => write!(f, "the records with a signal {condition} of {devices} over {window}"),
                }
            }
            Self::Figures { signals, aggregates, devices, window_ns } => {
                let (figures, window) = (listed(aggregates), Span(Duration::from_nanos(*window_ns)));
                write!(f, "{figures} of {} of {devices} over {window}", counted(signals))
            }
            Self::CompareWindows { signals, aggregates, devices, window_ns } => {
                let (figures, window) = (listed(aggregates), Span(Duration::from_nanos(*window_ns)));
                write!(f, "{figures} of {} of {devices} over the newest {window} and over another", counted(signals))
            }
            Self::Buckets { signals, aggregates, devices, window_ns, width, together } => {
                let (figures, signals) = (listed(aggregates), counted(signals));
                let (window, width) = (Span(Duration::from_nanos(*window_ns)), length(*width));
                let together = if *together { " together" } else { "" };
                write!(f, "{figures} of {signals} of {devices}{together} in buckets of {width} over {window}")
            }
            Self::ByTag { name, signals, aggregates, window_ns, width, .. } => {
                let (figures, window) = (listed(aggregates), Span(Duration::from_nanos(*window_ns)));
                let width = width.map_or(String::new(), |width| format!(" in buckets of {}", length(width)));
                write!(
                    f,
                    "{figures} of {} of the devices of each {name} together{width} over {window}",
                    counted(signals)
                )
            }
            Self::NewestBuckets { signals, aggregates, devices, width, buckets } => {
                let (figures, signals) = (listed(aggregates), counted(signals));
                let width = length(*width);
                write!(f, "{figures} of {signals} of {devices} together in the newest {buckets} buckets of {width}")
            }
            Self::Filled { of, fill } => write!(f, "{of}, filled ({fill})"),
            Self::Having { of, predicate, at_least: None, per, .. } => {
                let per = per.as_ref().map_or(String::new(), |(_, name)| format!(" times their {name}"));
                write!(f, "{of}: those {}{per}", condition(*predicate))
            }
            Self::Having { of, predicate, at_least: Some(least), .. } => {
                write!(f, "how many are {}, where at least {least} are: {of}", condition(*predicate))
            }
            Self::Where { of, predicate, indicator, .. } => {
                let what = if *indicator { "as 1 where a signal is" } else { "where a signal is" };
                write!(f, "{of}, {what} {}", condition(*predicate))
            }
            Self::Descending { of } => write!(f, "{of}, newest first"),
            Self::Rollup { of, rollup, by } => {
                let by = if by.is_empty() { "device".into() } else { by.join(" and ") };
                let every = rollup.every.map_or(String::new(), |every| format!(" and {}", length(every)));
                write!(f, "the {} of {} by {by}{every}: {of}", rollup.figure, items(rollup.items))
            }
            Self::TopDevices { aggregate, count, devices, window_ns, .. } => {
                let window = Span(Duration::from_nanos(*window_ns));
                write!(f, "the {count} of {devices} with the greatest {aggregate} of a signal over {window}")
            }
            Self::Consecutive { what, devices, window_ns, .. } => {
                let window = Span(Duration::from_nanos(*window_ns));
                write!(f, "{} of a signal of {devices} over {window}", between(*what))
            }
            Self::Dashboard { signals, window_ns } => {
                let window = Span(Duration::from_nanos(*window_ns));
                write!(f, "last, least, mean and greatest of {} over the newest {window}", counted(signals))
            }
            Self::Statement(own) => {
                let writes = if own.statement.writes() { ", which writes" } else { "" };
                write!(f, "what you wrote{writes}, over {}", Span(Duration::from_nanos(own.window_ns)))
            }
        }
    }
}

fn counted(signals: &[SignalId]) -> String {
    if signals.len() == 1 { "1 signal".into() } else { format!("{} signals", signals.len()) }
}

fn condition(predicate: Predicate) -> String {
    match predicate {
        Predicate::Above(limit) => format!("above {limit}"),
        Predicate::Below(limit) => format!("below {limit}"),
    }
}

/// What is asked about consecutive values.
fn between(what: Consecutive) -> String {
    match what {
        Consecutive::Gaps { longer_than_ns } => {
            format!("the gaps longer than {} between the values", Span(Duration::from_nanos(longer_than_ns)))
        }
        Consecutive::TimeWeightedMean => "the time-weighted mean".into(),
        Consecutive::Differences { per_ns: None } => "the differences between the values".into(),
        Consecutive::Differences { per_ns: Some(per_ns) } => {
            format!("the changes per {} between the values", Span(Duration::from_nanos(per_ns.get())))
        }
    }
}

/// What comes together.
fn items(items: Items) -> String {
    match items {
        Items::Figures { .. } => "figures".into(),
        Items::Counts { predicate, each } => {
            let each = each.map_or(String::new(), |each| format!(" in each {}", length(each)));
            format!("counts of buckets {}{each}", condition(predicate))
        }
        Items::Runs { predicate } => format!("lengths of stretches of buckets {}", condition(predicate)),
        Items::Values { .. } => "all values".into(),
    }
}

fn listed(aggregates: &[Aggregate]) -> String {
    aggregates.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn length(width: BucketWidth) -> Span {
    Span(Duration::from_nanos(width.as_ns().unsigned_abs()))
}
