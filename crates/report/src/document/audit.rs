//! What is stored, read back and held against the ledger.

use serde::{Deserialize, Serialize};

/// What is stored at the end, datapoint by datapoint, held against the ledger and against what the simulator recomputes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// How much was read back: `sample` or `full`.
    pub scope: String,
    /// Devices that were looked at, in whole or in part.
    pub devices: u32,
    /// Devices that there are.
    pub of_devices: u32,
    /// Datapoints that were read.
    pub rows: u64,
    /// Acknowledged, and stored once and as they were sent.
    pub right: u64,
    /// Acknowledged, and not stored.
    pub lost: u64,
    /// Stored more than once, each of the others; null: the database can hold no second datapoint of a device and time.
    pub duplicate: Option<u64>,
    /// Stored with another value, or without one.
    pub corrupt: u64,
    /// Stored, and never sent: of another time or device, beside the right one of its time, or refused and yet there.
    pub alien: u64,
    /// Sent and never answered, and stored.
    pub unknown_stored: u64,
    /// Sent and never answered, and not stored.
    pub unknown_not_stored: u64,
    /// What would have been found with 95 %, had it been there; null: all was looked at, or something was found.
    #[serde(default)]
    pub detectable: Option<Detectable>,
    /// Whether the run came to its end. Of one that was killed, whatever was reserved ahead counts as unknown.
    pub ended: bool,
    /// Why not all was looked at that was to be looked at; null: it was.
    pub cut_short: Option<String>,
    /// Stored datapoints as a part of all that were due, where transport or sensors may lose some; else null.
    pub delivered: Option<f64>,
    /// The first stretches of each kind, at most five.
    pub examples: Vec<AuditExample>,
    /// What is stored of the devices' tags; null: they have none.
    #[serde(default)]
    pub tags: Option<TagAudit>,
}

/// What is stored of the devices' tags, held against those that they have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagAudit {
    /// Where they were read: `table of devices`, or `beside datapoints`; null: the database does not tell them.
    pub kept: Option<String>,
    /// Devices whose tags were asked for.
    pub asked: u32,
    /// Devices of which each tag is stored with its value.
    pub right: u32,
    /// Devices with a tag that has another value, or none.
    pub wrong: u64,
    /// Devices without a row in the table of devices.
    pub missing: u64,
    /// Rows in the table of devices of devices that there are not, or more than one of a device.
    pub alien: u64,
    /// The first of each kind, at most five.
    pub examples: Vec<TagExample>,
}

/// A device whose tags are not as they should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagExample {
    /// `wrong`, `missing` or `alien`.
    pub kind: String,
    /// Whose.
    pub device: u32,
    /// How, where the kind does not say it.
    pub detail: String,
}

/// The least parts of which a sample would have shown at least one with a probability of 95 %.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detectable {
    /// Of all datapoints, had the wrong ones lain anywhere.
    pub part_of_points: Option<f64>,
    /// Of all devices, had all datapoints of a wrong one been wrong; null: all devices were looked at.
    pub part_of_devices: Option<f64>,
}

/// Datapoints of one kind that follow each other on one device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditExample {
    /// `lost`, `duplicate`, `corrupt`, `alien`, `unknown, stored` or `unknown, not stored`.
    pub kind: String,
    /// Whose; null: no device of the run's.
    pub device: Option<u32>,
    /// The time of the first, RFC 3339; null: not known.
    pub from: Option<String>,
    /// The time of the last; null: not known.
    pub to: Option<String>,
    /// How many.
    pub points: u64,
    /// How the first of them differs, where its kind does not say it.
    pub detail: String,
}

impl Audit {
    /// Datapoints that are wrong, those that are lost among them.
    #[must_use]
    pub fn wrong(&self) -> u64 {
        self.lost + self.duplicate.unwrap_or(0) + self.corrupt + self.alien
    }
}
