//! Puts the rows of an answer into bounded chunks.

use iotbench_core::{
    CHUNK_ROWS, Cause, Chunk, ComputedBy, Counts, Error, Reply, ReplyColumn, Schema, SignalId, Sink, Value, ValueType,
};

/// The answer to a question about nothing, where the server works out answers.
pub const NOTHING: Reply = Reply { rows: 0, bytes: 0, computed_by: ComputedBy::Server };
/// The same where the client works them out.
pub const NOTHING_BY_CLIENT: Reply = Reply { computed_by: ComputedBy::Client, ..NOTHING };

/// The types of these signals.
#[must_use]
pub fn types(schema: &Schema, signals: &[SignalId]) -> Vec<ValueType> {
    signals.iter().map(|&signal| schema.signals()[usize::from(signal)].value_type).collect()
}

/// Answers with counts.
///
/// # Errors
/// Protocol for more than a column holds; the sink's own.
pub fn counts_row(
    Counts { points, values }: Counts,
    bytes: u64,
    computed_by: ComputedBy,
    sink: &mut dyn Sink,
) -> Result<Reply, Error> {
    let mut answer = Answer::new(sink, [ValueType::I64; 2]);
    answer.row(0, 0, |columns| {
        columns.iter_mut().zip([points, values]).try_for_each(|(column, count)| {
            let count = i64::try_from(count).map_err(|e| Error::new(Cause::Protocol, e))?;
            column.push(Some(Value::I64(count)))
        })
    })?;
    answer.finish(bytes, computed_by)
}

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

    /// Appends a row of figures, one to each column.
    pub fn figures(&mut self, device: u32, figures: impl IntoIterator<Item = Option<f64>>) -> Result<(), Error> {
        self.figures_at(device, 0, figures)
    }

    /// The same of a bucket that begins at this time.
    pub fn figures_at(
        &mut self,
        device: u32,
        timestamp_ns: i64,
        figures: impl IntoIterator<Item = Option<f64>>,
    ) -> Result<(), Error> {
        self.row(device, timestamp_ns, |columns| {
            columns.iter_mut().zip(figures).try_for_each(|(column, figure)| column.push(figure.map(Value::F64)))
        })
    }

    /// Hands over what is left and ends the answer.
    pub fn finish(mut self, bytes: u64, computed_by: ComputedBy) -> Result<Reply, Error> {
        if !self.chunk.is_empty() {
            self.flush()?;
        }
        Ok(Reply { rows: self.rows, bytes, computed_by })
    }

    fn flush(&mut self) -> Result<(), Error> {
        // A server may answer about fewer signals than it was asked about.
        if self.chunk.columns.iter().any(|column| column.len() != self.chunk.len()) {
            return Err(Error::new(Cause::Protocol, "the answer has fewer columns than were asked for"));
        }
        self.sink.push(&self.chunk)?;
        self.chunk.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_a_row_of_two_columns() {
        let mut seen = Vec::new();
        let mut sink = |chunk: &Chunk| {
            let of = |column: &ReplyColumn| match column.get(0) {
                Some(Value::I64(count)) => count,
                other => panic!("{other:?}"),
            };
            seen.extend(chunk.columns.iter().map(of));
            Ok(())
        };
        let counts = Counts { points: 3, values: 5 };
        let reply = counts_row(counts, 7, ComputedBy::Client, &mut sink).unwrap();
        assert_eq!(reply, Reply { rows: 1, bytes: 7, computed_by: ComputedBy::Client });
        assert_eq!(seen, [3, 5]);
        let beyond = Counts { points: u64::MAX, values: 0 };
        assert_eq!(
            counts_row(beyond, 0, ComputedBy::Server, &mut |_: &Chunk| Ok(())).unwrap_err().cause,
            Cause::Protocol
        );
    }

    #[test]
    fn a_row_with_fewer_values_than_were_asked_for_is_no_answer() {
        let mut sink = |_: &Chunk| -> Result<(), Error> { panic!("it was handed over") };
        let mut answer = Answer::new(&mut sink, [ValueType::F64; 2]);
        answer.row(0, 0, |columns| columns[0].push(None)).unwrap();
        assert_eq!(answer.finish(0, ComputedBy::Server).unwrap_err().cause, Cause::Protocol);
    }

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
