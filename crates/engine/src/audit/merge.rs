//! Stored datapoints held against expected ones, both ascending by device and time. Pure.
//!
//! Of all that is stored at the time of one datapoint, what equals it is it, and its doubles; the rest is alien beside it.
//! Where nothing equals it, one of them is it, corrupted. So an altered time is a loss and an alien, and every stored row is
//! counted exactly once.

use super::{
    expected::{Difference, Expected, ExpectedRows},
    findings::{Findings, Kind},
};
use crate::ledger::Fate;
use iotbench_core::{Cause, Chunk, Error};

/// Walks over both.
pub struct Merge<'a> {
    expected: &'a mut ExpectedRows,
    findings: &'a mut Findings,
    /// Whether values may be missing of datapoints: the database may lose what it acknowledged.
    may_lose: bool,
    /// Where the stored rows are.
    place: Option<(u32, i64)>,
    here: Here,
    /// Rows that were taken.
    rows: u64,
}

/// What is stored at one place.
#[derive(Default)]
struct Here {
    /// What is expected there.
    expected: Option<Expected>,
    right: u64,
    wrong: u64,
    /// How the first wrong one differs.
    difference: Option<Difference>,
}

impl<'a> Merge<'a> {
    /// Holds what is stored against what `expected` has begun with.
    pub fn new(expected: &'a mut ExpectedRows, findings: &'a mut Findings, may_lose: bool) -> Self {
        Self { expected, findings, may_lose, place: None, here: Here::default(), rows: 0 }
    }

    /// Takes rows that are stored.
    ///
    /// # Errors
    /// They are not in order.
    pub fn take(&mut self, chunk: &Chunk) -> Result<(), Error> {
        for row in 0..chunk.len() {
            let (Some(&device), Some(&timestamp_ns)) = (chunk.devices.get(row), chunk.timestamps_ns.get(row)) else {
                return Err(Error::new(Cause::Protocol, "an answer has rows without a device"));
            };
            let place = (device, timestamp_ns);
            if self.place.is_some_and(|before| place < before) {
                let message = format!("an answer is not in order: device {device} at {timestamp_ns} ns comes too late");
                return Err(Error::new(Cause::Protocol, message));
            }
            if self.place != Some(place) {
                self.leave();
                self.go_to(place);
            }
            self.rows += 1;
            let difference = self.here.expected.map(|_| self.expected.difference(chunk, row));
            match difference {
                Some(None) => self.here.right += 1,
                Some(different) => {
                    self.here.wrong += 1;
                    self.here.difference = self.here.difference.take().or(different);
                }
                None => self.here.wrong += 1,
            }
        }
        Ok(())
    }

    /// There is no other row. Returns how many there were.
    pub fn finish(mut self) -> u64 {
        self.leave();
        while let Some(expected) = self.expected.peek() {
            self.absent(expected);
        }
        self.rows
    }

    /// Goes on to a place; what is expected before it is not stored.
    fn go_to(&mut self, place: (u32, i64)) {
        while let Some(expected) = self.expected.peek().filter(|e| (e.device, e.timestamp_ns) < place) {
            self.absent(expected);
        }
        let expected = self.expected.peek().filter(|e| (e.device, e.timestamp_ns) == place);
        (self.place, self.here) = (Some(place), Here { expected, ..Here::default() });
    }

    fn absent(&mut self, expected: Expected) {
        let kind = match expected.fate {
            Fate::Acked => Some(Kind::Lost),
            Fate::Unknown => Some(Kind::UnknownAbsent),
            Fate::Failed => None,
        };
        if let Some(kind) = kind {
            self.findings.note(kind, expected.device, expected.timestamp_ns, "");
        }
        self.expected.advance();
    }

    /// All that is stored at the present place is known.
    fn leave(&mut self) {
        let Some((device, ns)) = self.place else { return };
        let Here { expected, right, wrong, difference } = std::mem::take(&mut self.here);
        let mut note = |kind, times: u64, detail: &str| {
            (0..times).for_each(|_| self.findings.note(kind, device, ns, detail));
        };
        let Some(expected) = expected else { return note(Kind::Alien, wrong, "nothing was sent for this time") };
        match (expected.fate, right, difference) {
            (Fate::Failed, ..) => note(Kind::Alien, right + wrong, "refused, and yet stored"),
            (Fate::Acked, 1.., _) => {
                self.findings.note_right();
                self.beside(device, ns, right, wrong);
            }
            (Fate::Unknown, 1.., _) => {
                note(Kind::UnknownPresent, 1, "");
                self.beside(device, ns, right, wrong);
            }
            // A part of it arrived, and no more was promised.
            (Fate::Unknown, 0, Some(Difference::Missing(detail))) => {
                note(Kind::UnknownPresent, 1, &detail);
                self.beside(device, ns, 1, wrong - 1);
            }
            (Fate::Acked, 0, Some(Difference::Missing(detail))) if self.may_lose => {
                note(Kind::Lost, 1, &detail);
                self.beside(device, ns, 1, wrong - 1);
            }
            (_, 0, difference) => {
                let detail = match difference {
                    Some(Difference::Missing(detail) | Difference::Value(detail)) => detail,
                    None => String::new(),
                };
                note(Kind::Corrupt, 1, &detail);
                self.beside(device, ns, 1, wrong.saturating_sub(1));
            }
        }
        self.expected.advance();
    }

    /// What is stored beside the one row that stands for a datapoint.
    fn beside(&mut self, device: u32, ns: i64, right: u64, wrong: u64) {
        for _ in 1..right {
            self.findings.note(Kind::Duplicate, device, ns, "");
        }
        for _ in 0..wrong {
            self.findings.note(Kind::Alien, device, ns, "beside the right one of its time");
        }
    }
}

#[cfg(test)]
mod tests;
