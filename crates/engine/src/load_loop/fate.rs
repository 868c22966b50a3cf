//! What became of the datapoints of an operation, for the ledger and for whoever reads them meanwhile.

use super::LoadLoop;
use crate::{
    lane::{Lane, applied_runs},
    ledger::{self, CorrectedSend, Fate},
    source::CorrectedRow,
};
use iotbench_core::{Batch, Run};
use std::ops::Range;

/// Which datapoints each connection sent last: when the run gives up what is under way, its batch is gone.
#[derive(Debug)]
pub(super) struct Sent {
    of_lane: Vec<LastSend>,
    /// How far the ledger was told that datapoints are sent.
    told: u64,
}

/// What a connection sent last.
#[derive(Clone, Debug, Default)]
struct LastSend {
    runs: Vec<Run>,
    /// Those of them that are sent wrong and then right.
    corrected: Vec<CorrectedRow>,
    sent_ns: u64,
}

impl Sent {
    pub(super) fn new(lanes: usize) -> Self {
        Self { of_lane: vec![LastSend::default(); lanes], told: 0 }
    }
}

impl LoadLoop {
    /// Notes datapoints that are about to be sent.
    pub(super) fn note_sent(&mut self, lane: &Lane, sent_ns: u64) {
        let runs = lane.exchange.operation.runs();
        if let Some(frontier) = &self.parts.tracking.frontier {
            runs.iter().for_each(|&run| frontier.sends(run));
        }
        if let Some(reached) = &self.parts.tracking.reached {
            reached.sends(runs, &mut self.sent.told);
            if let Some(sent) = self.sent.of_lane.get_mut(lane.number) {
                sent.runs.clear();
                sent.runs.extend_from_slice(runs);
                self.parts.source.take_corrected(&mut sent.corrected);
                sent.sent_ns = sent_ns;
            }
        }
    }

    /// Notes datapoints that were acknowledged, which are these rows of what a connection sent last.
    pub(super) fn note_acked(&mut self, lane: usize, runs: &[Run], rows: Range<usize>, ended_ns: u64) {
        if let Some(frontier) = &self.parts.tracking.frontier {
            runs.iter().for_each(|&run| frontier.acknowledged(run, ended_ns));
        }
        if self.parts.tracking.reached.is_some() {
            self.slice.fates.note(Fate::Acked, runs.iter().copied());
            self.note_corrected(lane, Fate::Acked, rows, ended_ns);
        }
    }

    /// Notes those rows of a batch as acknowledged that were stored of it; its first row is that row of what the connection sent last.
    pub(super) fn note_stored(&mut self, lane: usize, batch: &Batch, stored: &[u32], first_row: usize, ended_ns: u64) {
        let runs: Vec<Run> = applied_runs(batch, stored).collect();
        self.note_acked(lane, &runs, 0..0, ended_ns);
        if self.parts.tracking.reached.is_some() {
            for row in stored.iter().map(|&row| first_row + row as usize) {
                self.note_corrected(lane, Fate::Acked, row..row + 1, ended_ns);
            }
        }
    }

    fn note_corrected(&mut self, lane: usize, fate: Fate, rows: Range<usize>, ended_ns: u64) {
        let Some(LastSend { corrected, sent_ns, .. }) = self.sent.of_lane.get(lane) else { return };
        let sent = ledger::Sent { fate, sent_ns: *sent_ns, ended_ns: ended_ns.max(*sent_ns) };
        for &CorrectedRow { device, index, is_second, .. } in corrected.iter().filter(|of| rows.contains(&of.row)) {
            self.slice.fates.note_corrected(CorrectedSend { device, index, is_second, sent });
        }
    }

    /// Notes what became of some rows of what a connection sent last.
    pub(super) fn note_rows(&mut self, lane: usize, fate: Fate, rows: Range<usize>) {
        if self.parts.tracking.reached.is_some()
            && let Some(sent) = self.sent.of_lane.get(lane)
        {
            self.slice.fates.note(fate, part(&sent.runs, rows.clone()));
            self.note_corrected(lane, fate, rows, 0);
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
