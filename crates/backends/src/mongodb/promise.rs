//! What an acknowledged write promises, from the settings that hold.

use super::config::{Config, Journaled, Members};
use iotbench_core::{Promise, PromiseLevel, PromiseSource};

/// The settings that decide, as the server tells them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Durability {
    pub(crate) w: Members,
    pub(crate) j: Journaled,
    /// Whether there is a journal at all; `None`: the server does not say so to us.
    pub(crate) has_journal: Option<bool>,
    /// How many members a majority of the set is; `None`: there is no set.
    pub(crate) majority: Option<u32>,
    /// Whether a majority is one of journals (`writeConcernMajorityJournalDefault`).
    pub(crate) majority_is_journaled: bool,
}

impl Durability {
    /// The write concern of the settings, and where they leave it to the server, the server's.
    pub(crate) fn new(config: &Config, default_w: Members, default_j: Journaled) -> Self {
        let w = if config.w == Members::Server { default_w } else { config.w.clone() };
        let j = if config.j == Journaled::Server { default_j } else { config.j };
        Self { w, j, has_journal: None, majority: None, majority_is_journaled: true }
    }
}

/// The promise of an acknowledgement.
///
/// With `j` it waits for the journal to be on disk. Without, the journal's records are still in the server's memory for up
/// to `commitIntervalMs`, so that a crash of the server's process loses them: no more than buffered. A majority waits for the
/// journals of its members unless the set says otherwise.
/// Sources: <https://www.mongodb.com/docs/manual/reference/write-concern/>,
/// <https://www.mongodb.com/docs/manual/core/journaling/>.
pub(crate) fn promise(durability: &Durability) -> Promise {
    let of_majority =
        durability.w == Members::Majority && durability.majority_is_journaled && durability.majority.is_some();
    let is_journaled = match durability.j {
        Journaled::Yes => true,
        Journaled::No => false,
        Journaled::Server => of_majority,
    };
    let level = match (is_journaled, durability.has_journal) {
        (true, Some(true) | None) => PromiseLevel::OsCrash,
        _ => PromiseLevel::Buffered,
    };
    let nodes = match durability.w {
        Members::Server => 1,
        Members::Majority => durability.majority.unwrap_or(1),
        Members::Number(number) => number,
    };
    let source = match durability.has_journal {
        Some(_) => PromiseSource::ReadBack,
        None => PromiseSource::Declared("write concern; the server does not tell whether it has a journal".into()),
    };
    Promise { level, nodes, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PromiseLevel::{Buffered, OsCrash};

    #[test]
    fn each_write_concern_promises_what_it_keeps() {
        let of = |w, j, has_journal, majority| Durability { w, j, has_journal, majority, majority_is_journaled: true };
        let (one, yes, none) = (Members::Number(1), Some(true), None);
        let table = [
            (of(one.clone(), Journaled::Server, yes, none), Buffered, 1),
            (of(one.clone(), Journaled::Yes, yes, none), OsCrash, 1),
            (of(one.clone(), Journaled::Yes, None, none), OsCrash, 1),
            (of(one, Journaled::Yes, Some(false), none), Buffered, 1),
            (of(Members::Majority, Journaled::Server, yes, Some(2)), OsCrash, 2),
            (of(Members::Majority, Journaled::No, yes, Some(2)), Buffered, 2),
            // A single server is its own majority, and does not wait for its journal.
            (of(Members::Majority, Journaled::Server, yes, none), Buffered, 1),
            (of(Members::Majority, Journaled::Server, yes, Some(1)), OsCrash, 1),
            (of(Members::Number(3), Journaled::Server, yes, Some(2)), Buffered, 3),
            (of(Members::Number(3), Journaled::Yes, yes, Some(2)), OsCrash, 3),
        ];
        for (durability, level, nodes) in table {
            let promise = promise(&durability);
            assert_eq!((promise.level, promise.nodes), (level, nodes), "{durability:?}");
        }
        let in_memory =
            Durability { majority_is_journaled: false, ..of(Members::Majority, Journaled::Server, yes, Some(2)) };
        assert_eq!(promise(&in_memory).level, Buffered);
    }
}
