//! The runs of a suite in their order, and what became of each.

use iotbench_statistics::interleaved;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of a record.
pub const SCHEMA: &str = "iotbench-suite/1.0";

/// All runs of a suite, in the order in which they are done: what `suite.json` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: String,
    /// The suite's name.
    pub suite: String,
    /// Whether the study's own lengths are run.
    pub full: bool,
    /// When the rounds of repetitions are held, if each is a sitting with a time of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sittings: Option<Sittings>,
    /// The runs.
    pub entries: Vec<Entry>,
}

/// Rounds of repetitions as sittings: the n-th has the n-th run of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sittings {
    /// The time that they are spread over, in seconds; none: one follows the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_s: Option<f64>,
    /// How long the loads of one take, in seconds, as planned.
    pub expected_s: f64,
    /// When the first was to begin, RFC 3339.
    pub began: String,
}

/// A run of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The profile.
    pub profile: String,
    /// Database, layout and what else distinguishes it.
    pub target: String,
    /// What the suite calls this form of the database, the end of `target`; none where it has no name of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Which repetition it is, from 1.
    pub run: u32,
    /// The command that does the same: the arguments of `iotbench`.
    pub command: Vec<String>,
    /// What became of it.
    #[serde(flatten)]
    pub state: State,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// It is still to be done, or was interrupted and will be done again.
    Waiting,
    /// It came to its end, valid or not.
    Ended {
        /// Results folders, relative to the suite's; several of a sweep.
        folders: Vec<String>,
        /// As `iotbench run` would have ended.
        exit_code: u8,
        /// How long it took, server included.
        seconds: f64,
    },
    /// It left no results.
    Failed {
        /// As `iotbench run` would have ended.
        exit_code: u8,
        /// Why.
        message: String,
    },
    /// It cannot be done on this machine.
    NotAvailable {
        /// What is missing.
        reason: String,
    },
}

impl Record {
    /// The runs of `targets` (each with [`State::Waiting`] or [`State::NotAvailable`]), `runs` times each, in rounds of an
    /// order that the seed decides: what the machine does meanwhile meets all of them alike.
    #[must_use]
    pub fn new(suite: &str, full: bool, targets: &[Entry], runs: u32, seed: u64) -> Self {
        let mut repetitions = vec![0; targets.len()];
        let mut entry = |place: usize| {
            let run = repetitions.get_mut(place)?;
            *run += 1;
            Some(Entry { run: *run, ..targets.get(place)?.clone() })
        };
        let order = interleaved(targets.len(), runs as usize, seed);
        Self {
            schema: SCHEMA.into(),
            suite: suite.into(),
            full,
            sittings: None,
            entries: order.into_iter().filter_map(&mut entry).collect(),
        }
    }

    /// How many runs of each there are.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.entries.iter().map(|entry| entry.run).max().unwrap_or(0)
    }

    /// The next run to do.
    #[must_use]
    pub fn next(&self) -> Option<usize> {
        self.entries.iter().position(|entry| entry.state == State::Waiting)
    }

    /// How many runs are still to be done.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.entries.iter().filter(|entry| entry.state == State::Waiting).count()
    }

    /// How long the rest takes, in seconds, if its runs take as long as those of the same profile that have ended, or as
    /// all that have; `None`: none has.
    #[must_use]
    pub fn seconds_left(&self) -> Option<f64> {
        let mut by_profile: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        let mut all = (0.0, 0.0);
        for entry in &self.entries {
            if let State::Ended { seconds, .. } = entry.state {
                let of_profile = by_profile.entry(&entry.profile).or_default();
                for (sum, count) in [of_profile, &mut all] {
                    *sum += seconds;
                    *count += 1.0;
                }
            }
        }
        let mean = |(sum, count): (f64, f64)| sum / count;
        let expected = |entry: &Entry| mean(by_profile.get(entry.profile.as_str()).copied().unwrap_or(all));
        let waiting = self.entries.iter().filter(|entry| entry.state == State::Waiting);
        (all.1 > 0.0).then(|| waiting.map(expected).sum())
    }

    /// Whether a record that was written down is of these runs: then it can be gone on with.
    #[must_use]
    pub fn has_runs_of(&self, other: &Self) -> bool {
        let run = |entry: &Entry| (entry.profile.clone(), entry.target.clone(), entry.run, entry.command.clone());
        self.suite == other.suite
            && self.full == other.full
            && self.entries.iter().map(run).eq(other.entries.iter().map(run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(profile: &str, target: &str, state: State) -> Entry {
        Entry { profile: profile.into(), target: target.into(), form: None, run: 0, command: vec!["run".into()], state }
    }

    fn ended(seconds: f64) -> State {
        State::Ended { folders: vec!["f".into()], exit_code: 0, seconds }
    }

    fn record() -> Record {
        let targets = ["a", "b", "c"].map(|target| entry("p", target, State::Waiting));
        Record::new("s", false, &targets, 2, 1)
    }

    #[test]
    fn every_run_is_there_once_and_the_repetitions_come_in_rounds() {
        let record = record();
        let rounds: Vec<u32> = record.entries.iter().map(|entry| entry.run).collect();
        assert_eq!(rounds, [1, 1, 1, 2, 2, 2]);
        let mut runs: Vec<_> = record.entries.iter().map(|e| (e.target.as_str(), e.run)).collect();
        runs.sort_unstable();
        assert_eq!(runs, [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 1), ("c", 2)]);
    }

    #[test]
    fn it_goes_on_with_what_has_not_ended() {
        let mut kept = record();
        let next = kept.next().unwrap();
        kept.entries[next].state = ended(2.0);
        kept.entries[1].state = State::Failed { exit_code: 24, message: "died".into() };
        let written = serde_json::to_string(&kept).unwrap();
        let read: Record = serde_json::from_str(&written).unwrap();
        assert_eq!(read, kept);
        assert_eq!((read.next(), read.waiting()), (Some(2), 4));
        assert!(read.has_runs_of(&record()));
        assert!(!read.has_runs_of(&Record { full: true, ..record() }));
        for entry in &mut kept.entries {
            entry.state = ended(1.0);
        }
        assert_eq!((kept.next(), kept.seconds_left()), (None, Some(0.0)));
    }

    #[test]
    fn the_rest_takes_as_long_as_its_likes_took() {
        let states = [("p", ended(10.0)), ("p", ended(20.0)), ("q", ended(60.0))];
        let mut entries: Vec<Entry> = states.map(|(profile, state)| entry(profile, "a", state)).into();
        entries.extend(["p", "q", "r"].map(|profile| entry(profile, "b", State::Waiting)));
        let mut record = Record { schema: SCHEMA.into(), suite: "s".into(), full: false, sittings: None, entries };
        assert_eq!(record.seconds_left(), Some(15.0 + 60.0 + 30.0));
        record.entries.drain(..3);
        assert_eq!(record.seconds_left(), None);
    }
}
