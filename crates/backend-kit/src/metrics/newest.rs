//! The newest datapoints of several devices, where the server tells those of each device.

use super::{Cell, push};
use crate::answer::Answer;
use iotbench_core::{Error, ValueType};
use std::cmp::Reverse;

/// Datapoints of several devices, of which the newest are answered with: all are held.
#[derive(Debug, Default)]
pub struct Newest(Vec<(i64, u32, Vec<Option<Cell<'static>>>)>);

impl Newest {
    /// Takes a datapoint.
    pub fn take(&mut self, device: u32, time: i64, cells: &[Option<&Cell<'_>>]) {
        let cells = cells.iter().map(|cell| cell.map(|cell| cell.clone().into_owned()));
        self.0.push((time, device, cells.collect()));
    }

    /// Answers with the newest `limit` of them, whose columns are of these types.
    ///
    /// # Errors
    /// A cell that is no value of its type; the sink's.
    pub fn answer(mut self, limit: u64, types: &[ValueType], answer: &mut Answer<'_>) -> Result<(), Error> {
        self.0.sort_by_key(|&(time, ..)| Reverse(time));
        self.0.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        self.0.iter().try_for_each(|(time, device, cells)| {
            let cells: Vec<_> = cells.iter().map(Option::as_ref).collect();
            answer.row(*device, *time, |columns| push(columns, &cells, types))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Chunk, ComputedBy};

    #[test]
    fn the_newest_come_first_whatever_their_device() {
        let mut newest = Newest::default();
        for (device, time) in [(0, 3), (0, 7), (1, 5), (2, 9), (2, 1)] {
            newest.take(device, time, &[Some(&Cell::Integer(time)), None]);
        }
        let mut rows = Vec::new();
        let mut sink = |chunk: &Chunk| {
            let value = |row| chunk.columns[0].get(row).and_then(|value| value.as_f64());
            rows.extend((0..chunk.len()).map(|row| (chunk.devices[row], chunk.timestamps_ns[row], value(row))));
            assert!(chunk.columns[1].get(0).is_none());
            Ok(())
        };
        let types = [ValueType::I64, ValueType::F64];
        let mut answer = Answer::new(&mut sink, types);
        newest.answer(3, &types, &mut answer).unwrap();
        assert_eq!(answer.finish(0, ComputedBy::Server).unwrap().rows, 3);
        assert_eq!(rows, [(2, 9, Some(9.0)), (0, 7, Some(7.0)), (1, 5, Some(5.0))]);
    }
}
