//! What was done to the server's processes, and what the load noticed of it.

use serde::{Deserialize, Serialize};

/// A scenario as it went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// What was done, in order.
    pub marks: Vec<ActionTaken>,
    /// The measured part before the first action.
    pub before: ScenarioPhase,
    /// From the first action until the load had recovered, or to the end.
    pub during: ScenarioPhase,
    /// After it had recovered.
    pub after: ScenarioPhase,
    /// Seconds of it in which no operation succeeded.
    pub outage_s: u64,
    /// The longest time without a success from the first action to the end of the measured part; null: nothing of it was
    /// measured, or an older iotbench had none.
    #[serde(default)]
    pub silence: Option<Silence>,
    /// The longest one before the first action.
    #[serde(default)]
    pub silence_before: Option<Silence>,
    /// From the last action until the load was back at 90 % of the median before, for three seconds at least, with no more
    /// waiting than before; null: it was not, or there was nothing to compare it with.
    pub recovery_s: Option<f64>,
    /// Acknowledged datapoints that were not stored at the end; null: they could not be counted.
    pub missing_points: Option<u64>,
}

/// A time in which no operation was acknowledged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Silence {
    /// It was at least so long.
    pub at_least_s: f64,
    /// And at most so long; null: it had not ended when the measured part did.
    pub at_most_s: Option<f64>,
}

/// An action that was carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActionTaken {
    /// What was done: `kill`, `stop`, `continue` or `restart`.
    pub action: String,
    /// To a process of this role.
    pub role: String,
    /// On this node.
    pub node: u32,
    /// When it was begun, in seconds since the load's start.
    pub from_s: Option<f64>,
    /// When it was done; a process that was restarted had been started then, and may not have answered yet. Null: it could
    /// not be done.
    pub to_s: Option<f64>,
    /// Why it could not be done.
    pub error: Option<String>,
}

/// A stretch of whole seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScenarioPhase {
    /// How many.
    pub seconds: u64,
    /// Operations acknowledged a second.
    pub operations_per_s: Option<f64>,
    /// Operations that failed or had no answer.
    pub errors: u64,
}
