//! The client's own honesty.

use super::{
    latency_summary::lack,
    rounding::{ms, rounded, us},
};
use iotbench_recorder::{LatencyHistogram, Summary};
use iotbench_sampler as sampler;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The client's own honesty: how far the figures can be its fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// How late operations were sent after they were due and a connection was free, in the measured part; without one, in all.
    pub pacing_error_us: PacingError,
    /// The longest stretches in which the client could not run, in the order of time: of the measured part, of a search of
    /// all its steps; null: an earlier version that did not look, or a run that was killed.
    #[serde(default)]
    pub hiccups: Option<Vec<Hiccup>>,
    /// How many there were; null: as before.
    #[serde(default)]
    pub hiccup_count: Option<u64>,
    /// For how long the client could not run, in the mean over all its stall detectors, in milliseconds; null: as before.
    #[serde(default)]
    pub stalled_ms: Option<f64>,
    /// How late the client's stall detectors woke over the whole load; null: as before.
    #[serde(default)]
    pub lateness: Option<WatchLateness>,
    /// CPU of the client in percent of one core, an embedded database included; null: not known.
    pub cpu_pct: Option<f64>,
    /// CPU of the client in the measured part, in cores; null: not looked at, because the database shares the process.
    #[serde(default)]
    pub cores: Option<f64>,
    /// The cores that it may use, by its affinity and the quotas of its cgroups; null: as before.
    #[serde(default)]
    pub cores_allowed: Option<f64>,
    /// CPU of the busiest thread that makes load, in percent of one core; null: as before, or not known.
    #[serde(default)]
    pub busiest_thread_pct: Option<f64>,
    /// CPU of the sampling of resources in percent of one core.
    pub sampler_cpu_pct: Option<f64>,
    /// The most operations a second that this client makes of these writes on a backend that does nothing; null: not
    /// measured.
    #[serde(default)]
    pub ceiling_per_s: Option<f64>,
    /// The operations acknowledged a second over that; null: not measured.
    pub ceiling_ratio: Option<f64>,
    /// Why processor and ceiling are not held against the result; null: they are.
    #[serde(default)]
    pub exempt: Option<String>,
    /// Measurements that were lost; null: not known of a run that was killed.
    pub samples_dropped: Option<u64>,
}

/// A stretch in which the client could not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hiccup {
    /// When it began, in seconds since the load's start.
    pub at_s: f64,
    /// How long it took.
    pub length_ms: f64,
    /// For how long the client could not run, in the mean over all its stall detectors: one of two that was late counts by half.
    pub stalled_ms: f64,
    /// Why: `stopped`, `cpu_quota`, `steal`, `run_queue` or `unknown`.
    pub cause: String,
}

/// How late threads woke that do nothing but sleep for a millisecond.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchLateness {
    /// How often they woke.
    pub ticks: u64,
    /// By how much at the most.
    pub max_ms: f64,
    /// How often by at least so much.
    pub late: Vec<LateTicks>,
    /// Their CPU in percent of one core.
    pub cpu_pct: Option<f64>,
}

/// How often a thread woke late.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LateTicks {
    /// By at least so much.
    pub at_least_ms: u64,
    /// So often.
    pub ticks: u64,
}

/// How late operations were sent, in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PacingError {
    /// Operations measured.
    pub count: u64,
    /// Median; null when the sample does not support it.
    pub p50: Option<f64>,
    /// 99th percentile; null when the sample does not support it.
    pub p99: Option<f64>,
    /// The greatest.
    pub max: Option<f64>,
    /// Why quantiles are null.
    pub unsupported: BTreeMap<String, String>,
}

impl From<&sampler::Hiccup> for Hiccup {
    fn from(hiccup: &sampler::Hiccup) -> Self {
        Self {
            at_s: ms(hiccup.from) / 1e3,
            length_ms: ms(hiccup.length),
            stalled_ms: ms(hiccup.stalled),
            cause: hiccup.cause.name().into(),
        }
    }
}

impl From<&sampler::Lateness> for WatchLateness {
    fn from(lateness: &sampler::Lateness) -> Self {
        let late = sampler::Lateness::AT_LEAST_MS.into_iter().zip(lateness.late);
        Self {
            ticks: lateness.ticks,
            max_ms: ms(lateness.max),
            late: late.map(|(at_least_ms, ticks)| LateTicks { at_least_ms, ticks }).collect(),
            cpu_pct: rounded(lateness.cpu_pct),
        }
    }
}

impl Client {
    /// What only the process knew that was killed is not known.
    pub(crate) fn forget_what_was_lost(&mut self) {
        (self.hiccups, self.hiccup_count, self.stalled_ms, self.lateness) = (None, None, None, None);
        (self.sampler_cpu_pct, self.samples_dropped) = (None, None);
    }
}

impl From<&LatencyHistogram> for PacingError {
    fn from(histogram: &LatencyHistogram) -> Self {
        let summary = Summary::from(histogram);
        let quantiles = [("p50", summary.p50), ("p99", summary.p99)];
        Self {
            count: summary.count,
            p50: summary.p50.ns().map(us),
            p99: summary.p99.ns().map(us),
            max: summary.max_ns.map(us),
            unsupported: quantiles.iter().filter_map(|&(name, q)| Some((name.into(), lack(q, 0)?))).collect(),
        }
    }
}
