//! How long operations took. All figures are microseconds.

use super::{mean_us, us};
use base64::{Engine, prelude::BASE64_STANDARD};
use iotbench_recorder::{KindRecording, LatencyHistogram, Level, Quantile, Recording, ResponseBounds, Summary};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How long operations of the measured part took. Successes, failures and operations without a verdict are kept apart:
/// no failure, however fast, improves the figures of what succeeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Successful operations: what a user waits for.
    pub by_operation: Durations,
    /// Successful requests: what the database is asked.
    pub by_request: Durations,
    /// Operations that failed; null without any.
    pub failed: Option<Durations>,
    /// Operations without a verdict, up to the moment they were given up; null without any.
    pub unknown: Option<Durations>,
    /// Response times of the successes together with how long the unanswered operations have waited: lower bounds. Null
    /// when all were answered.
    pub response_at_least: Option<Figures>,
    /// Mean absolute difference of the response times of successive successes.
    pub jitter: Option<f64>,
    /// The same by kind of operation.
    pub kinds: Vec<KindLatency>,
}

/// How long operations of one kind took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindLatency {
    /// The kind's name.
    pub name: String,
    /// Successful operations.
    pub by_operation: Durations,
    /// Successful requests.
    pub by_request: Durations,
    /// The busy time of successful operations: their service time without the pauses between requests, so begin, requests
    /// and commit. Null where operations do not pause.
    #[serde(default)]
    pub busy: Option<Figures>,
}

/// The three durations; response = lag + service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Durations {
    /// From the intended start to the last reply: what a user waits.
    pub response: Figures,
    /// From the send to the last reply: what the database takes.
    pub service: Figures,
    /// From the intended start to the send.
    pub lag: Figures,
}

/// The figures of one distribution, in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Durations recorded, overflow included.
    pub count: u64,
    /// Durations above 24 h: they count, without a value.
    pub overflow: u64,
    /// The exact least.
    pub min: Option<f64>,
    /// The exact mean.
    pub mean: Option<f64>,
    /// The exact greatest.
    pub max: Option<f64>,
    /// Standard deviation.
    pub std_dev: Option<f64>,
    /// Median, like all quantiles with an error of at most 0.1 %; null when the sample does not support it.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// 95 % confidence interval of each supported quantile, for independent samples.
    pub ci95: BTreeMap<String, Interval>,
    /// Why the other quantiles are null.
    pub unsupported: BTreeMap<String, String>,
    /// The distribution: HdrHistogram V2 with deflate, in base64. Its values are nanoseconds. Null when empty.
    pub hdr: Option<String>,
}

/// An interval in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its lower end.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
}

impl From<&Recording> for Latency {
    fn from(recording: &Recording) -> Self {
        let pooled = recording.pooled();
        let operations = pooled.by_operation();
        Self {
            by_operation: Durations::from(operations.ok()),
            by_request: Durations::from(pooled.by_request().ok()),
            failed: operations.fail().map(Durations::from),
            unknown: operations.unknown().map(Durations::from),
            response_at_least: pooled.censored().map(|_| Figures::from(&pooled.response_with_censored())),
            jitter: pooled.jitter().mean_ns().and_then(mean_us),
            kinds: recording
                .kinds()
                .iter()
                .enumerate()
                .map(|(index, kind)| KindLatency::new(&kind.name, recording.kind(index)))
                .collect(),
        }
    }
}

impl KindLatency {
    fn new(name: &str, kind: &KindRecording) -> Self {
        Self {
            name: name.into(),
            by_operation: Durations::from(kind.by_operation().ok()),
            by_request: Durations::from(kind.by_request().ok()),
            busy: kind.busy().map(Figures::from),
        }
    }
}

impl From<&iotbench_recorder::Latency> for Durations {
    fn from(latency: &iotbench_recorder::Latency) -> Self {
        Self {
            response: Figures::from(latency.response()),
            service: Figures::from(latency.service()),
            lag: Figures::from(latency.lag()),
        }
    }
}

impl From<&LatencyHistogram> for Figures {
    fn from(histogram: &LatencyHistogram) -> Self {
        let summary = Summary::from(histogram);
        let quantiles = [
            ("p50", summary.p50),
            ("p90", summary.p90),
            ("p95", summary.p95),
            ("p99", summary.p99),
            ("p999", summary.p999),
        ];
        let value = |quantile: Quantile| quantile.ns().map(us);
        Self {
            count: summary.count,
            overflow: summary.overflow,
            min: summary.min_ns.map(us),
            mean: summary.mean_ns.and_then(mean_us),
            max: summary.max_ns.map(us),
            std_dev: summary.std_dev_ns.and_then(mean_us),
            p50: value(summary.p50),
            p90: value(summary.p90),
            p95: value(summary.p95),
            p99: value(summary.p99),
            p999: value(summary.p999),
            ci95: quantiles.iter().filter_map(|&(name, q)| Some((name.into(), interval(q)?))).collect(),
            unsupported: quantiles.iter().filter_map(|&(name, q)| Some((name.into(), lack(q)?))).collect(),
            hdr: (!histogram.is_empty())
                .then(|| histogram.to_v2_deflate().ok())
                .flatten()
                .map(|bytes| BASE64_STANDARD.encode(bytes)),
        }
    }
}

impl Figures {
    /// Of durations of which others, `at_least`, are only known to have lasted at least so long: a quantile is given where these
    /// do not matter, a mean is not. With them stand the figures of all at their least, which are lower bounds.
    pub(super) fn with_bounds(known: &LatencyHistogram, at_least: &LatencyHistogram) -> (Self, Option<Self>) {
        let figures = Self::from(known);
        if at_least.is_empty() {
            return (figures, None);
        }
        let mut all = known.clone();
        all.merge(at_least);
        let bounds = Self::from(&all);
        let is_known = |level| ResponseBounds::of(known, &all, level).is_some_and(|bounds| bounds.is_known());
        let why = format!("of {} of {} durations only a lower bound is known", at_least.count(), all.count());
        let mut unsupported = bounds.unsupported.clone();
        let mut quantile = |name: &str, level, value: Option<f64>| {
            let value = value.filter(|_| is_known(level));
            if value.is_none() {
                unsupported.entry(name.into()).or_insert_with(|| why.clone());
            }
            value
        };
        let known = Self {
            mean: None,
            max: None,
            std_dev: None,
            p50: quantile("p50", Level::P50, bounds.p50),
            p90: quantile("p90", Level::P90, bounds.p90),
            p95: quantile("p95", Level::P95, bounds.p95),
            p99: quantile("p99", Level::P99, bounds.p99),
            p999: quantile("p999", Level::P999, bounds.p999),
            ci95: BTreeMap::new(),
            unsupported,
            ..figures
        };
        (known, Some(bounds))
    }

    /// The distribution in `hdr`, to be merged with others or asked for other quantiles; `None` when there is none or it
    /// is damaged.
    #[must_use]
    pub fn histogram(&self) -> Option<LatencyHistogram> {
        let bytes = BASE64_STANDARD.decode(self.hdr.as_deref()?).ok()?;
        LatencyHistogram::from_v2_deflate(&bytes).ok()
    }
}

fn interval(quantile: Quantile) -> Option<Interval> {
    match quantile {
        Quantile::Value { ci_low_ns, ci_high_ns, .. } => {
            Some(Interval { low: Some(us(ci_low_ns)), high: Some(us(ci_high_ns)) })
        }
        Quantile::Unsupported { .. } => None,
    }
}

/// Why a quantile is not given.
pub(super) fn lack(quantile: Quantile) -> Option<String> {
    match quantile {
        Quantile::Value { .. } => None,
        Quantile::Unsupported { needed, have } => Some(format!("needs {needed} samples, has {have}")),
    }
}
