//! What a ledger says of all devices, as many at once as are held in memory.

use super::auditor::{MAX_RANGES, damaged, too_scattered};
use crate::ledger::{FateRanges, Ledger};
use iotbench_core::Error;
use std::ops::Range;

/// Devices whose ranges are held at once.
pub(super) const WINDOW: u32 = 1 << 15;

/// The devices that have not been looked at.
pub struct Windows {
    left: Range<u32>,
    length: u32,
}

impl Windows {
    /// All devices of a run.
    pub fn of(devices: u32) -> Self {
        Self { left: 0..devices, length: WINDOW }
    }

    /// The next devices, and what became of their datapoints.
    ///
    /// # Errors
    /// The ledger is damaged, or what it says of one device too much to be held.
    pub fn next(&mut self, ledger: &Ledger) -> Result<Option<(Range<u32>, FateRanges)>, Error> {
        while !self.left.is_empty() {
            let window = self.left.start..self.left.end.min(self.left.start.saturating_add(self.length));
            match ledger.ranges(&|device| window.contains(&device), MAX_RANGES).map_err(|e| damaged(&e))? {
                Some(ranges) => {
                    self.left.start = window.end;
                    return Ok(Some((window, ranges)));
                }
                None if window.len() > 1 => self.length = (self.length / 2).max(1),
                None => return Err(too_scattered()),
            }
        }
        Ok(None)
    }
}
