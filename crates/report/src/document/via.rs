//! What a broker between devices and writers carried.

use super::LatencySummary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A broker between devices and writers, and what became of its messages: published = delivered + lost. A message carries an
/// operation. Counts are of the whole run, stages of its measured part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Via {
    /// The protocol: `mqtt`.
    pub protocol: String,
    /// Where the broker is, without secrets.
    pub address: String,
    /// What it says of itself; null: nothing.
    pub version: Option<String>,
    /// What was asked of it: `qos`, `payload`, and settings of a private one.
    pub settings: BTreeMap<String, String>,
    /// Messages that devices handed over.
    pub published: u64,
    /// Those that the broker acknowledged to its publisher; null: with QoS 0 it acknowledges none.
    pub acknowledged: Option<u64>,
    /// Messages that a writer got, each counted once.
    pub delivered: u64,
    /// Messages that no writer got.
    pub lost: u64,
    /// Delivered over published; null: nothing was published.
    pub delivered_fraction: Option<f64>,
    /// Messages that came again: they were not written again.
    pub duplicates: u64,
    /// Delivered messages that came after a later one of their device.
    pub reordered: u64,
    /// Messages so far behind that they could be duplicates: they were not written, and are among the lost.
    pub too_late: u64,
    /// Messages on the run's topics that were none of its own.
    pub foreign: u64,
    /// Messages that the broker says it has dropped in the run, of whomever; null: it does not say.
    pub dropped_by_broker: Option<u64>,
    /// Messages that a device could not hand over at once, because as many were under way as may be.
    pub held_back: u64,
    /// How long they waited together, in seconds.
    pub held_back_s: f64,
    /// Messages that could not be handed to a writer at once, because as many waited as may.
    pub backlogged: u64,
    /// How long they waited together, in seconds.
    pub backlogged_s: f64,
    /// How long messages took, in microseconds.
    pub stages: Stages,
}

/// How long messages took, stage by stage, in microseconds. Publish, broker and queue follow each other from an operation's
/// intended start to its send to the database; from there on it is the service time, and all together the response time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stages {
    /// From the intended start until the device handed the message over.
    pub publish: LatencySummary,
    /// From there until it was received.
    pub broker: LatencySummary,
    /// From there until a writer had a free connection for it.
    pub queue: LatencySummary,
    /// From the handing over until the broker's acknowledgement to the device, over the whole run: beside the others, no
    /// stage. Null: with QoS 0 there is none.
    pub acknowledgement: Option<LatencySummary>,
}
