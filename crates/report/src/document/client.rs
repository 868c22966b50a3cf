//! The client's own honesty.

use super::{latency::lack, rounded, us};
use iotbench_engine::Outcome;
use iotbench_recorder::{LatencyHistogram, Summary};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The client's own honesty: how far the figures can be its fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// How late operations were sent although a connection was free.
    pub pacing_error_us: PacingError,
    /// Stretches in which the client stood still; always null in this version: not measured.
    pub hiccups: (),
    /// CPU of the client in percent of one core, an embedded database included; null: not known.
    pub cpu_pct: Option<f64>,
    /// CPU of the sampling of resources in percent of one core.
    pub sampler_cpu_pct: Option<f64>,
    /// The load over the greatest that this client can make; always null in this version: not measured.
    pub ceiling_ratio: (),
    /// Measurements that were lost.
    pub samples_dropped: u64,
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

impl Client {
    pub(super) fn new(outcome: &Outcome) -> Self {
        Self {
            pacing_error_us: PacingError::from(&outcome.client.pacing_error),
            hiccups: (),
            cpu_pct: outcome.client.cpu_pct.and_then(rounded),
            sampler_cpu_pct: rounded(outcome.sampler_cpu_pct),
            ceiling_ratio: (),
            samples_dropped: outcome.client.samples_dropped,
        }
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
            unsupported: quantiles.iter().filter_map(|&(name, q)| Some((name.into(), lack(q)?))).collect(),
        }
    }
}
