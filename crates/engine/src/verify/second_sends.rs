//! Datapoints that the load sends twice, the same or corrected: what of them an answer may hold, where its reads go on beside it.

use crate::read::History;
use iotbench_core::Duplicates;
use iotbench_simulator::Twice;

/// Which are sent twice, and what the database does with the second of equal device and time.
#[derive(Clone, Copy, Debug)]
pub struct SecondSends {
    which: Twice,
    corrects: bool,
    keeps_both: bool,
}

/// What an answer may hold of one datapoint, where it may hold any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// It, once.
    One,
    /// It, once or twice.
    OneOrTwo,
    /// Its first values or those that correct them, of each signal one of the two.
    Either,
    /// Its first values, those that correct them, or both, in any order.
    Both,
}

impl SecondSends {
    /// Those of a load beside which this is read; `None`: no answer tells them from what is sent once.
    #[must_use]
    pub fn of(history: &History, duplicates: Duplicates) -> Option<Self> {
        let (corrects, keeps_both) = (history.dataset.corrects(), duplicates == Duplicates::Keep);
        let which = history.dataset.twice().filter(|_| corrects || keeps_both)?;
        Some(Self { which, corrects, keeps_both })
    }

    /// Whether there may be two datapoints of the same device and time.
    #[must_use]
    pub fn keeps_both(self) -> bool {
        self.keeps_both
    }

    /// Whether the first values are others.
    #[must_use]
    pub fn corrects(self) -> bool {
        self.corrects
    }

    /// What an answer may hold of a datapoint.
    #[must_use]
    pub fn copies(self, history: &History, device: u32, index: u64) -> Copies {
        let position = history.dataset.position_of(device, index);
        if !self.which.is_of(device, position) {
            return Copies::One;
        }
        // What was written before the load was right from the beginning.
        let is_before = device < history.devices && position < history.positions;
        match (self.corrects && !is_before, self.keeps_both) {
            (true, true) => Copies::Both,
            (true, false) => Copies::Either,
            (false, true) => Copies::OneOrTwo,
            (false, false) => Copies::One,
        }
    }
}
