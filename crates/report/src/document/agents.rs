//! What each agent did of a load that several made.

use super::LatencySummary;
use iotbench_recorder::LoadCounts;
use serde::{Deserialize, Serialize};

/// One agent's part of a load. Its figures are of the measured part, and in the figures of the run already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// The first of its devices.
    pub first_device: u32,
    /// How many devices it had.
    pub devices: u32,
    /// Why it was lost; null: it told all that it did.
    pub lost: Option<String>,
    /// Its operations by their fate.
    pub operations: LoadCounts,
    /// Datapoints acknowledged to it over the whole run.
    pub points_acked: u64,
    /// Its operations that did not fail, from the intended start to the last reply, by its own clock.
    pub response: LatencySummary,
    /// Its CPU, in cores; null: not known, as of one that was lost.
    pub cores: Option<f64>,
    /// The cores that it may use, by its affinity and the quotas of its cgroups; null: as before.
    pub cores_allowed: Option<f64>,
    /// CPU of its busiest thread that makes load, in percent of one core; null: as before.
    pub busiest_thread_pct: Option<f64>,
    /// How often it could not run; null: as before.
    pub hiccup_count: Option<u64>,
    /// For how long, in milliseconds; null: as before.
    pub stalled_ms: Option<f64>,
    /// How far its clock may be from what it was taken for, in microseconds.
    pub clock_uncertainty_us: f64,
    /// By how much its clock and the coordinator's drifted apart, at the least, in microseconds.
    pub clock_drift_us: f64,
    /// How far from the common start it may have begun, in microseconds; null: its clock is not known within
    /// `clock_limit_us`.
    pub start_skew_us: Option<f64>,
    /// The uncertainty above which nothing is told that two machines' clocks would have to tell, in microseconds.
    pub clock_limit_us: f64,
}
