//! Which datapoints were acknowledged: what a verification reads.

use iotbench_engine::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::{self, Write};

/// Name and version of the ledger's format.
const SCHEMA: &str = "iotbench-ledger/1.0";

/// The first line of a ledger: all that is needed to make the data again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerHead {
    /// The format.
    pub schema: String,
    /// The run's name.
    pub run_id: String,
    /// The seed of the data.
    pub seed: u64,
    /// The time of the first datapoint, in nanoseconds since the Unix epoch.
    pub origin_ns: i64,
    /// The dataset as in the profile.
    pub dataset: Value,
    /// Devices that exist.
    pub devices: u32,
    /// The backend's name.
    pub backend: String,
    /// The table's name.
    pub table: String,
    /// How datapoints became records.
    pub layout: String,
    /// The digest in the table's marker.
    pub marker: String,
    /// Datapoints of each device that were written before the run.
    pub preload_per_device: u64,
}

/// A further line: the datapoints `from` up to, but without, `to` of a device were acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRange {
    /// Whose.
    pub device: u32,
    /// The first index.
    pub from: u64,
    /// The index after the last.
    pub to: u64,
}

impl LedgerHead {
    fn new(outcome: &Outcome) -> serde_json::Result<Self> {
        let plan = &outcome.plan;
        Ok(Self {
            schema: SCHEMA.into(),
            run_id: plan.run_id.clone(),
            seed: plan.seed,
            origin_ns: plan.origin_ns,
            dataset: serde_json::to_value(&plan.profile.dataset)?,
            devices: plan.table.devices,
            backend: plan.backend.clone(),
            table: plan.table.name.to_string(),
            layout: plan.table.layout.name().into(),
            marker: plan.table.marker.fingerprint.clone(),
            preload_per_device: plan.phases.preload,
        })
    }
}

/// Writes the ledger, a line at a time.
pub(super) fn write(outcome: &Outcome, file: &mut dyn Write) -> io::Result<()> {
    write_line(file, &LedgerHead::new(outcome)?)?;
    outcome
        .acked
        .iter()
        .try_for_each(|(device, range)| write_line(file, &LedgerRange { device, from: range.start, to: range.end }))
}

fn write_line(file: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *file, line)?;
    file.write_all(b"\n")
}
