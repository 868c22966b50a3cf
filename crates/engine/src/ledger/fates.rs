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
    corrected: Vec<CorrectedSend>,
}

/// What became of one of the two sends of a datapoint that is sent wrong and then right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorrectedSend {
    /// Whose it is.
    pub device: u32,
    /// Its index.
    pub index: u64,
    /// Whether this is the send that corrects.
    pub is_second: bool,
    /// What became of it.
    pub sent: Sent,
}

/// What became of a send, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// What became of it.
    pub fate: Fate,
    /// Not after it was sent, in nanoseconds since the run's start.
    pub sent_ns: u64,
    /// Not before it was answered.
    pub ended_ns: u64,
}

impl Sent {
    /// Whether it was answered before another was sent.
    #[must_use]
    pub fn ended_before(self, other: Self) -> bool {
        self.ended_ns <= other.sent_ns
    }
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

    /// Notes, beside the datapoint, what became of one of its two sends.
    pub fn note_corrected(&mut self, send: CorrectedSend) {
        self.corrected.push(send);
    }

    /// The sends of datapoints that are sent wrong and then right, which the caller may reorder and empty.
    pub fn corrected(&mut self) -> &mut Vec<CorrectedSend> {
        &mut self.corrected
    }

    /// Takes over what others noted.
    pub fn append(&mut self, others: &mut Self) {
        self.corrected.append(&mut others.corrected);
        for (noted, more) in self.by_fate.iter_mut().zip(&mut others.by_fate) {
            noted.append(more);
        }
    }

    /// The datapoints of a fate, which the caller may reorder and empty.
    pub fn of(&mut self, fate: Fate) -> &mut Vec<Run> {
        &mut self.by_fate[fate.place()]
    }

    /// How many runs of datapoints, and sends of those that are corrected, wait here.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.by_fate.iter().map(Vec::len).sum::<usize>() + self.corrected.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_continues_the_datapoints_before_is_joined_to_them_and_no_other_is() {
        let mut fates = Fates::default();
        let run = |device, first, count| Run { device, first, count };
        fates.note(Fate::Acked, [run(1, 0, 3), run(1, 3, 2), run(1, 6, 1), run(2, 7, 1), run(2, 7, 1)]);
        fates.note(Fate::Failed, [run(2, 8, 1)]);
        fates.note(Fate::Unknown, [run(0, 0, u32::MAX / 2), run(0, u64::from(u32::MAX / 2), 1)]);
        assert_eq!(fates.runs(), 4 + 1 + 2, "no run is longer than can be counted");
        let acked = [(1, 0, 5), (1, 6, 1), (2, 7, 1), (2, 7, 1)];
        assert!(fates.of(Fate::Acked).iter().map(|run| (run.device, run.first, run.count)).eq(acked));
        let mut others = Fates::default();
        others.note(Fate::Failed, [run(5, 0, 1)]);
        fates.append(&mut others);
        assert_eq!((fates.of(Fate::Failed).len(), fates.runs(), others.runs()), (2, 8, 0));
    }
}
