//! What should be stored, ascending by device and time: the datapoints that the ledger names, recomputed block by block.

use super::{
    account::Segment,
    corrected::{Policy, Values, Wanted},
};
use crate::{
    ledger::{Fate, Sent, TwoSends},
    read::History,
    verify::{Exactness, indices_in},
};
use iotbench_core::{Batch, Chunk, Duplicates, Run, TimeRange, Value};
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
    /// The same with the values that are corrected later; empty where there are none.
    uncorrected: Batch,
    /// The index of the batch's first datapoint.
    first: u64,
    row: usize,
    device: u32,
    fate: Fate,
    again: Option<Fate>,
    corrected: Option<TwoSends>,
}

/// What is to be known of second sends.
pub struct SecondSends {
    /// What the database does with datapoints of equal device and time.
    pub policy: Policy,
    /// What was there before the load, each once.
    pub history: History,
    /// Whether one may have been sent and nothing told, but for those that were due in the history, which were never sent.
    pub in_doubt: bool,
}

struct SentTwice {
    which: Twice,
    sends: SecondSends,
}

/// The datapoint that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    pub device: u32,
    pub timestamp_ns: i64,
    pub fate: Fate,
    /// What became of it when it was sent a second time, where the database keeps both.
    pub again: Option<Fate>,
    /// Which values each of these is to have.
    pub values: [Values; 2],
    /// Whether its first values are corrected.
    pub is_corrected: bool,
}

impl Expected {
    /// What is to be stored of it: what became of each send that the database keeps, and its values.
    pub fn wanted(self) -> impl Iterator<Item = Wanted> {
        let fates = std::iter::once(self.fate).chain(self.again);
        fates.zip(self.values).map(|(fate, values)| Wanted { fate, values })
    }
}

/// What a stored row is, beside what was sent for its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// It has the right values.
    Right,
    /// It has the values that were sent first.
    First,
    /// It has both, which are alike.
    Both,
    /// Some of its values are right, and the others those that were sent first.
    Mixed,
    /// A value is missing, and none is another.
    Missing(String),
    /// A value is another.
    Other(String),
}

/// How a value is like what was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alike {
    /// It is the right one.
    pub right: bool,
    /// It is the one that was sent first, where that is another.
    pub first: bool,
}

impl ExpectedRows {
    pub fn new(dataset: Arc<dyn Dataset>, exactness: Exactness) -> Self {
        Self {
            batch: Batch::new(dataset.schema()),
            uncorrected: Batch::new(dataset.schema()),
            dataset,
            exactness,
            twice: None,
            segments: VecDeque::new(),
            first: 0,
            row: 0,
            device: 0,
            fate: Fate::Acked,
            again: None,
            corrected: None,
        }
    }

    /// The same of a load that sends some datapoints twice, where the dataset says so.
    pub fn with_second_sends(self, sends: SecondSends) -> Self {
        let twice = self.dataset.twice().map(|which| SentTwice { which, sends });
        Self { twice, ..self }
    }

    /// Begins with the parts of these segments that lie in a stretch of time, ascending by device and index.
    pub fn begin(&mut self, segments: impl IntoIterator<Item = Segment>, range: TimeRange) {
        self.segments.clear();
        self.batch.clear();
        self.row = 0;
        for segment in segments {
            let asked = indices_in(&*self.dataset, segment.device, range);
            let indices = segment.indices.start.max(asked.start)..segment.indices.end.min(asked.end);
            if !indices.is_empty() {
                self.segments.push_back(Segment { indices, ..segment });
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
            (self.first, self.row, self.corrected) = (first, 0, segment.corrected);
            self.batch.clear();
            let run = Run { device: self.device, first, count };
            self.dataset.fill(run, &mut self.batch);
            if self.dataset.corrects() {
                self.uncorrected.clear();
                self.dataset.fill_uncorrected(run, &mut self.uncorrected);
            }
            segment.indices.start += u64::from(count);
            // Beyond the end of a recording there is nothing more.
            if segment.indices.is_empty() || self.batch.is_empty() {
                self.segments.pop_front();
            }
        }
        let timestamp_ns = *self.batch.timestamps_ns().get(self.row)?;
        let (device, values) = (self.device, [Values::Right; 2]);
        let plain = Expected { device, timestamp_ns, fate: self.fate, again: None, values, is_corrected: false };
        Some(self.sent_twice(plain))
    }

    /// The present datapoint, with what became of its second send: only what the dataset sends twice has one.
    fn sent_twice(&self, plain: Expected) -> Expected {
        let Some(SentTwice { which, sends }) = &self.twice else { return plain };
        let position = self.dataset.position_of(self.device, self.first + self.row as u64);
        if !which.is_of(self.device, position) {
            return plain;
        }
        let SecondSends { policy, history, in_doubt } = sends;
        let is_before = |position: u64| self.device < history.devices && position < history.positions;
        let is_in_doubt = *in_doubt && !is_before(which.slot_of_second(position));
        // A history is corrected already.
        if self.dataset.corrects() && !is_before(position) {
            let unknown = Some(Sent { fate: Fate::Unknown, sent_ns: 0, ended_ns: u64::MAX }).filter(|_| *in_doubt);
            let TwoSends { first, second } = self.corrected.unwrap_or_default();
            let told = TwoSends { first: first.or(unknown), second: second.or(unknown) };
            let [one, other] = policy.wanted(told);
            let fate_of = |wanted: Wanted| wanted.fate;
            return Expected {
                fate: one.map_or(Fate::Failed, fate_of),
                again: other.map(fate_of),
                values: [one, other].map(|wanted| wanted.map_or(Values::Right, |wanted| wanted.values)),
                is_corrected: true,
                ..plain
            };
        }
        let keeps_both = policy.duplicates == Duplicates::Keep;
        let again = self.again.or(is_in_doubt.then_some(Fate::Unknown)).filter(|_| keeps_both);
        match self.fate {
            Fate::Failed if is_in_doubt => Expected { fate: Fate::Unknown, ..plain },
            Fate::Failed => plain,
            Fate::Acked | Fate::Unknown => Expected { again, ..plain },
        }
    }

    /// Goes on to the one after it.
    pub fn advance(&mut self) {
        self.row += 1;
    }

    /// The first signal that the present datapoint lacks, because it was sent before it was added.
    fn lacks_from(&self) -> usize {
        let schema = self.dataset.schema();
        let lacks = |from| self.dataset.position_of(self.device, self.first + self.row as u64) < from;
        if self.dataset.added_from().is_some_and(lacks) { schema.first_signals().len() } else { schema.width() }
    }

    /// What a stored row is beside the present datapoint, whose first values may be corrected. Tells of each value how it is
    /// alike.
    pub fn likeness(
        &self,
        is_corrected: bool,
        chunk: &Chunk,
        row: usize,
        tell: &mut dyn FnMut(usize, Alike),
    ) -> Likeness {
        let (mut missing, mut right, mut first) = (None, true, is_corrected);
        let lacks_from = self.lacks_from();
        for (place, signal) in self.dataset.schema().signals().iter().enumerate() {
            let sent = self.batch.value(place, self.row).filter(|_| place < lacks_from);
            let stored = chunk.columns.get(place).and_then(|column| column.get(row));
            let Some(value) = stored else {
                if sent.is_none() {
                    continue;
                }
                missing.get_or_insert_with(|| told(&signal.name, None, sent));
                continue;
            };
            let is = |sent: Option<Value<'_>>| sent.is_some_and(|sent| self.exactness.same(value, sent));
            let of_first = is_corrected && is(self.uncorrected.value(place, self.row));
            let alike = Alike { right: is(sent), first: of_first };
            if alike == (Alike { right: false, first: false }) {
                return Likeness::Other(told(&signal.name, stored, sent));
            }
            tell(place, alike);
            (right, first) = (right && alike.right, first && alike.first);
        }
        match (missing, right, first) {
            (Some(missing), ..) => Likeness::Missing(missing),
            (None, true, true) => Likeness::Both,
            (None, true, false) => Likeness::Right,
            (None, false, true) => Likeness::First,
            (None, false, false) => Likeness::Mixed,
        }
    }

    /// What was sent first and what afterwards, by the first signal of which that differs.
    pub fn correction(&self) -> String {
        let signals = self.dataset.schema().signals().iter().enumerate();
        let differing = signals.filter_map(|(place, signal)| {
            let (first, right) = (self.uncorrected.value(place, self.row)?, self.batch.value(place, self.row)?);
            let shown = |value| crate::verify::shown(Some(value));
            (!self.exactness.same(first, right))
                .then(|| format!("{} was sent as {} and corrected to {}", signal.name, shown(first), shown(right)))
        });
        differing.into_iter().next().unwrap_or_default()
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
            let policy = Policy { duplicates: Duplicates::Keep, is_in_order: true };
            let rows = ExpectedRows::new(Arc::clone(&dataset), exact());
            let mut rows = rows.with_second_sends(SecondSends { policy, history, in_doubt });
            rows.begin([Segment { device: 1, indices: 0..400, fate, again, corrected: None }], TimeRange::ALL);
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
        let segments =
            parts.clone().map(|(indices, fate)| Segment { device: 1, indices, fate, again: None, corrected: None });
        let expected: Vec<Expected> = parts
            .into_iter()
            .flat_map(|(indices, fate)| indices.map(move |index| (index, fate)))
            .map(|(index, fate)| Expected {
                device: 1,
                timestamp_ns: dataset.timestamp_ns(1, index),
                fate,
                again: None,
                values: [Values::Right; 2],
                is_corrected: false,
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
            [Segment { device: 0, indices: 1..u64::from(u32::MAX), fate: Fate::Acked, again: None, corrected: None }],
            TimeRange::ALL,
        );
        assert_eq!(all(&mut rows, 10).len(), 2);
    }

    #[test]
    fn a_difference_says_what_is_stored_and_what_was_sent() {
        let (dataset, mut rows) = (pmu(), ExpectedRows::new(pmu(), exact()));
        rows.begin(
            [Segment { device: 1, indices: 7..8, fate: Fate::Acked, again: None, corrected: None }],
            TimeRange::ALL,
        );
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
            rows.likeness(false, &chunk, 0, &mut |_, _| ())
        };
        assert_eq!(difference(&|_, value| Some(value)), Likeness::Right);
        let lacks = |place: usize| format!("{} is nothing and was sent as {}", names[place].name, sent(place));
        assert_eq!(difference(&|place, value| (place < 1).then_some(value)), Likeness::Missing(lacks(1)), "the first");
        let other = format!("{} is 9.5 and was sent as {}", names[2].name, sent(2));
        let both = difference(&|place, value| if place == 2 { Some(9.5) } else { (place != 0).then_some(value) });
        assert_eq!(both, Likeness::Other(other), "another value is worse than a missing one");
    }
}
