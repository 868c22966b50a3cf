//! When a database that does not tell has stored all that it ever will.

use std::time::Duration;

/// A count that has not changed for so long does not change any more.
const UNCHANGED: Duration = Duration::from_secs(10);

/// What a count says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settling {
    /// There is more to come.
    Going,
    /// All is there.
    Equal,
    /// Something is missing, and nothing has come for a while.
    Unchanged,
}

/// Counts, one after the other, until they equal what is awaited or change no more.
#[derive(Debug, Default)]
pub struct SettlingCounts {
    last: Option<u64>,
    since: Duration,
}

impl SettlingCounts {
    /// Takes note of a count at a time, measured from any fixed moment.
    pub fn note(&mut self, points: u64, awaited: u64, at: Duration) -> Settling {
        if points >= awaited {
            return Settling::Equal;
        }
        if self.last != Some(points) {
            (self.last, self.since) = (Some(points), at);
        }
        if at.saturating_sub(self.since) >= UNCHANGED { Settling::Unchanged } else { Settling::Going }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_when_all_is_there_or_nothing_comes_any_more() {
        let s = Duration::from_secs;
        let mut counts = SettlingCounts::default();
        assert_eq!(counts.note(10, 30, s(0)), Settling::Going);
        assert_eq!(counts.note(10, 30, s(9)), Settling::Going);
        assert_eq!(counts.note(20, 30, s(11)), Settling::Going, "it changed");
        assert_eq!(counts.note(20, 30, s(20)), Settling::Going);
        assert_eq!(counts.note(20, 30, s(21)), Settling::Unchanged);
        assert_eq!(counts.note(30, 30, s(22)), Settling::Equal);
        assert_eq!(
            SettlingCounts::default().note(31, 30, s(0)),
            Settling::Equal,
            "what is too much is judged elsewhere"
        );
    }
}
