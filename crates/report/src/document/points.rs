//! Datapoints by their fate, and what they take on disk.

use iotbench_recorder::PointCounts;
use serde::{Deserialize, Serialize};

/// Datapoints of the whole run, warm-up included, preload not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Points {
    /// What became of them.
    #[serde(flatten)]
    pub counts: PointCounts,
    /// Written before the run: no term of a sum.
    pub preloaded: u64,
    /// Found in the database at the end, and each time before it was emptied for the next step of a ramp, preloaded ones
    /// included; null: not counted.
    pub stored: Option<u64>,
    /// Values of those; null: not counted.
    pub stored_values: Option<u64>,
    /// Acknowledged sends of datapoints that had been acknowledged before, preloaded ones included, where the database keeps one of the
    /// two: no term of a sum.
    #[serde(default)]
    pub replaced: u64,
    /// What a comparison value by value found; always null in this version.
    pub verified: (),
}

impl Points {
    /// Acknowledged datapoints, preloaded ones included, that the database does not hold; null: not counted.
    #[must_use]
    pub fn lost(&self) -> Option<u64> {
        self.stored.map(|stored| self.to_be_stored().saturating_sub(stored))
    }

    /// Acknowledged datapoints, preloaded ones included, each as often as the database keeps it.
    #[must_use]
    pub fn to_be_stored(&self) -> u64 {
        (self.counts.acked + self.preloaded).saturating_sub(self.replaced)
    }
}

/// Bytes on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Storage {
    /// Before anything was written; null: not known.
    pub bytes_before: Option<u64>,
    /// At the end; null: not known.
    pub bytes_after: Option<u64>,
    /// The growth over the acknowledged datapoints that were not dropped between steps, preloaded ones included; null when one
    /// of them is not known, there are none, or statements changed what is stored.
    pub bytes_per_point: Option<f64>,
    /// How long the system took to write what waited for the disk when the measured part had ended, in seconds; null: it was
    /// not waited for.
    #[serde(default)]
    pub write_back_s: Option<f64>,
}
