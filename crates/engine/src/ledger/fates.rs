//! What became of datapoints, as a load thread hands it over.

use iotbench_core::Run;
use serde::{Deserialize, Serialize};

/// What became of a datapoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// The database acknowledged it.
    Acked,
    /// It is definitely not stored: refused, or never sent.
    Failed,
    /// Sent, and never answered: it may be stored or not.
    Unknown,
}

/// Datapoints by what became of them, in the order of the answers.
#[derive(Debug, Default)]
pub struct Fates {
    by_fate: [Vec<Run>; 3],
}

impl Fate {
    /// Every fate.
    pub const ALL: [Self; 3] = [Self::Acked, Self::Failed, Self::Unknown];

    fn place(self) -> usize {
        match self {
            Self::Acked => 0,
            Self::Failed => 1,
            Self::Unknown => 2,
        }
    }
}

impl Fates {
    /// Notes datapoints; those that continue the ones before are joined to them.
    pub fn note(&mut self, fate: Fate, runs: impl IntoIterator<Item = Run>) {
        let Some(noted) = self.by_fate.get_mut(fate.place()) else { return };
        for run in runs {
            match noted.last_mut() {
                Some(last)
                    if last.device == run.device && last.indices().end == run.first && last.count < u32::MAX / 2 =>
                {
                    last.count += run.count;
                }
                _ => noted.push(run),
            }
        }
    }

    /// Takes over what others noted.
    pub fn append(&mut self, others: &mut Self) {
        for (noted, more) in self.by_fate.iter_mut().zip(&mut others.by_fate) {
            noted.append(more);
        }
    }

    /// The datapoints of a fate, which the caller may reorder and empty.
    pub fn of(&mut self, fate: Fate) -> &mut Vec<Run> {
        &mut self.by_fate[fate.place()]
    }

    /// How many runs of datapoints wait here.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.by_fate.iter().map(Vec::len).sum()
    }
}
