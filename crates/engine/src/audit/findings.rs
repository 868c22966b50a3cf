//! What an audit found: counts, and the first stretches of each kind. Pure.

use serde::{Deserialize, Serialize};

/// Stretches of a kind that are shown.
const SHOWN: usize = 5;

/// In which way a datapoint is not as it should be, or cannot be told to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Acknowledged, and not stored.
    Lost,
    /// Stored more than once: each of the others.
    Duplicate,
    /// Stored with another value, or without one.
    Corrupt,
    /// Stored, and never sent: of another time or device, beside the right one at its time, or refused and yet there.
    Alien,
    /// Sent and never answered, and stored.
    UnknownPresent,
    /// Sent and never answered, and not stored.
    UnknownAbsent,
}

impl Kind {
    /// Every kind, the gravest first.
    pub const ALL: [Self; 6] =
        [Self::Lost, Self::Duplicate, Self::Corrupt, Self::Alien, Self::UnknownPresent, Self::UnknownAbsent];

    /// The word for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Duplicate => "duplicate",
            Self::Corrupt => "corrupt",
            Self::Alien => "alien",
            Self::UnknownPresent => "unknown, stored",
            Self::UnknownAbsent => "unknown, not stored",
        }
    }

    fn place(self) -> usize {
        Self::ALL.iter().position(|&kind| kind == self).unwrap_or(0)
    }
}

/// Datapoints of one kind that follow each other on one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingRange {
    /// What is wrong with them.
    pub kind: Kind,
    /// Whose; `None`: no device of the run's.
    pub device: Option<u32>,
    /// The time of the first, in nanoseconds since the Unix epoch.
    pub from_ns: i64,
    /// The time of the last.
    pub to_ns: i64,
    /// How many.
    pub points: u64,
    /// How the first of them differs, where that is not said by the kind.
    pub detail: String,
}

/// What an audit found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    right: u64,
    counts: [u64; 6],
    shown: Vec<FindingRange>,
    /// The stretch that may go on; it is shown when it does not.
    open: Option<FindingRange>,
}

impl Findings {
    /// Datapoints that were acknowledged and are stored as they were sent.
    #[must_use]
    pub fn right(&self) -> u64 {
        self.right
    }

    /// How many datapoints are of a kind.
    #[must_use]
    pub fn count(&self, kind: Kind) -> u64 {
        self.counts.get(kind.place()).copied().unwrap_or(0)
    }

    /// Whether nothing is wrong beyond what may be lost.
    #[must_use]
    pub fn is_clean(&self, may_be_lost: bool) -> bool {
        let kinds = [Kind::Duplicate, Kind::Corrupt, Kind::Alien];
        kinds.into_iter().all(|kind| self.count(kind) == 0) && (may_be_lost || self.count(Kind::Lost) == 0)
    }

    /// The first stretches, at most five of each kind.
    pub fn stretches(&self) -> impl Iterator<Item = &FindingRange> {
        self.shown.iter().chain(self.open.iter().filter(|open| self.has_place(open.kind)))
    }

    /// A datapoint is as it should be.
    pub fn note_right(&mut self) {
        self.right += 1;
        self.close();
    }

    /// A datapoint is not.
    pub fn note(&mut self, kind: Kind, device: u32, timestamp_ns: i64, detail: &str) {
        if let Some(count) = self.counts.get_mut(kind.place()) {
            *count += 1;
        }
        match &mut self.open {
            Some(open) if open.kind == kind && open.device == Some(device) && open.to_ns <= timestamp_ns => {
                (open.to_ns, open.points) = (timestamp_ns, open.points + 1);
            }
            _ => {
                self.close();
                let detail = detail.to_owned();
                let (from_ns, to_ns) = (timestamp_ns, timestamp_ns);
                self.open = Some(FindingRange { kind, device: Some(device), from_ns, to_ns, points: 1, detail });
            }
        }
    }

    /// Datapoints that were never sent, at times that are not known.
    pub fn note_elsewhere(&mut self, points: u64, detail: &str) {
        if let Some(count) = self.counts.get_mut(Kind::Alien.place()) {
            *count += points;
        }
        self.close();
        let detail = detail.to_owned();
        self.open = Some(FindingRange { kind: Kind::Alien, device: None, from_ns: 0, to_ns: 0, points, detail });
        self.close();
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take().filter(|open| self.has_place(open.kind)) {
            self.shown.push(open);
        }
    }

    fn has_place(&self, kind: Kind) -> bool {
        self.shown.iter().filter(|stretch| stretch.kind == kind).count() < SHOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_on_one_device_is_one_stretch_until_something_else_comes() {
        let mut findings = Findings::default();
        for ns in [10, 20, 20, 30] {
            findings.note(Kind::Lost, 1, ns, "first");
        }
        findings.note(Kind::Lost, 1, 25, "earlier than the last");
        findings.note(Kind::Lost, 2, 26, "another device");
        findings.note(Kind::Corrupt, 2, 27, "another kind");
        findings.note_right();
        findings.note(Kind::Corrupt, 2, 28, "after what is right");
        let told: Vec<_> =
            findings.stretches().map(|s| (s.device, s.from_ns, s.to_ns, s.points, s.detail.as_str())).collect();
        let expected = [
            (Some(1), 10, 30, 4, "first"),
            (Some(1), 25, 25, 1, "earlier than the last"),
            (Some(2), 26, 26, 1, "another device"),
            (Some(2), 27, 27, 1, "another kind"),
            (Some(2), 28, 28, 1, "after what is right"),
        ];
        assert_eq!(told, expected);
        let counts = Kind::ALL.map(|kind| findings.count(kind));
        assert_eq!((findings.right(), counts), (1, [6, 0, 2, 0, 0, 0]));
    }

    #[test]
    fn five_stretches_of_a_kind_are_shown_and_all_are_counted() {
        let mut findings = Findings::default();
        for number in 0..7 {
            findings.note(Kind::Alien, 0, 10 * number, "");
            let shown = findings.stretches().filter(|stretch| stretch.kind == Kind::Alien).count();
            assert_eq!(shown as i64, (number + 1).min(5), "the one that may go on is shown too");
            findings.note(Kind::Duplicate, 0, 10 * number, "");
        }
        findings.note_elsewhere(30, "of nobody");
        assert_eq!((findings.count(Kind::Alien), findings.count(Kind::Duplicate)), (37, 7));
        assert_eq!(findings.stretches().count(), 10);
        let mut elsewhere = Findings::default();
        elsewhere.note_elsewhere(30, "of nobody");
        let told: Vec<_> = elsewhere.stretches().map(|s| (s.kind, s.device, s.points, s.detail.as_str())).collect();
        assert_eq!(told, [(Kind::Alien, None, 30, "of nobody")]);
        let words = ["lost", "duplicate", "corrupt", "alien", "unknown, stored", "unknown, not stored"];
        assert_eq!(Kind::ALL.map(Kind::name), words);
    }
}
