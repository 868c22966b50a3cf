//! Latency kept apart by outcome.

use serde::{Deserialize, Serialize};

use crate::latency::{Latency, Timing};
use crate::outcome::Outcome;

/// Latency kept apart by outcome, so that no failure, however fast, improves the figures of what succeeded.
///
/// Cleared, the histograms of successes keep their memory, those of failures free it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ByOutcome {
    ok: Latency,
    fail: Option<Box<Latency>>,
    unknown: Option<Box<Latency>>,
}

impl ByOutcome {
    /// Records one operation or request that ended with `outcome`.
    #[inline]
    pub fn record(&mut self, outcome: Outcome, timing: &Timing) {
        match outcome {
            Outcome::Ok => self.ok.record(timing),
            Outcome::Fail => self.fail.get_or_insert_default().record(timing),
            Outcome::Unknown | Outcome::Expired => self.unknown.get_or_insert_default().record(timing),
        }
    }

    /// Adds all that `other` holds.
    pub fn merge(&mut self, other: &Self) {
        self.ok.merge(&other.ok);
        for (own, others) in [(&mut self.fail, &other.fail), (&mut self.unknown, &other.unknown)] {
            if let Some(others) = others {
                own.get_or_insert_default().merge(others);
            }
        }
    }

    /// Forgets all values; keeps the memory of the successes and frees that of the failures.
    pub fn clear(&mut self) {
        self.ok.clear();
        self.fail = None;
        self.unknown = None;
    }

    /// What succeeded.
    #[must_use]
    pub fn ok(&self) -> &Latency {
        &self.ok
    }

    /// What definitely failed, `None` when nothing did.
    #[must_use]
    pub fn fail(&self) -> Option<&Latency> {
        self.fail.as_deref()
    }

    /// What was not answered, with the time until it was given up, whether or not it may have been applied; `None` when all was
    /// answered.
    #[must_use]
    pub fn unknown(&self) -> Option<&Latency> {
        self.unknown.as_deref()
    }
}
