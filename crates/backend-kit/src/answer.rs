//! Puts the rows of an answer into bounded chunks.

use iotbench_core::{CHUNK_ROWS, Chunk, ComputedBy, Error, Reply, ReplyColumn, Sink, ValueType};

/// An answer under way: rows in, full chunks out to the sink.
pub struct Answer<'a> {
    sink: &'a mut dyn Sink,
    chunk: Chunk,
    rows: u64,
}

impl<'a> Answer<'a> {
    /// An answer with columns of these types.
    pub fn new(sink: &'a mut dyn Sink, types: impl IntoIterator<Item = ValueType>) -> Self {
        Self { sink, chunk: Chunk::new(types), rows: 0 }
    }

    /// Appends a row; `fill` must push one value to each column.
    pub fn row(
        &mut self,
        device: u32,
        timestamp_ns: i64,
        fill: impl FnOnce(&mut [ReplyColumn]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.chunk.devices.push(device);
        self.chunk.timestamps_ns.push(timestamp_ns);
        fill(&mut self.chunk.columns)?;
        self.rows += 1;
        if self.chunk.len() == CHUNK_ROWS { self.flush() } else { Ok(()) }
    }

    /// Hands over what is left and ends the answer.
    pub fn finish(mut self, bytes: u64, computed_by: ComputedBy) -> Result<Reply, Error> {
        if !self.chunk.is_empty() {
            self.flush()?;
        }
        Ok(Reply { rows: self.rows, bytes, computed_by })
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.sink.push(&self.chunk)?;
        self.chunk.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Value;

    #[test]
    fn chunks_are_bounded_and_nothing_is_lost_between_them() {
        for rows in [0, 1, CHUNK_ROWS - 1, CHUNK_ROWS, CHUNK_ROWS + 1, 3 * CHUNK_ROWS] {
            let mut seen = Vec::new();
            let mut sink = |chunk: &Chunk| {
                assert!((1..=CHUNK_ROWS).contains(&chunk.len()));
                seen.extend_from_slice(&chunk.timestamps_ns);
                Ok(())
            };
            let mut answer = Answer::new(&mut sink, [ValueType::U16]);
            for time in (0..).take(rows) {
                answer.row(0, time, |columns| columns[0].push(Some(Value::U16(7)))).unwrap();
            }
            let reply = answer.finish(0, ComputedBy::Server).unwrap();
            assert_eq!(reply.rows, rows as u64);
            assert!(seen.iter().copied().eq((0..).take(rows)));
        }
    }
}
