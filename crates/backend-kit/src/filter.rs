//! Datapoints with a value that meets a condition, where the client looks: because the database cannot, or once more, where what it
//! compared was rounded.

use crate::{answer::types, ask::Ask};
use iotbench_core::{
    CHUNK_ROWS, Cause, Chunk, ComputedBy, Error, Predicate, Reply, Schema, Sink, TagId, Tags, ValueType,
};

/// A sink for datapoints that hands on those that meet a condition.
pub struct Filter<'a> {
    predicate: Option<Predicate>,
    /// The place of the signal that is compared.
    place: Option<usize>,
    /// The tag whose number the value is compared with.
    per: Option<(&'a Tags, TagId)>,
    sink: &'a mut dyn Sink,
    kept: Chunk,
    rows: u64,
}

impl<'a> Filter<'a> {
    /// Hands on what meets the predicate of an ask, of the datapoints that it is about.
    pub fn new(ask: &Ask<'_>, schema: &Schema, sink: &'a mut dyn Sink) -> Self {
        let place = ask.signals.iter().position(|&signal| signal == ask.signal);
        Self { predicate: ask.predicate, place, per: None, sink, kept: Chunk::new(types(schema, ask.signals)), rows: 0 }
    }

    /// Hands on the rows whose value at a place meets a condition, of those with columns of these types.
    pub fn of_rows(
        predicate: Predicate,
        place: usize,
        types: impl IntoIterator<Item = ValueType>,
        sink: &'a mut dyn Sink,
    ) -> Self {
        Self { predicate: Some(predicate), place: Some(place), per: None, sink, kept: Chunk::new(types), rows: 0 }
    }

    /// The same of the values as so many times the number that is the device's value of a tag.
    #[must_use]
    pub fn per(self, tags: &'a Tags, tag: TagId) -> Self {
        Self { per: Some((tags, tag)), ..self }
    }

    /// The number that a value is compared by.
    fn compared(&self, device: u32, number: f64) -> Result<f64, Error> {
        let Some((tags, tag)) = self.per else { return Ok(number) };
        let per = tags.number(tag, device);
        let per = per.ok_or_else(|| {
            Error::new(Cause::Client, format!("the value of tag {tag} of device {device} is no number to compare with"))
        })?;
        Ok(number / per)
    }

    /// Ends the answer, when the reply to the datapoints has come.
    ///
    /// # Errors
    /// The sink's.
    pub fn finish(mut self, reply: Reply, computed_by: ComputedBy) -> Result<Reply, Error> {
        self.flush()?;
        Ok(Reply { rows: self.rows, computed_by, ..reply })
    }

    fn flush(&mut self) -> Result<(), Error> {
        if self.kept.is_empty() {
            return Ok(());
        }
        self.rows += self.kept.len() as u64;
        self.sink.push(&self.kept)?;
        self.kept.clear();
        Ok(())
    }
}

impl Sink for Filter<'_> {
    fn push(&mut self, chunk: &Chunk) -> Result<(), Error> {
        let compared = self.place.and_then(|place| chunk.columns.get(place));
        for (row, (&device, &time)) in chunk.devices.iter().zip(&chunk.timestamps_ns).enumerate() {
            let number = compared.and_then(|column| column.get(row)).and_then(|value| value.as_f64());
            let number = number.map(|number| self.compared(device, number)).transpose()?;
            if self.predicate.is_none_or(|predicate| number.is_some_and(|number| predicate.holds(number))) {
                self.kept.devices.push(device);
                self.kept.timestamps_ns.push(time);
                let mut columns = self.kept.columns.iter_mut().zip(&chunk.columns);
                columns.try_for_each(|(kept, column)| kept.push(column.get(row)))?;
                if self.kept.len() == CHUNK_ROWS {
                    self.flush()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ask::Asked, span::Span};
    use iotbench_core::{Signal, Value};

    fn schema() -> Schema {
        let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::F64, max_text_bytes: 0 };
        Schema::new(["a", "b"].map(signal).into()).unwrap()
    }

    #[test]
    fn what_meets_the_condition_is_handed_on_in_chunks_and_nothing_else() {
        let (mut times, mut most) = (Vec::new(), 0);
        let mut sink = |chunk: &Chunk| {
            most = most.max(chunk.len());
            times.extend_from_slice(&chunk.timestamps_ns);
            Ok(())
        };
        let ask = Ask::stretch(Asked::All, &[1], Span::ALL);
        let mut filter = Filter::new(&Ask { predicate: Some(Predicate::Above(0.5)), ..ask }, &schema(), &mut sink);
        let rows = 5 * CHUNK_ROWS;
        let all: Vec<i64> = (0..).take(rows).collect();
        for part in all.chunks(CHUNK_ROWS) {
            let mut chunk = Chunk::new([ValueType::F64]);
            for &time in part {
                chunk.devices.push(1);
                chunk.timestamps_ns.push(time);
                // One of three is none, one is too small.
                let number = [None, Some(0.5), Some(1.0)][usize::try_from(time % 3).unwrap()];
                chunk.columns[0].push(number.map(Value::F64)).unwrap();
            }
            filter.push(&chunk).unwrap();
        }
        let asked = Reply { rows: rows as u64, bytes: 9, computed_by: ComputedBy::Server };
        let reply = filter.finish(asked, ComputedBy::Client).unwrap();
        assert_eq!(times, all.iter().copied().filter(|time| time % 3 == 2).collect::<Vec<_>>());
        assert_eq!(reply, Reply { rows: times.len() as u64, bytes: 9, computed_by: ComputedBy::Client });
        assert_eq!(most, CHUNK_ROWS);
    }

    #[test]
    fn a_record_is_handed_on_for_the_value_that_is_compared_and_for_no_other() {
        let mut rows = Vec::new();
        let mut sink = |chunk: &Chunk| {
            let cell = |column: usize, row| chunk.columns[column].get(row).and_then(|value| value.as_f64());
            rows.extend((0..chunk.len()).map(|row| (chunk.timestamps_ns[row], cell(0, row), cell(1, row))));
            Ok(())
        };
        let ask = Ask::stretch(Asked::All, &[0, 1], Span::ALL);
        let ask = Ask { signal: 1, predicate: Some(Predicate::Below(0.5)), ..ask };
        let mut filter = Filter::new(&ask, &schema(), &mut sink);
        let mut chunk = Chunk::new([ValueType::F64; 2]);
        for (time, a, b) in [(1, Some(0.0), Some(1.0)), (2, None, Some(0.0)), (3, Some(0.0), None)] {
            chunk.devices.push(1);
            chunk.timestamps_ns.push(time);
            chunk.columns[0].push(a.map(Value::F64)).unwrap();
            chunk.columns[1].push(b.map(Value::F64)).unwrap();
        }
        filter.push(&chunk).unwrap();
        let reply = Reply { rows: 3, bytes: 9, computed_by: ComputedBy::Server };
        assert_eq!(filter.finish(reply, ComputedBy::Client).unwrap().rows, 1);
        assert_eq!(rows, [(2, None, Some(0.0))]);
    }
}
