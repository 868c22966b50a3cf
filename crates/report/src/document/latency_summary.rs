//! The figures of one distribution of durations, in microseconds, and what is known of each.

use super::rounding::{mean_us, us};
use base64::{Engine, prelude::BASE64_STANDARD};
use iotbench_recorder::{Bounded, LatencyHistogram, Level, OwnDelayRange, Quantile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The figures of one distribution, in microseconds. Of durations that were not seen to their end, because operations had no
/// answer or were never started, none is a figure of the others alone: a figure on which they bear is null, and `at_least` has
/// its lower bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
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

impl From<&LatencyHistogram> for LatencySummary {
    fn from(histogram: &LatencyHistogram) -> Self {
        Self::from(&Bounded::from(histogram))
    }
}

/// The quantiles that are given, by their names in the document.
const LEVELS: [(&str, Level); 5] =
    [("p50", Level::P50), ("p90", Level::P90), ("p95", Level::P95), ("p99", Level::P99), ("p999", Level::P999)];

impl From<&Bounded> for LatencySummary {
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

impl LatencySummary {
    /// Figures of response times, and ranges where the client's own delay matters. `undelayed`: the same without it; it holds
    /// fewer where that is not known.
    pub(super) fn with_own_delay(response: &Bounded, undelayed: &Bounded) -> Self {
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
