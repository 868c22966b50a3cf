//! Datapoints whose value meets a condition, where the client looks: because the database cannot, or once more, where what it
//! compared was rounded.

use iotbench_core::{CHUNK_ROWS, Chunk, ComputedBy, Error, Predicate, Reply, Sink, ValueType};

/// A sink for datapoints of one signal that hands on those that meet a condition.
pub struct Filter<'a> {
    predicate: Predicate,
    sink: &'a mut dyn Sink,
    kept: Chunk,
    rows: u64,
}

impl<'a> Filter<'a> {
    /// Hands on what meets `predicate`, of values of this type.
    pub fn new(predicate: Predicate, value_type: ValueType, sink: &'a mut dyn Sink) -> Self {
        Self { predicate, sink, kept: Chunk::new([value_type]), rows: 0 }
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
        for (row, (&device, &time)) in chunk.devices.iter().zip(&chunk.timestamps_ns).enumerate() {
            let value = chunk.columns.first().and_then(|column| column.get(row));
            if value.and_then(|value| value.as_f64()).is_some_and(|number| self.predicate.holds(number)) {
                self.kept.devices.push(device);
                self.kept.timestamps_ns.push(time);
                self.kept.columns[0].push(value)?;
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
    use iotbench_core::Value;

    #[test]
    fn what_meets_the_condition_is_handed_on_in_chunks_and_nothing_else() {
        let (mut times, mut most) = (Vec::new(), 0);
        let mut sink = |chunk: &Chunk| {
            most = most.max(chunk.len());
            times.extend_from_slice(&chunk.timestamps_ns);
            Ok(())
        };
        let mut filter = Filter::new(Predicate::Above(0.5), ValueType::F64, &mut sink);
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
}
