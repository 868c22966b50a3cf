//! Stored datapoints held against expected ones, both ascending by device and time. Pure.
//!
//! Of all that is stored at the time of one datapoint, what equals it is it, and its doubles; the rest is alien beside it.
//! Where nothing equals it, one of them is it, corrupted. Of a datapoint that was sent twice to a database that keeps both there
//! are two. So an altered time is a loss and an alien, and every stored row is counted exactly once.

use super::{
    corrected::{Values, Wanted},
    expected::{Expected, ExpectedRows, Likeness},
    findings::{Findings, Kind},
};
use crate::ledger::Fate;
use iotbench_core::{Cause, Chunk, Error};

/// Walks over both.
pub struct Merge<'a> {
    expected: &'a mut ExpectedRows,
    findings: &'a mut Findings,
    how: How,
    /// Where the stored rows are.
    place: Option<(u32, i64)>,
    here: Here,
    /// Rows that were taken.
    rows: u64,
}

/// What is known of the database.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Whether values may be missing of datapoints: the database may lose what it acknowledged.
    pub may_lose: bool,
    /// Whether the values of two datapoints of equal device and time come back as they were sent together.
    pub keeps_together: bool,
}

/// What is stored at one place.
#[derive(Default)]
struct Here {
    /// What is expected there.
    expected: Option<Expected>,
    right: u64,
    first: u64,
    /// What is right and was sent first.
    both: u64,
    mixed: u64,
    wrong: u64,
    /// How the first wrong ones differ, as many as may stand for what was sent.
    differences: [Option<Likeness>; 2],
    /// Of each signal how many values are right only, and how many those sent first only, where that is looked at.
    signals: Vec<[u32; 2]>,
}

impl<'a> Merge<'a> {
    /// Holds what is stored against what `expected` has begun with.
    pub fn new(expected: &'a mut ExpectedRows, findings: &'a mut Findings, how: How) -> Self {
        Self { expected, findings, how, place: None, here: Here::default(), rows: 0 }
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
            self.look(chunk, row);
        }
        Ok(())
    }

    fn look(&mut self, chunk: &Chunk, row: usize) {
        let Here { expected, signals, .. } = &mut self.here;
        let Some(Expected { is_corrected, .. }) = *expected else {
            self.here.wrong += 1;
            return;
        };
        let counts_signals = is_corrected && !self.how.keeps_together;
        let likeness = self.expected.likeness(is_corrected, chunk, row, &mut |place, alike| {
            if counts_signals && alike.right != alike.first {
                signals.resize(signals.len().max(place + 1), [0; 2]);
                if let Some([right, first]) = signals.get_mut(place) {
                    *(if alike.right { right } else { first }) += 1;
                }
            }
        });
        match likeness {
            Likeness::Right => self.here.right += 1,
            Likeness::First => self.here.first += 1,
            Likeness::Both => self.here.both += 1,
            Likeness::Mixed => self.here.mixed += 1,
            Likeness::Missing(_) | Likeness::Other(_) => {
                self.here.wrong += 1;
                if let Some(place) = self.here.differences.iter_mut().find(|place| place.is_none()) {
                    *place = Some(likeness);
                }
            }
        }
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
        for Wanted { fate, .. } in expected.wanted() {
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
        let mut here = std::mem::take(&mut self.here);
        let Some(expected) = here.expected else {
            return self.note_times(Kind::Alien, here.wrong, "nothing was sent for this time");
        };
        if expected.fate == Fate::Failed {
            self.note_times(Kind::Alien, here.rows(), "refused, and yet stored");
            return self.expected.advance();
        }
        here.put_together(expected);
        let is_found: Vec<bool> = expected.wanted().map(|wanted| here.take(wanted.values)).collect();
        for (place, (wanted, is_found)) in expected.wanted().zip(is_found).enumerate() {
            if is_found {
                self.right(wanted.fate);
            } else if let Some((kind, detail)) = self.stands_for(&mut here, wanted, expected) {
                self.note_times(kind, 1, &detail);
            } else {
                let detail = if place > 0 { "one of two sends" } else { "" };
                self.note_absent(wanted.fate, expected, detail);
            }
        }
        let more = here.take_more(expected);
        self.note_times(Kind::Duplicate, more, "");
        self.note_times(Kind::Alien, here.rows(), "beside the right one of its time");
        self.expected.advance();
    }

    /// A row that equals what was sent.
    fn right(&mut self, fate: Fate) {
        match fate {
            Fate::Unknown => self.note_times(Kind::UnknownPresent, 1, ""),
            Fate::Acked | Fate::Failed => self.findings.note_right(),
        }
    }

    /// What a row comes to that stands for what was to be stored, and is not equal to it; `None`: there is none.
    fn stands_for(&self, here: &mut Here, wanted: Wanted, expected: Expected) -> Option<(Kind, String)> {
        let Wanted { fate, values } = wanted;
        if here.wrong > 0 {
            here.wrong -= 1;
            let difference = here.differences.iter_mut().find_map(Option::take);
            return Some(match (fate, difference) {
                // A part of it arrived, and no more was promised.
                (Fate::Unknown, Some(Likeness::Missing(detail))) => (Kind::UnknownPresent, detail),
                (Fate::Acked, Some(Likeness::Missing(detail))) if self.how.may_lose => (Kind::Lost, detail),
                (_, Some(Likeness::Missing(detail) | Likeness::Other(detail))) => (Kind::Corrupt, detail),
                (_, Some(_) | None) => (Kind::Corrupt, String::new()),
            });
        }
        let (count, what) = [
            (&mut here.mixed, "values of both are stored"),
            (&mut here.first, "what was sent first is stored"),
            (&mut here.right, "the correction is stored"),
        ]
        .into_iter()
        .find(|(count, _)| **count > 0)?;
        *count -= 1;
        let detail = format!("{}, and {what}", self.expected.correction());
        // What replaced it is lost, where that may be.
        let is_lost = self.how.may_lose && expected.again.is_none() && values == Values::Right;
        Some((if is_lost { Kind::Lost } else { Kind::Corrupt }, detail))
    }

    /// Notes so many rows of the present place.
    fn note_times(&mut self, kind: Kind, times: u64, detail: &str) {
        let Some((device, ns)) = self.place else { return };
        for _ in 0..times {
            self.findings.note(kind, device, ns, detail);
        }
    }
}

impl Here {
    /// How many rows there are.
    fn rows(&self) -> u64 {
        self.right + self.first + self.both + self.mixed + self.wrong
    }

    /// Takes a row out that has these values; false: there is none.
    fn take(&mut self, values: Values) -> bool {
        let Self { right, first, both, mixed, .. } = self;
        let kinds = match values {
            Values::Right => [Some(right), Some(both), None, None],
            Values::First => [Some(first), Some(both), None, None],
            Values::Either => [Some(right), Some(first), Some(both), Some(mixed)],
        };
        let found = kinds.into_iter().flatten().find(|count| **count > 0);
        found.map(|count| *count -= 1).is_some()
    }

    /// Takes out what is more than was to be stored.
    fn take_more(&mut self, expected: Expected) -> u64 {
        let mut more = 0;
        for Wanted { values, .. } in expected.wanted() {
            while self.take(values) {
                more += 1;
            }
        }
        more
    }

    /// Where the values of two rows may be exchanged signal by signal, and each signal has both, these are the two that were sent.
    fn put_together(&mut self, expected: Expected) {
        let has_both = |counts: &[u32; 2]| counts.iter().all(|&count| count <= 1);
        if !self.signals.is_empty()
            && expected.again.is_some()
            && (self.mixed, self.rows()) == (2, 2)
            && self.signals.iter().all(has_both)
        {
            (self.right, self.first, self.mixed) = (1, 1, 0);
        }
    }
}

#[cfg(test)]
mod tests;
