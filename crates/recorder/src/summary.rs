//! The figures that are printed of a histogram.

use crate::histogram::LatencyHistogram;
use crate::quantile::{Level, Quantile};

/// The figures that are printed of a histogram, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Durations recorded, overflow included.
    pub count: u64,
    /// Durations above [`HIGHEST_NS`](crate::HIGHEST_NS), kept by count only.
    pub overflow: u64,
    /// Exact minimum; `None` when empty.
    pub min_ns: Option<u64>,
    /// Mean from the exact sum; `None` when empty.
    pub mean_ns: Option<f64>,
    /// Exact maximum; `None` when empty.
    pub max_ns: Option<u64>,
    /// Standard deviation of the sample; `None` below two durations.
    pub std_dev_ns: Option<f64>,
    /// Median.
    pub p50: Quantile,
    /// 90th percentile.
    pub p90: Quantile,
    /// 95th percentile.
    pub p95: Quantile,
    /// 99th percentile.
    pub p99: Quantile,
    /// 99.9th percentile.
    pub p999: Quantile,
}

impl From<&LatencyHistogram> for Summary {
    fn from(histogram: &LatencyHistogram) -> Self {
        Self {
            count: histogram.count(),
            overflow: histogram.overflow(),
            min_ns: histogram.min_ns(),
            mean_ns: histogram.mean_ns(),
            max_ns: histogram.max_ns(),
            std_dev_ns: histogram.std_dev_ns(),
            p50: histogram.quantile(Level::P50),
            p90: histogram.quantile(Level::P90),
            p95: histogram.quantile(Level::P95),
            p99: histogram.quantile(Level::P99),
            p999: histogram.quantile(Level::P999),
        }
    }
}
