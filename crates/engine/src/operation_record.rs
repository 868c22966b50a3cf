//! An operation of the trace.

use iotbench_recorder::Timing;
use serde::Serialize;

/// An operation of the trace.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OperationRecord {
    /// Its group's place in the plan.
    pub group: u16,
    /// Its place among the group's operations.
    pub operation: u16,
    /// Whose it was.
    pub user: u32,
    /// When it was intended, sent and answered.
    #[serde(skip)]
    pub timing: Timing,
    /// How it ended: `ok`, `fail` or `unknown`.
    pub outcome: &'static str,
    /// How many datapoints it carried.
    pub points: u32,
}
