//! What should be stored, ascending by device and time: the datapoints that the ledger names, recomputed block by block.

use crate::{
    ledger::{Fate, FateRanges, LedgerSummary},
    read::History,
    verify::{Exactness, indices_in},
};
use iotbench_core::{Batch, Chunk, Run, TimeRange, Value};
use iotbench_simulator::Dataset;
use std::{collections::VecDeque, ops::Range, sync::Arc};

/// Datapoints recomputed at once.
const BLOCK: u64 = 1024;

/// Consecutive datapoints of one fate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub device: u32,
    pub indices: Range<u64>,
    pub fate: Fate,
}

/// What became of the datapoints of some devices.
pub struct Account<'a> {
    pub history: &'a History,
    pub summary: LedgerSummary,
    pub ranges: &'a FateRanges,
    /// Whether what was acknowledged may still come after it was not waited for any longer.
    pub may_come_late: bool,
}

impl Account<'_> {
    /// The datapoints of a device, ascending and disjoint, without those that were dropped on purpose. The history was acknowledged; of a run that did not end, whatever
    /// was reserved and has no other fate is unknown.
    pub fn segments(&self, device: u32) -> Vec<Segment> {
        let of = |fate| self.ranges.of(fate).of_device(device).map(move |indices| (indices, fate));
        let mut found: Vec<_> = Fate::ALL.into_iter().flat_map(of).collect();
        if self.may_come_late {
            found.extend(self.ranges.dropped().of_device(device).map(|indices| (indices, Fate::Unknown)));
        }
        if self.summary.history.is_some() {
            found.extend(self.history.indices(device).into_iter().map(|indices| (indices, Fate::Acked)));
        }
        found.sort_by_key(|(indices, _)| indices.start);
        let mut segments: Vec<Segment> = Vec::with_capacity(found.len());
        let mut end = 0;
        // What comes after all time was never sent, whatever a ledger says.
        let timeless = self.history.dataset.index_at(device, i64::MAX);
        let mut add = |indices: Range<u64>, fate| {
            let indices = indices.start..indices.end.min(timeless);
            match segments.last_mut() {
                _ if indices.is_empty() => {}
                Some(last) if last.fate == fate && last.indices.end == indices.start => last.indices.end = indices.end,
                _ => segments.push(Segment { device, indices, fate }),
            }
        };
        for (indices, fate) in found {
            if !self.summary.ended {
                add(end..indices.start.max(end), Fate::Unknown);
            }
            // None is sent twice; should a ledger say so all the same, the first fate of it counts.
            add(indices.start.max(end)..indices.end.max(end), fate);
            end = end.max(indices.end);
        }
        if !self.summary.ended {
            add(end..self.summary.reserved.max(end), Fate::Unknown);
        }
        segments
    }
}

/// The datapoints of some segments, one after the other.
pub struct ExpectedRows {
    dataset: Arc<dyn Dataset>,
    exactness: Exactness,
    segments: VecDeque<Segment>,
    batch: Batch,
    row: usize,
    device: u32,
    fate: Fate,
}

/// The datapoint that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    pub device: u32,
    pub timestamp_ns: i64,
    pub fate: Fate,
}

/// How a stored datapoint differs from what was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// A value is missing, and none is another.
    Missing(String),
    /// A value is another.
    Value(String),
}

impl ExpectedRows {
    pub fn new(dataset: Arc<dyn Dataset>, exactness: Exactness) -> Self {
        let batch = Batch::new(dataset.schema());
        Self { dataset, exactness, segments: VecDeque::new(), batch, row: 0, device: 0, fate: Fate::Acked }
    }

    /// Begins with the parts of these segments that lie in a stretch of time, ascending by device and index.
    pub fn begin(&mut self, segments: impl IntoIterator<Item = Segment>, range: TimeRange) {
        self.segments.clear();
        self.batch.clear();
        self.row = 0;
        for Segment { device, indices, fate } in segments {
            let asked = indices_in(&*self.dataset, device, range);
            let indices = indices.start.max(asked.start)..indices.end.min(asked.end);
            if !indices.is_empty() {
                self.segments.push_back(Segment { device, indices, fate });
            }
        }
    }

    /// The datapoint that comes next.
    pub fn peek(&mut self) -> Option<Expected> {
        while self.row >= self.batch.len() {
            let segment = self.segments.front_mut()?;
            let Range { start: first, end } = segment.indices;
            let count = u32::try_from((end - first).min(BLOCK)).unwrap_or(u32::MAX);
            (self.device, self.fate, self.row) = (segment.device, segment.fate, 0);
            self.batch.clear();
            self.dataset.fill(Run { device: self.device, first, count }, &mut self.batch);
            segment.indices.start += u64::from(count);
            // Beyond the end of a recording there is nothing more.
            if segment.indices.is_empty() || self.batch.is_empty() {
                self.segments.pop_front();
            }
        }
        let timestamp_ns = *self.batch.timestamps_ns().get(self.row)?;
        Some(Expected { device: self.device, timestamp_ns, fate: self.fate })
    }

    /// Goes on to the one after it.
    pub fn advance(&mut self) {
        self.row += 1;
    }

    /// How a stored row differs from the present datapoint.
    pub fn difference(&self, chunk: &Chunk, row: usize) -> Option<Difference> {
        let signals = self.dataset.schema().signals();
        let mut missing = None;
        for (place, signal) in signals.iter().enumerate() {
            let sent = self.batch.value(place, self.row);
            let stored = chunk.columns.get(place).and_then(|column| column.get(row));
            match (stored, sent) {
                (Some(stored), Some(sent)) if self.exactness.same(stored, sent) => {}
                (Some(stored), sent) => {
                    return Some(Difference::Value(told(&signal.name, Some(stored), sent)));
                }
                (None, sent) => {
                    missing.get_or_insert_with(|| told(&signal.name, None, sent));
                }
            }
        }
        missing.map(Difference::Missing)
    }
}

fn told(signal: &str, stored: Option<Value<'_>>, sent: Option<Value<'_>>) -> String {
    use crate::verify::shown;
    format!("{signal} is {} and was sent as {}", shown(stored), shown(sent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Fates, Journal, Ledger, MemoryLedger};
    use iotbench_simulator::DatasetConfig;
    use std::path::Path;

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
        let account = Account { history: &history, summary, ranges: &ranges, may_come_late };
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

    fn pmu() -> Arc<dyn Dataset> {
        DatasetConfig::named("pmu").unwrap().open(1, 0, 3, Path::new(".")).unwrap()
    }

    fn exact() -> Exactness {
        Exactness::new(|_| iotbench_core::Domain::Full, false)
    }

    /// What comes until there is nothing more, and at most so many.
    fn all(rows: &mut ExpectedRows, most: usize) -> Vec<Expected> {
        let next = || {
            let found = rows.peek();
            rows.advance();
            found
        };
        std::iter::from_fn(next).take(most).collect()
    }

    /// Datapoints that are made again block by block come each once, across the seams of blocks and of segments.
    #[test]
    fn blocks_and_segments_follow_each_other_without_a_seam() {
        let (dataset, mut rows) = (pmu(), ExpectedRows::new(pmu(), exact()));
        let parts =
            [(3..3 + BLOCK, Fate::Acked), (5_000..5_001 + 2 * BLOCK, Fate::Unknown), (9_000..9_001, Fate::Failed)];
        let segments = parts.clone().map(|(indices, fate)| Segment { device: 1, indices, fate });
        let expected: Vec<Expected> = parts
            .into_iter()
            .flat_map(|(indices, fate)| indices.map(move |index| (index, fate)))
            .map(|(index, fate)| Expected { device: 1, timestamp_ns: dataset.timestamp_ns(1, index), fate })
            .collect();
        rows.begin(segments.clone(), TimeRange::ALL);
        assert_eq!(rows.peek(), rows.peek(), "a look does not go on");
        assert_eq!(all(&mut rows, 10_000), expected);
        // Begun again in the middle, with what lies in a stretch of time alone.
        rows.begin(segments.clone(), TimeRange::ALL);
        all(&mut rows, 700);
        let [from, to] = [1_000, 5_001].map(|index| dataset.timestamp_ns(1, index));
        rows.begin(segments, TimeRange::half_open(from, to));
        let inside: Vec<_> = expected.iter().filter(|row| (from..to).contains(&row.timestamp_ns)).copied().collect();
        assert_eq!((all(&mut rows, 10_000), inside.len()), (inside, 3 + 1024 - 1000 + 1));
    }

    /// A ledger that names more datapoints than a recording has.
    #[test]
    fn beyond_the_end_of_a_recording_nothing_is_expected() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("r.csv"), "time,level\n0,1\n1000000000,2\n2000000000,3\n").unwrap();
        let config = serde_json::json!({ "name": "replay", "file": "r.csv" });
        let config: DatasetConfig = serde_json::from_value(config).unwrap();
        let mut rows = ExpectedRows::new(config.open(1, 0, 1, folder.path()).unwrap(), exact());
        rows.begin([Segment { device: 0, indices: 1..u64::from(u32::MAX), fate: Fate::Acked }], TimeRange::ALL);
        assert_eq!(all(&mut rows, 10).len(), 2);
    }

    #[test]
    fn a_difference_says_what_is_stored_and_what_was_sent() {
        let (dataset, mut rows) = (pmu(), ExpectedRows::new(pmu(), exact()));
        rows.begin([Segment { device: 1, indices: 7..8, fate: Fate::Acked }], TimeRange::ALL);
        rows.peek().unwrap();
        let mut batch = Batch::new(dataset.schema());
        dataset.fill(Run { device: 1, first: 7, count: 1 }, &mut batch);
        let (names, sent) = (dataset.schema().signals(), |place| crate::verify::shown(batch.value(place, 0)));
        let difference = |change: &dyn Fn(usize, f32) -> Option<f32>| {
            let mut chunk = Chunk::new(batch.columns().iter().map(iotbench_core::Column::value_type));
            for (place, column) in chunk.columns.iter_mut().enumerate() {
                let Some(Value::F32(value)) = batch.value(place, 0) else { panic!("numbers of 32 bits") };
                column.push(change(place, value).map(Value::F32)).unwrap();
            }
            rows.difference(&chunk, 0)
        };
        assert_eq!(difference(&|_, value| Some(value)), None);
        let lacks = |place: usize| format!("{} is nothing and was sent as {}", names[place].name, sent(place));
        assert_eq!(
            difference(&|place, value| (place < 1).then_some(value)),
            Some(Difference::Missing(lacks(1))),
            "the first"
        );
        let other = format!("{} is 9.5 and was sent as {}", names[2].name, sent(2));
        let both = difference(&|place, value| if place == 2 { Some(9.5) } else { (place != 0).then_some(value) });
        assert_eq!(both, Some(Difference::Value(other)), "another value is worse than a missing one");
    }
}
