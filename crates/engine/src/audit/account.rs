//! What became of the datapoints of a device: the history, and what the ledger names, each as often as it was sent. Pure.

use crate::{
    ledger::{Fate, FateRanges, LedgerSummary, TwoSends},
    read::History,
};
use std::ops::Range;

/// Consecutive datapoints of one fate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub device: u32,
    pub indices: Range<u64>,
    pub fate: Fate,
    /// The fate of what was sent of each a second time, where the database keeps both.
    pub again: Option<Fate>,
    /// What became of each send, where it is one datapoint that is sent wrong and then right.
    pub corrected: Option<TwoSends>,
}

/// What became of the datapoints of some devices.
pub struct Account<'a> {
    pub history: &'a History,
    pub summary: LedgerSummary,
    pub ranges: &'a FateRanges,
    /// Whether what was acknowledged may still come after it was not waited for any longer.
    pub may_come_late: bool,
    /// Whether what is sent twice is stored twice; else the second send changes nothing of what is stored.
    pub keeps_both: bool,
}

/// How often a stretch of datapoints was sent, by fate, and whether it was reserved.
#[derive(Clone, Copy, Default)]
struct Sent {
    acked: u32,
    unknown: u32,
    failed: u32,
    reserved: u32,
}

/// Of which count a stretch is one.
type Tally = fn(&mut Sent) -> &mut u32;

impl Account<'_> {
    /// The datapoints of a device, ascending and disjoint, without those that were dropped on purpose. The history was acknowledged; of a run that did not end, whatever
    /// was reserved and has no other fate is unknown. What was acknowledged once is stored, whatever became of its other send.
    pub fn segments(&self, device: u32) -> Vec<Segment> {
        let mut segments: Vec<Segment> = Vec::new();
        let mut add = |indices: Range<u64>, (fate, again)| match segments.last_mut() {
            Some(last) if (last.fate, last.again, last.indices.end) == (fate, again, indices.start) => {
                last.indices.end = indices.end;
            }
            _ => segments.push(Segment { device, indices, fate, again, corrected: None }),
        };
        let (mut sent, mut from) = (Sent::default(), 0);
        for (at, begins, of) in self.edges(device) {
            if let Some(fates) = self.fates(sent).filter(|_| from < at) {
                add(from..at, fates);
            }
            let count = of(&mut sent);
            *count = if begins { *count + 1 } else { count.saturating_sub(1) };
            from = at;
        }
        self.with_corrected(segments, device)
    }

    /// The same segments, each datapoint by itself of which the ledger tells both sends.
    fn with_corrected(&self, segments: Vec<Segment>, device: u32) -> Vec<Segment> {
        let mut corrected = self.ranges.corrected(device, self.may_come_late).peekable();
        if corrected.peek().is_none() {
            return segments;
        }
        let mut cut = Vec::with_capacity(segments.len());
        for mut segment in segments {
            while corrected.next_if(|(index, _)| *index < segment.indices.start).is_some() {}
            while let Some((index, sends)) = corrected.next_if(|(index, _)| segment.indices.contains(index)) {
                let before = Segment { indices: segment.indices.start..index, ..segment.clone() };
                cut.extend((!before.indices.is_empty()).then_some(before));
                cut.push(Segment { indices: index..index + 1, corrected: Some(sends), ..segment.clone() });
                segment.indices.start = index + 1;
            }
            cut.extend((!segment.indices.is_empty()).then_some(segment));
        }
        cut
    }

    /// Where stretches of datapoints begin and end, ascending.
    fn edges(&self, device: u32) -> Vec<(u64, bool, Tally)> {
        let mut edges: Vec<(u64, bool, Tally)> = Vec::new();
        // What comes after all time was never sent, whatever a ledger says.
        let timeless = self.history.dataset.index_at(device, i64::MAX);
        let mut add = |indices: Range<u64>, of: Tally| {
            let indices = indices.start..indices.end.min(timeless);
            if !indices.is_empty() {
                edges.extend([(indices.start, true, of), (indices.end, false, of)]);
            }
        };
        for fate in Fate::ALL {
            let of: Tally = match fate {
                Fate::Acked => |sent| &mut sent.acked,
                Fate::Failed => |sent| &mut sent.failed,
                Fate::Unknown => |sent| &mut sent.unknown,
            };
            let (once, again) = (self.ranges.of(fate), self.ranges.again(fate));
            once.of_device(device).chain(again.of_device(device)).for_each(|indices| add(indices, of));
        }
        if self.may_come_late {
            let (once, again) = (self.ranges.dropped(), self.ranges.dropped_again());
            let dropped = once.of_device(device).chain(again.of_device(device));
            dropped.for_each(|indices| add(indices, |sent| &mut sent.unknown));
        }
        if self.summary.history.is_some() {
            self.history.indices(device).into_iter().for_each(|indices| add(indices, |sent| &mut sent.acked));
        }
        if !self.summary.ended {
            add(0..self.summary.reserved, |sent| &mut sent.reserved);
        }
        edges.sort_unstable_by_key(|&(at, ..)| at);
        edges
    }

    /// What became of each of them, and of its second send.
    fn fates(&self, sent: Sent) -> Option<(Fate, Option<Fate>)> {
        let Sent { acked, unknown, failed, reserved } = sent;
        let again =
            (self.keeps_both && acked + unknown > 1).then_some(if acked > 1 { Fate::Acked } else { Fate::Unknown });
        match (acked > 0, unknown > 0 || (failed == 0 && reserved > 0), failed > 0) {
            (true, ..) => Some((Fate::Acked, again)),
            (false, true, _) => Some((Fate::Unknown, again)),
            (false, false, true) => Some((Fate::Failed, None)),
            (false, false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Fates, Journal, Ledger, MemoryLedger};
    use iotbench_core::Run;
    use iotbench_simulator::DatasetConfig;
    use std::{path::Path, sync::Arc};

    /// Device 1 with these ranges of each fate, after a history of its first ten datapoints.
    fn ledger(fates: &[(Fate, u64, u32)], ends: bool) -> Ledger {
        let store = Arc::new(MemoryLedger::default());
        let mut journal = Journal::begin(store.clone(), &"head").unwrap();
        journal.history(2, 10).unwrap();
        let mut noted = Fates::default();
        for &(fate, first, count) in fates {
            noted.note(fate, [Run { device: 1, first, count }]);
        }
        journal.note(&mut noted).unwrap();
        journal.flush().unwrap();
        if ends {
            journal.end().unwrap();
        }
        Ledger::new(store)
    }

    fn segments(ledger: &Ledger, reserved: u64, may_come_late: bool) -> Vec<(Range<u64>, Fate)> {
        let dataset = DatasetConfig::named("pmu").unwrap().open(1, 0, 3, Path::new(".")).unwrap();
        let history = History { dataset, devices: 2, positions: 10 };
        let summary = LedgerSummary { reserved, ..ledger.summary().unwrap() };
        let ranges = ledger.ranges(&|_| true, 100).unwrap().unwrap();
        let account = Account { history: &history, summary, ranges: &ranges, may_come_late, keeps_both: false };
        account.segments(1).into_iter().map(|segment| (segment.indices, segment.fate)).collect()
    }

    const FATES: [(Fate, u64, u32); 4] =
        [(Fate::Acked, 10, 5), (Fate::Unknown, 15, 2), (Fate::Failed, 20, 1), (Fate::Acked, 21, 3)];

    #[test]
    fn of_a_run_that_ended_each_datapoint_has_the_fate_that_was_told() {
        let expected = [(0..15, Fate::Acked), (15..17, Fate::Unknown), (20..21, Fate::Failed), (21..24, Fate::Acked)];
        assert_eq!(segments(&ledger(&FATES, true), 100, false), expected);
    }

    #[test]
    fn of_a_run_that_did_not_end_all_that_was_reserved_is_unknown_unless_it_was_told() {
        let expected = [
            (0..15, Fate::Acked),
            (15..20, Fate::Unknown),
            (20..21, Fate::Failed),
            (21..24, Fate::Acked),
            (24..30, Fate::Unknown),
        ];
        assert_eq!(segments(&ledger(&FATES, false), 30, false), expected);
        assert_eq!(segments(&ledger(&FATES, false), 22, false)[..4], expected[..4], "less than was told");
        assert_eq!(segments(&ledger(&FATES, false), 22, false).len(), 4);
    }

    /// Should a ledger name a datapoint twice, the first of its fates counts.
    #[test]
    fn no_datapoint_has_two_fates() {
        let twice = [(Fate::Acked, 10, 5), (Fate::Unknown, 12, 6)];
        assert_eq!(segments(&ledger(&twice, true), 0, false), [(0..15, Fate::Acked), (15..18, Fate::Unknown)]);
        let within = [(Fate::Acked, 10, 5), (Fate::Unknown, 12, 1)];
        assert_eq!(segments(&ledger(&within, true), 0, false), [(0..15, Fate::Acked)]);
    }

    /// The fates of a device's datapoints, in stretches, where both of two are kept, or the first alone.
    fn twice(fates: &[(Fate, u64, u32)], keeps_both: bool) -> Vec<(Range<u64>, Fate, Option<Fate>)> {
        let dataset = DatasetConfig::named("pmu").unwrap().open(1, 0, 3, Path::new(".")).unwrap();
        let history = History { dataset, devices: 2, positions: 10 };
        let ledger = ledger(fates, true);
        let (summary, ranges) = (ledger.summary().unwrap(), ledger.ranges(&|_| true, 100).unwrap().unwrap());
        let account = Account { history: &history, summary, ranges: &ranges, may_come_late: false, keeps_both };
        account.segments(1).into_iter().map(|s| (s.indices, s.fate, s.again)).collect()
    }

    #[test]
    fn what_was_sent_twice_has_both_fates_where_both_are_kept() {
        let fates = [
            (Fate::Acked, 10, 10),
            // Of the history, and of the load.
            (Fate::Acked, 3, 1),
            (Fate::Acked, 12, 2),
            (Fate::Unknown, 15, 1),
            (Fate::Failed, 17, 1),
            // Without an answer, twice, and refused, and then taken.
            (Fate::Unknown, 20, 2),
            (Fate::Unknown, 21, 1),
            (Fate::Failed, 30, 2),
            (Fate::Acked, 31, 1),
        ];
        let (acked, unknown) = (Fate::Acked, Fate::Unknown);
        let kept = [
            (0..3, acked, None),
            (3..4, acked, Some(acked)),
            (4..12, acked, None),
            (12..14, acked, Some(acked)),
            (14..15, acked, None),
            (15..16, acked, Some(unknown)),
            (16..20, acked, None),
            (20..21, unknown, None),
            (21..22, unknown, Some(unknown)),
            (30..31, Fate::Failed, None),
            (31..32, acked, None),
        ];
        assert_eq!(twice(&fates, true), kept);
        let replaced =
            [(0..20, acked, None), (20..22, unknown, None), (30..31, Fate::Failed, None), (31..32, acked, None)];
        assert_eq!(twice(&fates, false), replaced);
    }

    #[test]
    fn what_was_dropped_on_purpose_is_expected_only_where_it_may_come_late() {
        let store = Arc::new(MemoryLedger::default());
        let mut journal = Journal::begin(store.clone(), &"head").unwrap();
        let mut fates = Fates::default();
        fates.note(Fate::Acked, [Run { device: 1, first: 0, count: 5 }]);
        journal.note(&mut fates).unwrap();
        journal.dropping().unwrap();
        journal.dropped().unwrap();
        journal.end().unwrap();
        let ledger = Ledger::new(store);
        assert_eq!(segments(&ledger, 0, false), []);
        assert_eq!(segments(&ledger, 0, true), [(0..5, Fate::Unknown)]);
    }
}
