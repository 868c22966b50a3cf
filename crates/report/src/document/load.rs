//! The load and the fate of its operations.

use iotbench_recorder::LoadCounts;
use serde::{Deserialize, Serialize};

/// The load and the fate of its operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// What decides when operations start: `closed`, `open (constant)`, `open (poisson)`, the same
    /// `partly open`, `paced`, `interval`, joined by ` + ` where groups differ.
    pub model: String,
    /// Who does what.
    pub groups: Vec<Group>,
    /// What became of its operations.
    #[serde(flatten)]
    pub counts: LoadCounts,
}

/// Virtual users or sensors that do the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its load model.
    pub model: String,
    /// What a request of its first operation carries: a number of datapoints, `second` or `since_last`; `none` where it
    /// reads.
    pub datapoints: String,
    /// What its users do.
    #[serde(default)]
    pub operations: Vec<Operation>,
    /// Closed: virtual users; with a ramp, of its first step.
    pub users: Option<u32>,
    /// Closed and partly open: from an answer to the next start, in milliseconds.
    pub think_ms: Option<f64>,
    /// Open: operations a second; partly open: sessions a second; paced: datapoints a second and device.
    pub rate_per_s: Option<f64>,
    /// Partly open: how many operations a session has in the mean.
    #[serde(default)]
    pub session_operations: Option<f64>,
    /// How the load changes with time, in words: of an open loop `rate_per_s` is the mean then, of a closed one `users` are those
    /// of the peak; null: it does not.
    #[serde(default)]
    pub shape: Option<String>,
    /// Interval: devices that report; with a ramp, in its first step.
    #[serde(default)]
    pub devices: Option<u32>,
    /// Interval: from one report of a device to its next, in seconds.
    #[serde(default)]
    pub interval_s: Option<f64>,
    /// Interval: within how much of it, from its beginning, all reports arrive, in seconds.
    #[serde(default)]
    pub window_s: Option<f64>,
    /// Connections that it shares.
    pub connections: u32,
}

/// One thing that the users of a group do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// Its name, as in the latencies by kind.
    pub name: String,
    /// Its part of the group's operations, relative to the others.
    pub share: Option<f64>,
    /// What a request asks; null: it writes.
    #[serde(default)]
    pub asks: Option<String>,
    /// What a request carries of each device: a number of datapoints, `second` or `since_last`; `none` where it reads.
    pub datapoints: String,
    /// Devices in a request.
    pub devices: u32,
    /// Requests in the operation.
    pub requests: u32,
    /// From the answer of a request to the next, in milliseconds.
    pub pause_ms: f64,
    /// Whether the requests are one transaction.
    pub transaction: bool,
}
