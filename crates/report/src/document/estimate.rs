//! Where the limit of a search lies by the trials near it.

use serde::{Deserialize, Serialize};

/// The load that half of the trials sustain, with its interval, which is that of this sitting alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The load.
    pub load: Option<f64>,
    /// The lower end of its 90 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// How it was told.
    pub method: EstimateMethod,
    /// The standard deviation of the limit from trial to trial, as a part of it.
    pub spread: Option<f64>,
    /// Trials near the limit that it rests on.
    pub trials: u32,
    /// Sentinels that were sustained: trials of a load that is known to be.
    pub sentinels_sustained: u64,
    /// Sentinels that were not.
    pub sentinels_failed: u64,
    /// That the limit moved while it was searched for; null: it was not seen to.
    pub moved: Option<LimitMove>,
    /// The loads some of whose trials passed although a smaller load failed, or failed although a greater one passed.
    pub grey_zone: Vec<LoadTrials>,
}

/// How the limit was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EstimateMethod {
    /// From how far each trial was from its limit.
    Crossing,
    /// From which trials passed and which failed.
    Threshold,
}

/// The limit from one level to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitMove {
    /// The trial, from 1, with which the new level begins.
    pub at_trial: u32,
    /// The limit before it; null: too few trials tell it.
    pub before: Option<f64>,
    /// The limit from it on; null: too few trials tell it.
    pub after: Option<f64>,
}

/// The trials of a load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadTrials {
    /// The load.
    pub load: u32,
    /// Trials that sustained it.
    pub sustained: u64,
    /// Trials that did not.
    pub failed: u64,
}
