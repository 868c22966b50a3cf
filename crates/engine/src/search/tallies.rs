//! What trials of each load came to, and the bounds that follow.

use super::TrialVerdict;
use crate::ramp::Bounds;
use std::collections::BTreeMap;

/// What the trials of a load came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Trials that sustained it.
    pub sustained: u32,
    /// Trials that the database did not sustain.
    pub failed: u32,
    /// Trials in which the client was the limit: they say nothing of the database.
    pub by_client: u32,
}

/// So often the client is the limit of a load before it is left at that.
const MAX_BY_CLIENT: u32 = 5;

impl Tally {
    /// What most trials say of the database, and where none says anything, that the client did not make the load; `None`: as many
    /// say the one as the other, or there are none.
    #[must_use]
    pub fn is_sustained(self) -> Option<bool> {
        let Self { sustained, failed, by_client } = self;
        let is_clients = by_client >= MAX_BY_CLIENT || (sustained == 0 && by_client > 0);
        if sustained == failed { is_clients.then_some(false) } else { Some(sustained > failed) }
    }

    /// Whether what most trials say is the client's doing.
    #[must_use]
    pub fn is_clients(self) -> bool {
        self.failed <= self.sustained && self.is_sustained() == Some(false)
    }

    /// Whether no further of so many trials can change what the majority says.
    #[must_use]
    pub fn is_decided(self, repeats: u32) -> bool {
        let Self { sustained, failed, by_client } = self;
        let votes = if sustained + failed == 0 { by_client } else { sustained.max(failed) };
        votes > repeats / 2 || (by_client >= MAX_BY_CLIENT && self.is_sustained().is_some())
    }
}

/// What the trials of all loads came to.
#[derive(Clone, Debug, Default)]
pub struct Tallies(BTreeMap<u32, Tally>);

impl Tallies {
    /// Adds a trial.
    pub fn note(&mut self, load: u32, verdict: TrialVerdict) {
        let tally = self.0.entry(load).or_default();
        match verdict {
            TrialVerdict::Sustained => tally.sustained += 1,
            TrialVerdict::TooMuch => tally.failed += 1,
            TrialVerdict::TooMuchForClient => tally.by_client += 1,
        }
    }

    /// The trials of a load.
    #[must_use]
    pub fn of(&self, load: u32) -> Tally {
        self.0.get(&load).copied().unwrap_or_default()
    }

    /// The relevant bounds as the trials stand.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let failed = self.0.iter().find(|(_, tally)| tally.is_sustained() == Some(false));
        let upper = failed.map(|(&load, _)| load);
        let below = self.0.range(..upper.unwrap_or(u32::MAX));
        let lower = below.filter(|(_, tally)| tally.is_sustained() == Some(true)).map(|(&load, _)| load).max();
        let client_limited = failed.is_some_and(|(_, tally)| tally.is_clients());
        Bounds { client_limited, ..Bounds::of_loads(lower, upper) }
    }

    /// Whether a greater load than this was sustained.
    #[must_use]
    pub fn is_sustained_above(&self, load: u32) -> bool {
        self.0.range(load..).any(|(_, tally)| tally.is_sustained() == Some(true))
    }

    /// The greatest load up to this one that was sustained, else the least above it.
    #[must_use]
    pub fn sustained_near(&self, load: u32) -> Option<u32> {
        let is_sustained = |(_, tally): &(&u32, &Tally)| tally.is_sustained() == Some(true);
        let below = self.0.range(..=load).rev().find(is_sustained);
        below.or_else(|| self.0.range(load..).find(is_sustained)).map(|(&load, _)| load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(sustained: u32, failed: u32, by_client: u32) -> Tally {
        Tally { sustained, failed, by_client }
    }

    #[test]
    fn most_trials_decide_and_of_a_tie_the_client_where_it_was_the_limit_often_or_alone() {
        let told = |(sustained, failed, by_client)| tally(sustained, failed, by_client).is_sustained();
        assert_eq!([(0, 0, 0), (1, 1, 0), (1, 1, 1), (1, 1, 4)].map(told), [None; 4]);
        assert_eq!([(0, 0, 1), (1, 1, 5), (1, 2, 0), (0, 1, 5)].map(told), [Some(false); 4]);
        assert_eq!([(2, 1, 0), (1, 0, 9)].map(told), [Some(true); 2]);
    }

    #[test]
    fn a_load_is_decided_when_no_further_trial_can_change_it() {
        assert!(!tally(2, 0, 0).is_decided(5) && tally(3, 2, 0).is_decided(5));
        assert!(!tally(1, 0, 4).is_decided(3) && tally(1, 0, 5).is_decided(3) && tally(0, 0, 2).is_decided(3));
    }

    #[test]
    fn a_load_is_sustained_above_another_where_a_greater_one_was() {
        let mut tallies = Tallies::default();
        tallies.note(10, TrialVerdict::Sustained);
        assert!(tallies.is_sustained_above(5) && !tallies.is_sustained_above(11));
    }
}
