//! Figures of signals as they are answered: a row a group and aggregate, with a column a signal. A group is a device, or a
//! time bucket of one.

use crate::answer::Answer;
use iotbench_core::{ComputedBy, Error, Reply, Sink, ValueType};
use std::collections::BTreeMap;

/// A device, or the place of a tag's value, and the beginning of a bucket; 0 without buckets.
pub type Group = (u32, i64);

/// Figures that come group by group: those of one are held.
pub struct Streamed<'a> {
    answer: Answer<'a>,
    signals: usize,
    group: Option<Group>,
    /// Aggregate by aggregate, a figure a signal.
    figures: Vec<Option<f64>>,
    /// How many groups are still answered with.
    left: u64,
}

impl<'a> Streamed<'a> {
    /// So many figures of each of so many signals.
    pub fn new(sink: &'a mut dyn Sink, signals: usize, aggregates: usize) -> Self {
        let answer = Answer::new(sink, vec![ValueType::F64; signals]);
        Self { answer, signals, group: None, figures: vec![None; signals * aggregates], left: u64::MAX }
    }

    /// Answers with the first so many groups alone.
    #[must_use]
    pub fn first(self, groups: u64) -> Self {
        Self { left: groups, ..self }
    }

    /// What follows is of this group. Says whether it is another than before, which then is answered with.
    ///
    /// # Errors
    /// The sink's.
    pub fn begin(&mut self, group: Group) -> Result<bool, Error> {
        let is_another = self.group != Some(group);
        if is_another {
            self.flush()?;
            self.group = Some(group);
        }
        Ok(is_another)
    }

    /// Notes a figure of the present group; false for one that was not asked for.
    pub fn set(&mut self, aggregate: usize, signal: usize, figure: Option<f64>) -> bool {
        let place = self.figures.get_mut(aggregate * self.signals + signal);
        place.is_some_and(|place| {
            *place = figure;
            true
        })
    }

    /// Answers with the last group.
    ///
    /// # Errors
    /// The sink's.
    pub fn finish(mut self, bytes: u64, computed_by: ComputedBy) -> Result<Reply, Error> {
        self.flush()?;
        self.answer.finish(bytes, computed_by)
    }

    fn flush(&mut self) -> Result<(), Error> {
        if let Some(group) = self.group.take()
            && self.left > 0
        {
            self.left -= 1;
            rows(&mut self.answer, group, self.signals, &self.figures)?;
        }
        self.figures.fill(None);
        Ok(())
    }
}

/// Figures that come in any order: all are held.
#[derive(Debug, Default)]
pub struct Collected(BTreeMap<Group, Vec<Option<f64>>>);

impl Collected {
    /// Notes one of `width` figures of a group, which stand aggregate by aggregate.
    pub fn set(&mut self, group: Group, place: usize, width: usize, figure: Option<f64>) {
        self.0.entry(group).or_insert_with(|| vec![None; width])[place] = figure;
    }

    /// Answers with all of so many signals.
    ///
    /// # Errors
    /// The sink's.
    pub fn answer(
        self,
        signals: usize,
        bytes: u64,
        computed_by: ComputedBy,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, vec![ValueType::F64; signals]);
        self.hand_over(signals, &mut answer)?;
        answer.finish(bytes, computed_by)
    }

    /// Appends all of so many signals to an answer.
    ///
    /// # Errors
    /// The sink's.
    pub fn hand_over(&self, signals: usize, answer: &mut Answer<'_>) -> Result<(), Error> {
        self.0.iter().try_for_each(|(&group, figures)| rows(answer, group, signals, figures))
    }
}

fn rows(answer: &mut Answer<'_>, (device, time): Group, signals: usize, figures: &[Option<f64>]) -> Result<(), Error> {
    figures.chunks_exact(signals.max(1)).try_for_each(|row| answer.figures_at(device, time, row.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Chunk;

    type Row = (u32, Vec<Option<f64>>);

    /// The rows that `fill` answers with, and how many there are.
    fn answered(fill: impl FnOnce(&mut dyn Sink) -> Result<Reply, Error>) -> Vec<Row> {
        let mut seen: Vec<Row> = Vec::new();
        let mut sink = |chunk: &Chunk| {
            let cells = |row| chunk.columns.iter().map(|column| column.get(row).and_then(|v| v.as_f64())).collect();
            seen.extend(chunk.devices.iter().enumerate().map(|(row, &device)| (device, cells(row))));
            Ok(())
        };
        let reply = fill(&mut sink).unwrap();
        assert_eq!((reply.rows, reply.bytes), (seen.len() as u64, 9));
        seen
    }

    #[test]
    fn a_device_is_answered_with_as_soon_as_another_begins() {
        let seen = answered(|sink| {
            let mut figures = Streamed::new(sink, 2, 2);
            for (device, is_another, aggregate, signal, figure) in
                [(3, true, 0, 1, 1.0), (3, false, 1, 0, 2.0), (1, true, 1, 1, 3.0)]
            {
                assert_eq!(figures.begin((device, 5))?, is_another);
                assert!(figures.set(aggregate, signal, Some(figure)));
            }
            assert!(!figures.set(1, 2, None) && !figures.set(2, 0, None), "there are no such");
            figures.finish(9, ComputedBy::Server)
        });
        let of_three = [(3, vec![None, Some(1.0)]), (3, vec![Some(2.0), None])];
        assert_eq!(seen, [&of_three[..], &[(1, vec![None, None]), (1, vec![None, Some(3.0)])]].concat());
        let first = answered(|sink| {
            let mut figures = Streamed::new(sink, 1, 1).first(2);
            for device in 0..4 {
                figures.begin((device, 5))?;
                assert!(figures.set(0, 0, Some(1.0)));
            }
            figures.finish(9, ComputedBy::Server)
        });
        assert_eq!(first, [0, 1].map(|device| (device, vec![Some(1.0)])));
        assert_eq!(answered(|sink| Streamed::new(sink, 2, 2).finish(9, ComputedBy::Server)), []);
    }

    #[test]
    fn devices_that_come_in_any_order_are_answered_with_in_theirs() {
        let seen = answered(|sink| {
            let mut figures = Collected::default();
            for (device, place, figure) in [(3, 1, 1.0), (1, 2, 2.0), (3, 0, 3.0)] {
                figures.set((device, 5), place, 4, Some(figure));
            }
            figures.answer(2, 9, ComputedBy::Server, sink)
        });
        let of_one = [(1, vec![None, None]), (1, vec![Some(2.0), None])];
        assert_eq!(seen, [&of_one[..], &[(3, vec![Some(3.0), Some(1.0)]), (3, vec![None, None])]].concat());
    }

    #[test]
    fn of_no_signal_there_is_no_figure() {
        let seen = answered(|sink| {
            let mut figures = Streamed::new(sink, 0, 2);
            figures.begin((3, 5))?;
            figures.finish(9, ComputedBy::Server)
        });
        assert_eq!(seen, []);
    }
}
