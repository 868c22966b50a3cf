//! What became of the datapoints of an operation, for the ledger and for whoever reads them meanwhile.

use super::LoadLoop;
use crate::{lane::Lane, ledger::Fate};
use iotbench_core::Run;
use std::ops::Range;

/// Which datapoints each connection sent last: when the run gives up what is under way, its batch is gone.
#[derive(Debug)]
pub(super) struct Sent {
    of_lane: Vec<Vec<Run>>,
    /// How far the ledger was told that datapoints are sent.
    told: u64,
}

impl Sent {
    pub(super) fn new(lanes: usize) -> Self {
        Self { of_lane: vec![Vec::new(); lanes], told: 0 }
    }
}

impl LoadLoop {
    /// Notes datapoints that are about to be sent.
    pub(super) fn note_sent(&mut self, lane: &Lane) {
        let runs = lane.exchange.operation.runs();
        if let Some(frontier) = &self.parts.tracking.frontier {
            runs.iter().for_each(|&run| frontier.sends(run));
        }
        if let Some(reached) = &self.parts.tracking.reached {
            reached.sends(runs, &mut self.sent.told);
            if let Some(sent) = self.sent.of_lane.get_mut(lane.number) {
                sent.clear();
                sent.extend_from_slice(runs);
            }
        }
    }

    /// Notes acknowledged datapoints.
    pub(super) fn note_acked(&mut self, runs: &[Run], ended_ns: u64) {
        if let Some(frontier) = &self.parts.tracking.frontier {
            runs.iter().for_each(|&run| frontier.acknowledged(run, ended_ns));
        }
        if self.parts.tracking.reached.is_some() {
            self.slice.fates.note(Fate::Acked, runs.iter().copied());
        }
    }

    /// Notes what became of some rows of what a connection sent last.
    pub(super) fn note_rows(&mut self, lane: usize, fate: Fate, rows: Range<usize>) {
        if self.parts.tracking.reached.is_some()
            && let Some(sent) = self.sent.of_lane.get(lane)
        {
            self.slice.fates.note(fate, part(sent, rows));
        }
    }

    /// Notes rows of a request that was stored in part: all but the `stored` ones, which count from its first, have failed.
    pub(super) fn note_others(&mut self, lane: usize, stored: &[u32], request: Range<usize>) {
        let mut stored: Vec<usize> = stored.iter().map(|&row| request.start + row as usize).collect();
        stored.sort_unstable();
        let mut first = request.start;
        for row in stored.into_iter().filter(|row| request.contains(row)).chain([request.end]) {
            self.note_rows(lane, Fate::Failed, first..row);
            first = row + 1;
        }
    }
}

/// The datapoints in some rows of a batch.
fn part(runs: &[Run], rows: Range<usize>) -> impl Iterator<Item = Run> + '_ {
    let mut start = 0;
    runs.iter().filter_map(move |run| {
        let of_run = start..start + run.count as usize;
        start = of_run.end;
        let (from, to) = (rows.start.max(of_run.start), rows.end.min(of_run.end));
        let count = u32::try_from(to.checked_sub(from)?).ok().filter(|&count| count > 0)?;
        Some(Run { device: run.device, first: run.first + (from - of_run.start) as u64, count })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_batch_are_the_datapoints_that_lie_there() {
        let runs = [Run { device: 0, first: 5, count: 3 }, Run { device: 2, first: 9, count: 4 }];
        let of = |rows| part(&runs, rows).map(|run| (run.device, run.indices())).collect::<Vec<_>>();
        assert_eq!(of(0..7), [(0, 5..8), (2, 9..13)]);
        assert_eq!(of(2..4), [(0, 7..8), (2, 9..10)]);
        assert_eq!(of(3..3), []);
        assert_eq!(of(5..100), [(2, 11..13)]);
    }
}
