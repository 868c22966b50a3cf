//! The unit that crosses the seam: many datapoints with their identity.

use crate::{Column, Schema, Tags, Value};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Consecutive datapoints of one device: indices `first .. first + count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Run {
    /// The device, from 0.
    pub device: u32,
    /// The index of the first datapoint.
    pub first: u64,
    /// How many datapoints, at least one.
    pub count: u32,
}

impl Run {
    /// The indices of its datapoints.
    #[must_use]
    pub fn indices(&self) -> Range<u64> {
        self.first..self.first + u64::from(self.count)
    }
}

/// Datapoints as columns, with the [`Run`]s that say which ones they are.
///
/// Row `r` of every column and of the timestamps is one datapoint; the rows of the first run come first. A batch is
/// filled, written, cleared and filled again: its buffers are kept, so that a warm batch allocates nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    runs: Vec<Run>,
    timestamps_ns: Vec<i64>,
    columns: Vec<Column>,
    /// How many of the last columns its rows lack.
    #[serde(default)]
    lacking: usize,
}

impl Batch {
    /// An empty batch for datapoints of this schema.
    #[must_use]
    pub fn new(schema: &Schema) -> Self {
        Self {
            runs: Vec::new(),
            timestamps_ns: Vec::new(),
            columns: schema.signals().iter().map(|s| Column::new(s.value_type)).collect(),
            lacking: 0,
        }
    }

    /// Removes all datapoints and keeps the memory. It has all columns again.
    pub fn clear(&mut self) {
        self.lacking = 0;
        self.runs.clear();
        self.timestamps_ns.clear();
        self.columns.iter_mut().for_each(Column::clear);
    }

    /// Appends the datapoints of a run. `fill` gets the timestamps (ns since the Unix epoch) and the columns and must
    /// append exactly `run.count` entries to each. A run that continues the last one is joined to it.
    ///
    /// # Panics
    /// When `fill` leaves columns of different lengths: a fault of the program, not of its input.
    pub fn append(&mut self, run: Run, fill: impl FnOnce(&mut Vec<i64>, &mut [Column])) {
        fill(&mut self.timestamps_ns, &mut self.columns);
        self.note(run);
        let rows = self.timestamps_ns.len();
        assert!(self.columns().iter().all(|c| c.len() == rows), "a filled batch has columns of different lengths");
    }

    /// Takes the last so many columns away until it is cleared: its datapoints lack these signals.
    pub fn lack(&mut self, signals: usize) {
        self.lacking = signals;
    }

    /// How many of the schema's last signals its datapoints lack.
    #[must_use]
    pub fn lacking(&self) -> usize {
        self.lacking
    }

    /// Gives the rows from this one on other timestamps, as many as there are.
    pub fn set_timestamps_ns(&mut self, first: usize, timestamps_ns: impl IntoIterator<Item = i64>) {
        let rows = self.timestamps_ns.iter_mut().skip(first);
        rows.zip(timestamps_ns).for_each(|(timestamp_ns, other)| *timestamp_ns = other);
    }

    fn note(&mut self, run: Run) {
        match self.runs.last_mut() {
            Some(last) if last.device == run.device && last.indices().end == run.first => last.count += run.count,
            _ => self.runs.push(run),
        }
    }

    /// The identity of the datapoints, in row order.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The runs, each with the rows it occupies.
    pub fn run_rows(&self) -> impl Iterator<Item = RunRows> + '_ {
        self.runs.iter().scan(0_usize, |start, &run| {
            let rows = *start..*start + run.count as usize;
            *start = rows.end;
            Some(RunRows { run, rows })
        })
    }

    /// The runs, each with the rows it occupies, in parts of which each has the same tags ([`Tags::at`] its first datapoint).
    pub fn tagged_rows<'a>(&'a self, tags: &'a Tags) -> impl Iterator<Item = RunRows> + 'a {
        self.run_rows().flat_map(move |RunRows { mut run, mut rows }| {
            std::iter::from_fn(move || {
                let left = u64::from(run.count);
                let count = tags.next_unit(run.device, run.first).saturating_sub(run.first).min(left);
                let part = Run { count: u32::try_from(count).unwrap_or(run.count), ..run };
                let of_part = rows.start..rows.start + part.count as usize;
                (run.first, run.count, rows.start) = (run.first + count, run.count - part.count, of_part.end);
                (part.count > 0).then_some(RunRows { run: part, rows: of_part })
            })
        })
    }

    /// The timestamps in nanoseconds since the Unix epoch, one a row.
    #[must_use]
    pub fn timestamps_ns(&self) -> &[i64] {
        &self.timestamps_ns
    }

    /// The values, one column a signal, in the schema's order, without those that it [lacks](Self::lack).
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        self.columns.get(..self.columns.len().saturating_sub(self.lacking)).unwrap_or_default()
    }

    /// The value of a signal in a row.
    #[must_use]
    pub fn value(&self, signal: usize, row: usize) -> Option<Value<'_>> {
        self.columns().get(signal)?.get(row)
    }

    /// The number of datapoints.
    #[must_use]
    pub fn len(&self) -> usize {
        self.timestamps_ns.len()
    }

    /// True when there is no datapoint.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.timestamps_ns.is_empty()
    }
}

/// A run and the rows of its batch that hold it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRows {
    /// Which datapoints.
    pub run: Run,
    /// In which rows.
    pub rows: Range<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Signal, ValueType};

    fn batch() -> Batch {
        let signal = Signal { name: "a".into(), value_type: ValueType::I64, max_text_bytes: 0 };
        Batch::new(&Schema::new(vec![signal]).unwrap())
    }

    fn fill(batch: &mut Batch, run: Run) {
        batch.append(run, |timestamps, columns| {
            for index in run.indices() {
                timestamps.push(i64::try_from(index).unwrap());
                assert!(columns[0].push(Value::I64(0)));
            }
        });
    }

    #[test]
    fn continued_runs_are_joined_and_others_kept_apart() {
        let mut batch = batch();
        fill(&mut batch, Run { device: 0, first: 5, count: 2 });
        fill(&mut batch, Run { device: 0, first: 7, count: 1 });
        fill(&mut batch, Run { device: 1, first: 8, count: 1 });
        fill(&mut batch, Run { device: 1, first: 20, count: 1 });
        assert_eq!(batch.runs().len(), 3);
        let rows: Vec<_> = batch.run_rows().map(|r| (r.run.device, r.rows)).collect();
        assert_eq!(rows, [(0, 0..3), (1, 3..4), (1, 4..5)]);
        batch.clear();
        assert!(batch.is_empty() && batch.runs().is_empty());
    }

    #[test]
    fn a_run_in_which_a_unit_is_replaced_comes_in_parts() {
        let mut batch = batch();
        fill(&mut batch, Run { device: 0, first: 5, count: 2 });
        fill(&mut batch, Run { device: 1, first: 3, count: 25 });
        let values = crate::TagValues::Serial { prefix: "s".into(), life: 10 };
        let tags = Tags::new(3, vec![crate::Tag { name: "serial".into(), values }]).unwrap();
        let parts: Vec<_> = batch.tagged_rows(&tags).collect();
        assert!((4..=5).contains(&parts.len()), "{parts:?}");
        let (mut next_row, mut points) = (0, Vec::new());
        for RunRows { run, rows } in parts {
            assert_eq!((rows.start, rows.len()), (next_row, run.count as usize));
            next_row = rows.end;
            let unit = tags.unit(run.device, run.first);
            assert!(run.indices().all(|index| tags.unit(run.device, index) == unit), "{run:?}");
            points.extend(run.indices().map(|index| (run.device, index)));
        }
        assert_eq!(points, (5..7).map(|index| (0, index)).chain((3..28).map(|index| (1, index))).collect::<Vec<_>>());
        let of_none: Vec<_> = batch.tagged_rows(&Tags::default()).collect();
        assert_eq!(of_none, batch.run_rows().collect::<Vec<_>>());
    }

    #[test]
    #[should_panic(expected = "columns of different lengths")]
    fn a_column_left_short_is_noticed() {
        batch().append(Run { device: 0, first: 0, count: 1 }, |timestamps, _| timestamps.push(0));
    }

    #[test]
    fn what_a_batch_lacks_is_not_seen_until_it_is_cleared() {
        let signals =
            ["a", "b"].map(|name| Signal { name: name.into(), value_type: ValueType::I64, max_text_bytes: 0 });
        let mut batch = Batch::new(&Schema::new(signals.into()).unwrap());
        let run = Run { device: 0, first: 0, count: 1 };
        let fill = |batch: &mut Batch| {
            batch.append(run, |timestamps, columns| {
                timestamps.push(0);
                columns.iter_mut().for_each(|column| assert!(column.push(Value::I64(7))));
            });
        };
        fill(&mut batch);
        batch.lack(1);
        let seen = |batch: &Batch| {
            let values = (0..2).filter(|&signal| batch.value(signal, 0) == Some(Value::I64(7))).count();
            (batch.columns().len(), values, batch.lacking())
        };
        assert_eq!(seen(&batch), (1, 1, 1));
        batch.clear();
        fill(&mut batch);
        assert_eq!(seen(&batch), (2, 2, 0));
    }

    #[test]
    fn a_batch_survives_serialisation() {
        let mut batch = batch();
        fill(&mut batch, Run { device: 3, first: 5, count: 2 });
        let text = serde_json::to_string(&batch).unwrap();
        assert_eq!(serde_json::from_str::<Batch>(&text).unwrap(), batch);
    }
}
