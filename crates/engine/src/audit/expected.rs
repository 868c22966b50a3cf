//! What should be stored, ascending by device and time: the datapoints that the ledger names, recomputed block by block.

use super::account::Segment;
use crate::{
    ledger::Fate,
    read::History,
    verify::{Exactness, indices_in},
};
use iotbench_core::{Batch, Chunk, Run, TimeRange, Value};
use iotbench_simulator::{Dataset, Twice};
use std::{collections::VecDeque, ops::Range, sync::Arc};

/// Datapoints recomputed at once.
const BLOCK: u64 = 1024;

/// The datapoints of some segments, one after the other.
pub struct ExpectedRows {
    dataset: Arc<dyn Dataset>,
    exactness: Exactness,
    twice: Option<SentTwice>,
    segments: VecDeque<Segment>,
    batch: Batch,
    /// The index of the batch's first datapoint.
    first: u64,
    row: usize,
    device: u32,
    fate: Fate,
    again: Option<Fate>,
}

/// What is to be known of second sends.
struct SentTwice {
    which: Twice,
    keeps_both: bool,
    /// What was there before a load of which one may have been sent and nothing told; `None`: all is told.
    in_doubt: Option<History>,
}

/// The datapoint that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    pub device: u32,
    pub timestamp_ns: i64,
    pub fate: Fate,
    /// What became of it when it was sent a second time, where the database keeps both.
    pub again: Option<Fate>,
}

impl Expected {
    /// What became of each send of it that the database keeps.
    pub fn fates(self) -> impl Iterator<Item = Fate> {
        std::iter::once(self.fate).chain(self.again)
    }
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
        let (segments, fate) = (VecDeque::new(), Fate::Acked);
        Self { dataset, exactness, twice: None, segments, batch, first: 0, row: 0, device: 0, fate, again: None }
    }

    /// The same of a load that sends some datapoints twice, where the dataset says so. `in_doubt`: the run did not end, so that a second
    /// send may be stored of which nothing was told, but for those that were due in this history, which were never sent.
    pub fn with_second_sends(self, keeps_both: bool, in_doubt: Option<History>) -> Self {
        let twice = self.dataset.twice().map(|which| SentTwice { which, keeps_both, in_doubt });
        Self { twice, ..self }
    }

    /// Begins with the parts of these segments that lie in a stretch of time, ascending by device and index.
    pub fn begin(&mut self, segments: impl IntoIterator<Item = Segment>, range: TimeRange) {
        self.segments.clear();
        self.batch.clear();
        self.row = 0;
        for Segment { device, indices, fate, again } in segments {
            let asked = indices_in(&*self.dataset, device, range);
            let indices = indices.start.max(asked.start)..indices.end.min(asked.end);
            if !indices.is_empty() {
                self.segments.push_back(Segment { device, indices, fate, again });
            }
        }
    }

    /// The datapoint that comes next.
    pub fn peek(&mut self) -> Option<Expected> {
        while self.row >= self.batch.len() {
            let segment = self.segments.front_mut()?;
            let Range { start: first, end } = segment.indices;
            let count = u32::try_from((end - first).min(BLOCK)).unwrap_or(u32::MAX);
            (self.device, self.fate, self.again) = (segment.device, segment.fate, segment.again);
            (self.first, self.row) = (first, 0);
            self.batch.clear();
            self.dataset.fill(Run { device: self.device, first, count }, &mut self.batch);
            segment.indices.start += u64::from(count);
            // Beyond the end of a recording there is nothing more.
            if segment.indices.is_empty() || self.batch.is_empty() {
                self.segments.pop_front();
            }
        }
        let timestamp_ns = *self.batch.timestamps_ns().get(self.row)?;
        let (fate, again) = self.fates();
        Some(Expected { device: self.device, timestamp_ns, fate, again })
    }

    /// What became of the present datapoint, and of its second send: only what the dataset sends twice has one.
    fn fates(&self) -> (Fate, Option<Fate>) {
        let Some(twice) = &self.twice else { return (self.fate, None) };
        let position = self.dataset.position_of(self.device, self.first + self.row as u64);
        if !twice.which.is_of(self.device, position) {
            return (self.fate, None);
        }
        let is_in_doubt = twice.in_doubt.as_ref().is_some_and(|history| {
            self.device >= history.devices || twice.which.slot_of_second(position) >= history.positions
        });
        match self.fate {
            Fate::Failed if is_in_doubt => (Fate::Unknown, None),
            Fate::Failed => (Fate::Failed, None),
            fate => (fate, self.again.or(is_in_doubt.then_some(Fate::Unknown)).filter(|_| twice.keeps_both)),
        }
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
    use iotbench_simulator::DatasetConfig;
    use std::path::Path;

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

    /// A second send of which nothing was told may be stored, but only of what is sent twice.
    #[test]
    fn of_a_run_that_did_not_end_a_second_send_is_in_doubt() {
        let config = DatasetConfig::named("pmu").unwrap();
        let dataset =
            config.with("twice", serde_json::json!({ "share": 0.25, "after": "1s" })).open(1, 0, 3, Path::new("."));
        let dataset = dataset.unwrap();
        let fates = |in_doubt: bool, fate, again| {
            let history = History { dataset: Arc::clone(&dataset), devices: 2, positions: 150 };
            let rows = ExpectedRows::new(Arc::clone(&dataset), exact());
            let mut rows = rows.with_second_sends(true, in_doubt.then_some(history));
            rows.begin([Segment { device: 1, indices: 0..400, fate, again }], TimeRange::ALL);
            all(&mut rows, 1_000).into_iter().map(|row| (row.fate, row.again)).collect::<Vec<_>>()
        };
        let which = dataset.twice().unwrap();
        let sent_twice: Vec<bool> = (0..400).map(|index| which.is_of(1, index)).collect();
        assert_eq!(sent_twice.iter().filter(|is| **is).count(), 100);
        for (in_doubt, fate, again, of_twice, of_once) in [
            (true, Fate::Acked, None, (Fate::Acked, Some(Fate::Unknown)), (Fate::Acked, None)),
            (true, Fate::Failed, None, (Fate::Unknown, None), (Fate::Failed, None)),
            (true, Fate::Unknown, None, (Fate::Unknown, Some(Fate::Unknown)), (Fate::Unknown, None)),
            (false, Fate::Acked, None, (Fate::Acked, None), (Fate::Acked, None)),
            (false, Fate::Acked, Some(Fate::Acked), (Fate::Acked, Some(Fate::Acked)), (Fate::Acked, None)),
        ] {
            // Fifty datapoints later, and so not in the load.
            let of_history = (fate, again);
            let sent_twice = sent_twice.iter().enumerate();
            let expected: Vec<_> = sent_twice
                .map(|(position, &is)| match (is, position) {
                    (true, ..100) => of_history,
                    (true, _) => of_twice,
                    (false, _) => of_once,
                })
                .collect();
            assert_eq!(fates(in_doubt, fate, again), expected, "{in_doubt} {fate:?} {again:?}");
        }
    }

    /// Datapoints that are made again block by block come each once, across the seams of blocks and of segments.
    #[test]
    fn blocks_and_segments_follow_each_other_without_a_seam() {
        let (dataset, mut rows) = (pmu(), ExpectedRows::new(pmu(), exact()));
        let parts =
            [(3..3 + BLOCK, Fate::Acked), (5_000..5_001 + 2 * BLOCK, Fate::Unknown), (9_000..9_001, Fate::Failed)];
        let segments = parts.clone().map(|(indices, fate)| Segment { device: 1, indices, fate, again: None });
        let expected: Vec<Expected> = parts
            .into_iter()
            .flat_map(|(indices, fate)| indices.map(move |index| (index, fate)))
            .map(|(index, fate)| Expected {
                device: 1,
                timestamp_ns: dataset.timestamp_ns(1, index),
                fate,
                again: None,
            })
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
        rows.begin(
            [Segment { device: 0, indices: 1..u64::from(u32::MAX), fate: Fate::Acked, again: None }],
            TimeRange::ALL,
        );
        assert_eq!(all(&mut rows, 10).len(), 2);
    }

    #[test]
    fn a_difference_says_what_is_stored_and_what_was_sent() {
        let (dataset, mut rows) = (pmu(), ExpectedRows::new(pmu(), exact()));
        rows.begin([Segment { device: 1, indices: 7..8, fate: Fate::Acked, again: None }], TimeRange::ALL);
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
