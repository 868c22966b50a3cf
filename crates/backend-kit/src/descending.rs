//! Points by device, the newest of each first, where the client turns them round: it holds those of one device.

use crate::answer::{Answer, types};
use iotbench_core::{Cause, Chunk, ComputedBy, Error, Query, Reader, Reply, Schema, Sink, ValueType};

/// Answers [`Query::Descending`] by asking for the points, oldest first: `None` where something else is asked.
///
/// # Errors
/// The reader's own; the sink's; Client for what has no order to turn round, and where a device has more points than are held.
pub async fn answer(
    reader: &mut dyn Reader,
    query: &Query,
    schema: &Schema,
    sink: &mut dyn Sink,
) -> Option<Result<Reply, Error>> {
    let Query::Descending { of } = query else { return None };
    let types = match refuse(query).and_then(|()| types_of(of, schema)) {
        Ok(types) => types,
        Err(error) => return Some(Err(error)),
    };
    let mut turned = Turned { answer: Answer::new(sink, types.clone()), held: Chunk::new(types), most: MAX_HELD };
    Some(match reader.query(of, &mut turned).await {
        Ok(reply) => turned.finish(reply.bytes),
        Err(error) => Err(error),
    })
}

/// The most values that are held of a device: 128 MiB of numbers.
const MAX_HELD: usize = 1 << 24;

/// What is no points by device and time.
///
/// # Errors
/// Client for a query that is neither a range nor a filter.
pub fn refuse(query: &Query) -> Result<(), Error> {
    match query {
        Query::Descending { of } if !matches!(**of, Query::Range { .. } | Query::Filter { .. }) => {
            Err(Error::new(Cause::Client, "newest first come the points of a range or of a filter"))
        }
        _ => Ok(()),
    }
}

/// Whether it is the points of one device that are asked for, which a database has as the newest of all its own.
#[must_use]
pub fn is_of_one(query: &Query) -> bool {
    matches!(query, Query::Descending { of } if of.devices().list().is_some_and(|list| list.len() == 1))
}

fn types_of(of: &Query, schema: &Schema) -> Result<Vec<ValueType>, Error> {
    let all: Vec<_> = (0..).take(schema.width()).collect();
    let signals = match of {
        Query::Range { signals, .. } => signals.as_slice(),
        Query::Filter { signal, all_signals: false, .. } => std::slice::from_ref(signal),
        _ => &all,
    };
    match signals.iter().find(|&&signal| usize::from(signal) >= schema.width()) {
        Some(signal) => Err(Error::new(Cause::Client, format!("signal {signal} is none of the table's"))),
        None => Ok(types(schema, signals)),
    }
}

/// A sink for points, which answers with those of each device from the last on.
struct Turned<'a> {
    answer: Answer<'a>,
    /// Those of the present device.
    held: Chunk,
    most: usize,
}

impl Turned<'_> {
    fn finish(mut self, bytes: u64) -> Result<Reply, Error> {
        self.flush()?;
        self.answer.finish(bytes, ComputedBy::Client)
    }

    fn flush(&mut self) -> Result<(), Error> {
        let Self { answer, held, .. } = self;
        for row in (0..held.len()).rev() {
            answer.row(held.devices[row], held.timestamps_ns[row], |columns| {
                columns.iter_mut().zip(&held.columns).try_for_each(|(column, held)| column.push(held.get(row)))
            })?;
        }
        held.clear();
        Ok(())
    }
}

impl Sink for Turned<'_> {
    fn push(&mut self, chunk: &Chunk) -> Result<(), Error> {
        for (row, (&device, &time)) in chunk.devices.iter().zip(&chunk.timestamps_ns).enumerate() {
            if self.held.devices.first().is_some_and(|&held| held != device) {
                self.flush()?;
            }
            if self.held.len().saturating_mul(self.held.columns.len()) >= self.most {
                let message = "the points of a device are turned round where they are held, and these are too many: ask for a \
                               shorter window";
                return Err(Error::new(Cause::Client, message));
            }
            self.held.devices.push(device);
            self.held.timestamps_ns.push(time);
            let mut columns = self.held.columns.iter_mut().zip(&chunk.columns);
            columns.try_for_each(|(held, column)| held.push(column.get(row)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Value;

    fn turned(most: usize, rows: &[(u32, i64)]) -> Result<Vec<(u32, i64)>, Error> {
        let mut seen = Vec::new();
        let mut sink = |chunk: &Chunk| {
            let value = |row| chunk.columns[0].get(row).and_then(|value| value.as_f64());
            assert!((0..chunk.len()).all(|row| value(row) == Some(chunk.timestamps_ns[row] as f64)));
            seen.extend(chunk.devices.iter().copied().zip(chunk.timestamps_ns.iter().copied()));
            Ok(())
        };
        let types = [ValueType::I64];
        let mut turned = Turned { answer: Answer::new(&mut sink, types), held: Chunk::new(types), most };
        for rows in rows.chunks(2) {
            let mut chunk = Chunk::new(types);
            for &(device, time) in rows {
                chunk.devices.push(device);
                chunk.timestamps_ns.push(time);
                chunk.columns[0].push(Some(Value::I64(time))).unwrap();
            }
            turned.push(&chunk)?;
        }
        turned.finish(9)?;
        Ok(seen)
    }

    #[test]
    fn those_of_each_device_are_turned_round() {
        let rows = [(1, 3), (1, 4), (1, 9), (4, 2), (4, 3), (7, 0)];
        assert_eq!(turned(3, &rows).unwrap(), [(1, 9), (1, 4), (1, 3), (4, 3), (4, 2), (7, 0)]);
        assert_eq!(turned(2, &rows).unwrap_err().cause, Cause::Client);
        assert_eq!(turned(2, &[]).unwrap(), []);
        assert!(refuse(&Query::Descending { of: Box::new(Query::Count) }).is_err() && refuse(&Query::Scan).is_ok());
    }
}
