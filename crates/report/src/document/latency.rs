//! How long operations took. All figures are microseconds.

use super::{mean_us, us};
use base64::{Engine, prelude::BASE64_STANDARD};
use iotbench_recorder::{
    Bounded, ByOutcome, KindRecording, LatencyHistogram, Level, OwnDelayRange, Quantile, Recording,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How long operations of the measured part took. Successes, failures and operations without a verdict are kept apart:
/// no failure, however fast, improves the figures of what succeeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Operations that did not fail: what a user waits for.
    pub by_operation: Durations,
    /// Requests that did not fail: what the database is asked.
    pub by_request: Durations,
    /// Operations that failed; null without any.
    pub failed: Option<Durations>,
    /// Operations without a verdict, up to the moment they were given up; null without any.
    pub unknown: Option<Durations>,
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
    /// Operations that did not fail.
    pub by_operation: Durations,
    /// Requests that did not fail.
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

/// The figures of one distribution, in microseconds. Of durations that were not seen to their end, because operations had no
/// answer or were never started, none is a figure of the others alone: a figure on which they bear is null, and `at_least` has
/// its lower bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Durations that were seen to their end, overflow included.
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
    /// The distribution of those seen to their end: HdrHistogram V2 with deflate, in base64. Its values are nanoseconds. Null
    /// when empty.
    pub hdr: Option<String>,
    /// Lower bounds with those that were not; null: there are none.
    #[serde(default)]
    pub at_least: Option<AtLeast>,
    /// The figures that are null because the client's own delay is more than 5 % and more than 100 µs of them: from what they
    /// are without it to what they are with it. Of the greatest, what the client saw late because it could not run is a part.
    #[serde(default)]
    pub ranges: BTreeMap<String, Interval>,
}

/// Lower bounds of the figures of a distribution, in microseconds: with operations that had no answer at the time that they have
/// waited, and those that were never started above all others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AtLeast {
    /// Durations, those included that were not seen to their end.
    pub count: u64,
    /// Their mean is at least this.
    pub mean: Option<f64>,
    /// The greatest is.
    pub max: Option<f64>,
    /// The median is; null, like the other quantiles, when the sample does not support it.
    pub p50: Option<f64>,
    /// The 90th percentile is.
    pub p90: Option<f64>,
    /// The 95th percentile is.
    pub p95: Option<f64>,
    /// The 99th percentile is.
    pub p99: Option<f64>,
    /// The 99.9th percentile is.
    pub p999: Option<f64>,
    /// The distribution, as `hdr` of those seen to their end.
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
            by_operation: Durations::with_bounds(operations, pooled.never_started()),
            by_request: Durations::with_bounds(pooled.by_request(), pooled.never_started()),
            failed: operations.fail().map(Durations::from),
            unknown: operations.unknown().map(Durations::from),
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
            by_operation: Durations::with_bounds(kind.by_operation(), kind.never_started()),
            by_request: Durations::with_bounds(kind.by_request(), kind.never_started()),
            busy: kind.busy().map(Figures::from),
        }
    }
}

impl Durations {
    /// Of operations or requests, and of what was never started. (An operation that never was is a request that never was.)
    pub(super) fn with_bounds(by_outcome: &ByOutcome, never_started: Option<&LatencyHistogram>) -> Self {
        let (ok, unknown) = (by_outcome.ok(), by_outcome.unknown());
        Self::bounded(ok, unknown, never_started)
    }

    /// Of those that succeeded, those without an answer, and how long those that were never started have waited.
    pub(crate) fn bounded(
        ok: &iotbench_recorder::Latency,
        unknown: Option<&iotbench_recorder::Latency>,
        never_started: Option<&LatencyHistogram>,
    ) -> Self {
        type Part = fn(&iotbench_recorder::Latency) -> &LatencyHistogram;
        let of = |part: Part, never: Option<&LatencyHistogram>| {
            Figures::from(&Bounded::new(part(ok), unknown.map(part), never))
        };
        Self {
            response: Figures::with_own_delay(
                &Bounded::new(ok.response(), unknown.map(iotbench_recorder::Latency::response), never_started),
                &Bounded::new(ok.undelayed(), unknown.map(iotbench_recorder::Latency::undelayed), never_started),
            ),
            // What was never sent was never served.
            service: of(iotbench_recorder::Latency::service, None),
            lag: of(iotbench_recorder::Latency::lag, never_started),
        }
    }
}

impl From<&iotbench_recorder::Latency> for Durations {
    fn from(latency: &iotbench_recorder::Latency) -> Self {
        Self::bounded(latency, None, None)
    }
}

impl From<&LatencyHistogram> for Figures {
    fn from(histogram: &LatencyHistogram) -> Self {
        Self::from(&Bounded::from(histogram))
    }
}

/// The quantiles that are given, by their names in the document.
const LEVELS: [(&str, Level); 5] =
    [("p50", Level::P50), ("p90", Level::P90), ("p95", Level::P95), ("p99", Level::P99), ("p999", Level::P999)];

impl From<&Bounded> for Figures {
    fn from(durations: &Bounded) -> Self {
        let known = durations.known();
        let quantiles = LEVELS.map(|(name, level)| (name, durations.quantile(level)));
        let [p50, p90, p95, p99, p999] = quantiles.map(|(_, quantile)| quantile.ns().map(us));
        let std_dev_ns = known.std_dev_ns().filter(|_| durations.is_known());
        let missing = durations.count() - known.count();
        Self {
            count: known.count(),
            overflow: known.overflow(),
            min: durations.min_ns().map(us),
            mean: durations.mean_ns().and_then(mean_us),
            max: durations.max_ns().map(us),
            std_dev: std_dev_ns.and_then(mean_us),
            p50,
            p90,
            p95,
            p99,
            p999,
            ci95: quantiles.iter().filter_map(|&(name, q)| Some((name.into(), interval(q)?))).collect(),
            unsupported: quantiles.iter().filter_map(|&(name, q)| Some((name.into(), lack(q, missing)?))).collect(),
            hdr: hdr(known),
            at_least: (!durations.is_known()).then(|| AtLeast::from(durations)),
            ranges: BTreeMap::new(),
        }
    }
}

impl AtLeast {
    /// Lower bounds that hold without the client's own delay too.
    fn lower_to(&mut self, undelayed: &Self) {
        let Self { mean, max, p50, p90, p95, p99, p999, .. } = undelayed.clone();
        let own =
            [&mut self.mean, &mut self.max, &mut self.p50, &mut self.p90, &mut self.p95, &mut self.p99, &mut self.p999];
        own.into_iter().zip([mean, max, p50, p90, p95, p99, p999]).for_each(|(own, lower)| *own = lower.or(*own));
    }
}

impl From<&Bounded> for AtLeast {
    fn from(durations: &Bounded) -> Self {
        let all = durations.at_least();
        let [p50, p90, p95, p99, p999] = LEVELS.map(|(_, level)| match durations.quantile(level) {
            Quantile::Unsupported { .. } => None,
            Quantile::Value { .. } | Quantile::AtLeast { .. } => Some(us(durations.bounds(level)?.at_least_ns)),
        });
        Self {
            count: all.count(),
            mean: all.mean_ns().and_then(mean_us),
            max: all.max_ns().map(us),
            p50,
            p90,
            p95,
            p99,
            p999,
            hdr: hdr(all),
        }
    }
}

fn hdr(histogram: &LatencyHistogram) -> Option<String> {
    let bytes = (!histogram.is_empty()).then(|| histogram.to_v2_deflate().ok()).flatten();
    bytes.map(|bytes| BASE64_STANDARD.encode(bytes))
}

fn histogram(hdr: &str) -> Option<LatencyHistogram> {
    LatencyHistogram::from_v2_deflate(&BASE64_STANDARD.decode(hdr).ok()?).ok()
}

impl Figures {
    /// Figures of response times, and ranges where the client's own delay matters. `undelayed`: the same without it; it holds
    /// fewer where that is not known.
    fn with_own_delay(response: &Bounded, undelayed: &Bounded) -> Self {
        let mut figures = Self::from(response);
        let quantiles = LEVELS.map(|(name, level)| (name, response.quantile_range(undelayed, level)));
        for (name, range) in quantiles
            .into_iter()
            .chain([("mean", response.mean_range(undelayed)), ("max", response.max_range(undelayed))])
        {
            if let Some(range) = range {
                figures.give_range(name, range);
            }
        }
        if let (Some(at_least), true) = (&mut figures.at_least, response.count() == undelayed.count()) {
            at_least.lower_to(&AtLeast::from(undelayed));
        }
        figures
    }

    pub(super) fn give_range(&mut self, name: &str, OwnDelayRange { without_ns, with_ns }: OwnDelayRange) {
        let figure = match name {
            "mean" => {
                self.std_dev = None;
                &mut self.mean
            }
            "max" => &mut self.max,
            "p50" => &mut self.p50,
            "p90" => &mut self.p90,
            "p95" => &mut self.p95,
            "p99" => &mut self.p99,
            _ => &mut self.p999,
        };
        *figure = None;
        self.ci95.remove(name);
        self.ranges.insert(name.into(), Interval { low: mean_us(without_ns), high: mean_us(with_ns) });
    }

    /// Between what the figure of this name is without the client's own delay and what it is with it, where that matters.
    pub(crate) fn range(&self, name: &str) -> Option<(f64, f64)> {
        let range = self.ranges.get(name)?;
        range.low.zip(range.high)
    }

    /// The figure of this name, or the upper end of its range: what it is at most.
    pub(crate) fn at_most(&self, name: &str) -> Option<f64> {
        self.known(name).or_else(|| Some(self.range(name)?.1))
    }

    /// The figure of this name: a mean, a maximum or a quantile.
    pub(crate) fn known(&self, name: &str) -> Option<f64> {
        match name {
            "mean" => self.mean,
            "max" => self.max,
            "p50" => self.p50,
            "p90" => self.p90,
            "p95" => self.p95,
            "p99" => self.p99,
            "p999" => self.p999,
            _ => None,
        }
    }

    /// The lower bound of the figure of this name, where that is all that is known of it.
    pub(crate) fn least(&self, name: &str) -> Option<f64> {
        let at_least = self.at_least.as_ref().filter(|_| self.known(name).is_none())?;
        match name {
            "mean" => at_least.mean,
            "max" => at_least.max,
            "p50" => at_least.p50,
            "p90" => at_least.p90,
            "p95" => at_least.p95,
            "p99" => at_least.p99,
            "p999" => at_least.p999,
            _ => None,
        }
    }

    /// The distribution in `hdr`, to be merged with others or asked for other quantiles; `None` when there is none or it
    /// is damaged.
    #[must_use]
    pub fn histogram(&self) -> Option<LatencyHistogram> {
        histogram(self.hdr.as_deref()?)
    }

    /// The same with the durations that were not seen to their end.
    #[must_use]
    pub fn bounded(&self) -> Option<Bounded> {
        let Some(at_least) = &self.at_least else { return Some(Bounded::from(&self.histogram()?)) };
        let known = if self.hdr.is_some() { self.histogram()? } else { LatencyHistogram::new() };
        Bounded::from_parts(known, Some(histogram(at_least.hdr.as_deref()?)?))
    }
}

fn interval(quantile: Quantile) -> Option<Interval> {
    match quantile {
        Quantile::Value { ci_low_ns, ci_high_ns, .. } => {
            Some(Interval { low: Some(us(ci_low_ns)), high: ci_high_ns.map(us) })
        }
        Quantile::AtLeast { .. } | Quantile::Unsupported { .. } => None,
    }
}

/// Why a quantile is not given. `missing`: durations that were not seen to their end.
pub(super) fn lack(quantile: Quantile, missing: u64) -> Option<String> {
    match quantile {
        Quantile::Value { .. } => None,
        Quantile::AtLeast { .. } => Some(format!("lies among {missing} that were not seen to their end")),
        Quantile::Unsupported { needed, have } => Some(format!("needs {needed} samples, has {have}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::figure::figure_of;
    use iotbench_recorder::{OperationKind, Outcome, Payload, Recorder, Requests, Timing};

    /// 2,000 operations of 1 ms, of which 60 were sent 300 µs later than they could have been.
    fn held_up() -> Latency {
        let kinds: std::sync::Arc<[_]> = [OperationKind { name: "write".into(), requests: Requests::One }].into();
        let mut recorder = Recorder::new(std::sync::Arc::clone(&kinds));
        for number in 0..2_000_u64 {
            let (due_ns, own_ns) = (number * 1_000_000, if number < 60 { 300_000 } else { 0 });
            let sent_ns = due_ns + own_ns;
            let timing = Timing::new(due_ns, sent_ns, sent_ns + 1_000_000).unwrap().with_own_delay(own_ns);
            recorder.complete(0, Outcome::Ok, &timing, &Payload::undivided(Outcome::Ok, 1, 1, 1));
        }
        let mut all = Recording::new(kinds);
        recorder.finish().iter().for_each(|window| all.merge(window.recording()).unwrap());
        Latency::from(&all)
    }

    #[test]
    fn what_the_client_may_have_made_is_a_range_and_the_rest_a_figure() {
        let latency = held_up();
        let response = &latency.by_operation.response;
        assert!(response.p99.is_none() && response.max.is_none() && response.p50.is_some() && response.mean.is_some());
        assert_eq!(response.ranges.keys().collect::<Vec<_>>(), ["max", "p99"]);
        assert!(!response.ci95.contains_key("p99") && !response.unsupported.contains_key("p99"));
        assert_eq!(figure_of(response, "p99").replace('\u{a0}', " "), "1.00 ms to 1.30 ms");
        assert_eq!(figure_of(response, "p50").replace('\u{a0}', " "), "1.00 ms");
        assert_eq!(latency.by_request, latency.by_operation);
        assert_eq!(latency.kinds[0].by_operation.response.ranges, response.ranges);
    }
}
