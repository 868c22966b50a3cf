//! Rows that are no datapoint each, put together: values one by one, or the records of a second.

use crate::{answer::Answer, answer::types, span::Span};
use iotbench_core::{Chunk, Error, ReplyColumn, Schema, SignalId, Value, ValueType};

/// Values one by one, which come datapoint by datapoint. A signal that comes twice begins another datapoint of that time.
#[derive(Debug)]
pub struct ByValue {
    signals: Vec<SignalId>,
    /// Device and time of the datapoint that is being put together.
    present: Option<(u32, i64)>,
    /// Its values: a column a signal, empty where there is none yet.
    values: Chunk,
    /// How many datapoints are still wanted.
    left: u64,
}

impl ByValue {
    /// At most `limit` datapoints of these signals, which ascend.
    #[must_use]
    pub fn new(schema: &Schema, signals: &[SignalId], limit: u64) -> Self {
        Self { signals: signals.to_vec(), present: None, values: Chunk::new(types(schema, signals)), left: limit }
    }

    /// Takes the value of a signal at a device and time, and pushes the datapoint before it, if that is complete now. `read`
    /// is asked for the value only where the signal is wanted.
    ///
    /// # Errors
    /// Those of `read` and of the answer.
    pub fn take<'v>(
        &mut self,
        at: (u32, i64),
        signal: Option<SignalId>,
        read: impl FnOnce(ValueType) -> Result<Option<Value<'v>>, Error>,
        answer: &mut Answer<'_>,
    ) -> Result<(), Error> {
        let place = signal.and_then(|signal| self.signals.binary_search(&signal).ok());
        let is_repeated = place.is_some_and(|place| self.values.columns[place].get(0).is_some());
        if self.present.is_some_and(|before| before != at) || is_repeated {
            self.finish(answer)?;
        }
        self.present = Some(at);
        if let Some(place) = place {
            let column = &mut self.values.columns[place];
            if let Some(value) = read(column.value_type())? {
                column.push(Some(value))?;
            }
        }
        Ok(())
    }

    /// Pushes the last datapoint.
    ///
    /// # Errors
    /// Those of the answer.
    pub fn finish(&mut self, answer: &mut Answer<'_>) -> Result<(), Error> {
        if let Some((device, time)) = self.present.take()
            && self.left > 0
        {
            self.left -= 1;
            answer.row(device, time, |columns| copy_row(&self.values, 0, columns))?;
        }
        self.values.clear();
        Ok(())
    }
}

/// The datapoints of one device and second out of all its records, in the order of time; equal times in that of storing.
#[derive(Debug)]
pub struct Second {
    span: Span,
    is_descending: bool,
    /// The datapoints record by record.
    united: Chunk,
    /// Time, rank of the record in the order of storing, and row of those that are wanted.
    order: Vec<(i64, i64, usize)>,
    /// The rank of the next record.
    rank: i64,
    /// How many of the order were given.
    next: usize,
}

impl Second {
    /// Datapoints with columns of these types, as far as they lie in the span. `is_descending`: the records come, and the
    /// datapoints are given, the last one first.
    pub fn new(types: impl IntoIterator<Item = ValueType>, span: Span, is_descending: bool) -> Self {
        Self { span, is_descending, united: Chunk::new(types), order: Vec::new(), rank: 0, next: 0 }
    }

    /// Forgets what it holds, and keeps the memory.
    pub fn clear(&mut self) {
        self.united.clear();
        self.order.clear();
        (self.rank, self.next) = (0, 0);
    }

    /// Takes a record: `read` appends its datapoints, and `time` makes of a time that it gave them the one they have.
    ///
    /// # Errors
    /// Those of `read` and `time`.
    pub fn record(
        &mut self,
        read: impl FnOnce(&mut Chunk) -> Result<(), Error>,
        time: impl Fn(i64) -> Result<i64, Error>,
    ) -> Result<(), Error> {
        let first = self.united.len();
        read(&mut self.united)?;
        for (row, &of_row) in self.united.timestamps_ns.iter().enumerate().skip(first) {
            let time = time(of_row)?;
            if self.span.contains(time) {
                self.order.push((time, self.rank, row));
            }
        }
        self.rank += if self.is_descending { -1 } else { 1 };
        Ok(())
    }

    /// All records were taken: the datapoints are given from here on.
    pub fn put_in_order(&mut self) {
        self.next = 0;
        self.order.sort_unstable();
        if self.is_descending {
            self.order.reverse();
        }
    }

    /// Goes to the next datapoint and says its time.
    pub fn next_time(&mut self) -> Option<i64> {
        let &(time, ..) = self.order.get(self.next)?;
        self.next += 1;
        Some(time)
    }

    /// Gives all datapoints to an answer, and forgets them.
    ///
    /// # Errors
    /// Those of the answer.
    pub fn hand_over(&mut self, device: u32, answer: &mut Answer<'_>) -> Result<(), Error> {
        self.put_in_order();
        while let Some(time) = self.next_time() {
            answer.row(device, time, |columns| self.values(columns))?;
        }
        self.clear();
        Ok(())
    }

    /// The values of the datapoint that [`Self::next_time`] went to.
    ///
    /// # Errors
    /// Those of the columns.
    pub fn values(&self, columns: &mut [ReplyColumn]) -> Result<(), Error> {
        let (.., row) = self.order[self.next - 1];
        copy_row(&self.united, row, columns)
    }
}

/// Appends a row of a chunk to other columns.
fn copy_row(from: &Chunk, row: usize, to: &mut [ReplyColumn]) -> Result<(), Error> {
    to.iter_mut().zip(&from.columns).try_for_each(|(to, from)| to.push(from.get(row)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{ComputedBy, Signal};

    fn schema() -> Schema {
        let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::U16, max_text_bytes: 0 };
        Schema::new(["a", "b", "c"].map(signal).into()).unwrap()
    }

    type Row = (u32, i64, Vec<Option<u16>>);

    fn row_of(chunk: &Chunk, row: usize) -> Row {
        let value = |column: &ReplyColumn| match column.get(row) {
            Some(Value::U16(value)) => Some(value),
            None => None,
            other => panic!("{other:?}"),
        };
        (chunk.devices[row], chunk.timestamps_ns[row], chunk.columns.iter().map(value).collect())
    }

    /// The datapoints of the signals 0 and 2 in values of device, time, signal and value.
    fn datapoints(limit: u64, values: &[(u32, i64, Option<SignalId>, Option<u16>)]) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut sink = |chunk: &Chunk| {
            rows.extend((0..chunk.len()).map(|row| row_of(chunk, row)));
            Ok(())
        };
        let mut answer = Answer::new(&mut sink, [ValueType::U16; 2]);
        let mut by_value = ByValue::new(&schema(), &[0, 2], limit);
        for &(device, time, signal, value) in values {
            by_value.take((device, time), signal, |_| Ok(value.map(Value::U16)), &mut answer).unwrap();
        }
        by_value.finish(&mut answer).unwrap();
        answer.finish(0, ComputedBy::Server).unwrap();
        rows
    }

    #[test]
    fn values_of_one_device_and_time_are_a_datapoint() {
        let values =
            [(0, 1, Some(0), Some(10)), (0, 1, Some(2), Some(12)), (0, 2, Some(2), Some(22)), (1, 2, Some(0), Some(7))];
        let expected = [(0, 1, vec![Some(10), Some(12)]), (0, 2, vec![None, Some(22)]), (1, 2, vec![Some(7), None])];
        assert_eq!(datapoints(u64::MAX, &values), expected);
        assert_eq!(datapoints(2, &values), expected[..2], "and no more than were asked for");
        assert_eq!(datapoints(u64::MAX, &[]), []);
    }

    #[test]
    fn a_signal_that_comes_twice_begins_another_datapoint_of_that_time() {
        let values = [(0, 1, Some(0), Some(1)), (0, 1, Some(0), Some(2)), (0, 1, Some(2), Some(3))];
        assert_eq!(datapoints(u64::MAX, &values), [(0, 1, vec![Some(1), None]), (0, 1, vec![Some(2), Some(3)])]);
    }

    #[test]
    fn what_is_no_signal_that_was_asked_for_or_no_value_leaves_a_datapoint_without_it() {
        for (signal, value) in [(Some(1), Some(9)), (None, Some(9)), (Some(0), None)] {
            assert_eq!(datapoints(u64::MAX, &[(0, 1, signal, value)]), [(0, 1, vec![None, None])], "{signal:?}");
        }
    }

    /// The times and values of records of second 7, each datapoint with its number as its value.
    fn of_second(span: Span, is_descending: bool, records: &[&[i64]]) -> Vec<(i64, Option<u16>)> {
        let (mut second, mut number) = (Second::new([ValueType::U16], span, is_descending), 0);
        second.record(|chunk| chunk.columns[0].push(Some(Value::U16(99))), Ok).unwrap();
        second.clear();
        for record in records {
            let read = |chunk: &mut Chunk| {
                record.iter().try_for_each(|&nanosecond| {
                    number += 1;
                    chunk.timestamps_ns.push(nanosecond);
                    chunk.columns[0].push(Some(Value::U16(number)))
                })
            };
            second.record(read, |nanosecond| Ok(7_000 + nanosecond)).unwrap();
        }
        second.put_in_order();
        let mut seen = Vec::new();
        while let Some(time) = second.next_time() {
            let mut columns = [ReplyColumn::new(ValueType::U16)];
            second.values(&mut columns).unwrap();
            let Some(Value::U16(value)) = columns[0].get(0) else { panic!("{columns:?}") };
            seen.push((time, Some(value)));
        }
        seen
    }

    #[test]
    fn the_datapoints_of_a_second_are_given_in_the_order_of_time_and_of_storing() {
        let given = of_second(Span::ALL, false, &[&[5, 1], &[1, 9]]);
        assert_eq!(given, [(7_001, Some(2)), (7_001, Some(3)), (7_005, Some(1)), (7_009, Some(4))]);
    }

    #[test]
    fn descending_the_record_that_came_last_is_the_first_of_equal_times() {
        let given = of_second(Span::ALL, true, &[&[1, 9], &[5, 1]]);
        assert_eq!(given, [(7_009, Some(2)), (7_005, Some(3)), (7_001, Some(1)), (7_001, Some(4))]);
    }

    #[test]
    fn what_lies_outside_of_the_span_is_left_out() {
        let span = Span { first: 7_002, last: 7_005 };
        assert_eq!(of_second(span, false, &[&[1, 2, 5, 6]]), [(7_002, Some(2)), (7_005, Some(3))]);
    }
}
