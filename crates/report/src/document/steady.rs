//! Whether the load had settled, and how exact its means are.

use super::Interval;
use serde::{Deserialize, Serialize};

/// How steady a fixed load was, by the whole seconds of its measured part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// How many whole seconds there are.
    pub seconds: u64,
    /// Whether throughput and mean response time kept their levels; null: not judged, for which 100 seconds are needed.
    pub is_steady: Option<bool>,
    /// Seconds at the beginning that were still warm-up, by whichever of the two took longer; null: not judged.
    pub warm_up_s: Option<u64>,
    /// Operations acknowledged a second.
    pub operations_per_s: SteadyFigure,
    /// The mean response time of acknowledged operations, in microseconds; null: none was acknowledged.
    pub response_us: Option<SteadyFigure>,
}

/// A mean over the seconds that are left when its warm-up is cut off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyFigure {
    /// Seconds at the beginning that were cut off as warm-up, by MSER-5; null: not judged.
    pub warm_up_s: Option<u64>,
    /// What it did after them: steady, never_settled, drifting or jumped; null: not judged.
    pub state: Option<String>,
    /// By how much it drifted from one end to the other, or jumped, in percent; null where it did neither.
    pub change_pct: Option<f64>,
    /// When it jumped, in seconds since the run's start; null where it did not.
    pub jumped_at_s: Option<f64>,
    /// The mean over all seconds.
    pub mean_of_all: Option<f64>,
    /// The mean over the seconds after the warm-up.
    pub mean: Option<f64>,
    /// That mean's 95 % confidence interval by batch means; null: the seconds do not support one.
    pub ci95: Option<Interval>,
    /// As many independent seconds would tell as much of the mean.
    pub effective_seconds: Option<f64>,
}

impl SteadyFigure {
    /// Half the length of the interval in percent of the mean.
    pub(crate) fn half_width_pct(&self) -> Option<f64> {
        let interval = self.ci95.as_ref()?;
        let mean = self.mean.filter(|&mean| mean > 0.0)?;
        Some((interval.high? - interval.low?) / 2.0 / mean * 100.0)
    }
}
