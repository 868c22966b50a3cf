//! Stored datapoints held against expected ones, both ascending by device and time. Pure.
//!
//! Of all that is stored at the time of one datapoint, what equals it is it, and its doubles; the rest is alien beside it.
//! Where nothing equals it, one of them is it, corrupted. Of a datapoint that was sent twice to a database that keeps both there
//! are two. So an altered time is a loss and an alien, and every stored row is counted exactly once.

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
    /// How the first wrong ones differ, as many as may stand for what was sent.
    differences: [Option<Difference>; 2],
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
                    if let Some(place) = self.here.differences.iter_mut().find(|place| place.is_none()) {
                        *place = different;
                    }
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
        for fate in expected.fates() {
            self.note_absent(fate, expected, "");
        }
        self.expected.advance();
    }

    fn note_absent(&mut self, fate: Fate, expected: Expected, detail: &str) {
        let kind = match fate {
            Fate::Acked => Kind::Lost,
            Fate::Unknown => Kind::UnknownAbsent,
            Fate::Failed => return,
        };
        self.findings.note(kind, expected.device, expected.timestamp_ns, detail);
    }

    /// All that is stored at the present place is known.
    fn leave(&mut self) {
        if self.place.is_none() {
            return;
        }
        let Here { expected, mut right, mut wrong, differences } = std::mem::take(&mut self.here);
        let Some(expected) = expected else {
            return self.note_times(Kind::Alien, wrong, "nothing was sent for this time");
        };
        if expected.fate == Fate::Failed {
            self.note_times(Kind::Alien, right + wrong, "refused, and yet stored");
            return self.expected.advance();
        }
        let mut differences = differences.into_iter().flatten();
        for (place, fate) in expected.fates().enumerate() {
            if right > 0 {
                right -= 1;
                self.right(fate);
            } else if wrong > 0 {
                wrong -= 1;
                self.wrong(fate, differences.next());
            } else {
                self.note_absent(fate, expected, if place > 0 { "the second of two sends" } else { "" });
            }
        }
        self.note_times(Kind::Duplicate, right, "");
        self.note_times(Kind::Alien, wrong, "beside the right one of its time");
        self.expected.advance();
    }

    /// A row that equals what was sent.
    fn right(&mut self, fate: Fate) {
        match fate {
            Fate::Unknown => self.note_times(Kind::UnknownPresent, 1, ""),
            Fate::Acked | Fate::Failed => self.findings.note_right(),
        }
    }

    /// A row that stands for what was sent, and is not equal to it.
    fn wrong(&mut self, fate: Fate, difference: Option<Difference>) {
        let (kind, detail) = match (fate, difference) {
            // A part of it arrived, and no more was promised.
            (Fate::Unknown, Some(Difference::Missing(detail))) => (Kind::UnknownPresent, detail),
            (Fate::Acked, Some(Difference::Missing(detail))) if self.may_lose => (Kind::Lost, detail),
            (_, Some(Difference::Missing(detail) | Difference::Value(detail))) => (Kind::Corrupt, detail),
            (_, None) => (Kind::Corrupt, String::new()),
        };
        self.note_times(kind, 1, &detail);
    }

    /// Notes so many rows of the present place.
    fn note_times(&mut self, kind: Kind, times: u64, detail: &str) {
        let Some((device, ns)) = self.place else { return };
        for _ in 0..times {
            self.findings.note(kind, device, ns, detail);
        }
    }
}

#[cfg(test)]
mod tests;
