//! The rows of an answer that meet a condition, and how many time buckets of each device do, where the client looks.

use crate::{
    answer::{Answer, types},
    filter::Filter,
};
use iotbench_core::{Cause, Chunk, ComputedBy, Error, Predicate, Query, Reader, Reply, Schema, Sink, ValueType};

/// Answers [`Query::Having`] by asking for all the rows: `None` where something else is asked.
///
/// # Errors
/// The reader's own; the sink's.
pub async fn answer(
    reader: &mut dyn Reader,
    query: &Query,
    schema: &Schema,
    sink: &mut dyn Sink,
) -> Option<Result<Reply, Error>> {
    let Query::Having { of, .. } = query else { return None };
    let mut rows = Rows::of(query, schema, sink)?;
    Some(match reader.query(of, &mut rows).await {
        Ok(reply) => rows.finish(reply),
        Err(error) => Err(error),
    })
}

/// A sink for all the rows, which answers with those that are wanted.
pub enum Rows<'a> {
    /// Those that meet the condition.
    Filter(Filter<'a>),
    /// How many of each group do.
    Count(Count<'a>),
}

impl<'a> Rows<'a> {
    /// Those that [`Query::Having`] wants, of a table with this schema; `None` where something else is asked.
    pub fn of(query: &Query, schema: &'a Schema, sink: &'a mut dyn Sink) -> Option<Self> {
        let &Query::Having { ref of, signal, predicate, at_least, per } = query else { return None };
        Some(match (at_least, &**of) {
            (Some(at_least), _) => Self::Count(Count::new(predicate, at_least, sink)),
            (None, Query::LastPoints { .. }) => {
                let all: Vec<_> = (0..).take(schema.width()).collect();
                let filter = Filter::of_rows(predicate, usize::from(signal), types(schema, &all), sink);
                Self::Filter(match per {
                    Some(tag) => filter.per(schema.tags(), tag),
                    None => filter,
                })
            }
            (None, _) => Self::Filter(Filter::of_rows(predicate, 0, [ValueType::F64], sink)),
        })
    }

    /// Ends the answer, when the reply to all the rows has come.
    ///
    /// # Errors
    /// The sink's.
    pub fn finish(self, reply: Reply) -> Result<Reply, Error> {
        match self {
            Self::Filter(filter) => filter.finish(reply, ComputedBy::Client),
            Self::Count(count) => count.finish(reply.bytes),
        }
    }
}

impl Sink for Rows<'_> {
    fn push(&mut self, chunk: &Chunk) -> Result<(), Error> {
        match self {
            Self::Filter(filter) => filter.push(chunk),
            Self::Count(count) => count.push(chunk),
        }
    }
}

/// Counts the buckets of each device, or value of a tag, that meet a condition: they come one after the other.
pub struct Count<'a> {
    predicate: Predicate,
    at_least: u64,
    answer: Answer<'a>,
    group: Option<u32>,
    count: u64,
}

impl<'a> Count<'a> {
    fn new(predicate: Predicate, at_least: u64, sink: &'a mut dyn Sink) -> Self {
        Self { predicate, at_least, answer: Answer::new(sink, [ValueType::F64]), group: None, count: 0 }
    }

    fn finish(mut self, bytes: u64) -> Result<Reply, Error> {
        self.flush()?;
        self.answer.finish(bytes, ComputedBy::Client)
    }

    #[expect(clippy::cast_precision_loss, reason = "fewer buckets than 2^53")]
    fn flush(&mut self) -> Result<(), Error> {
        let count = std::mem::take(&mut self.count);
        match self.group {
            Some(group) if count >= self.at_least.max(1) => self.answer.figures(group, [Some(count as f64)]),
            _ => Ok(()),
        }
    }
}

impl Sink for Count<'_> {
    fn push(&mut self, chunk: &Chunk) -> Result<(), Error> {
        for (row, &group) in chunk.devices.iter().enumerate() {
            if self.group != Some(group) {
                self.flush()?;
                self.group = Some(group);
            }
            let figure = chunk.columns.first().and_then(|column| column.get(row)).and_then(|value| value.as_f64());
            self.count += u64::from(figure.is_some_and(|figure| self.predicate.holds(figure)));
        }
        Ok(())
    }
}

/// What cannot be the rows that a condition is on.
///
/// # Errors
/// Client for a query that is neither of the newest points nor of one figure, and for a count of what has no buckets.
pub fn refuse(query: &Query) -> Result<(), Error> {
    let Query::Having { of, signal, at_least, per, .. } = query else { return Ok(()) };
    if per.is_some() && !matches!(**of, Query::LastPoints { .. }) {
        return Err(Error::new(
            Cause::Client,
            "only values of the newest points are compared with the number of a tag",
        ));
    }
    let of = if let Query::Where { of, .. } = &**of { of } else { of };
    let (figures, has_buckets) = match &**of {
        Query::LastPoints { .. } if at_least.is_none() => return Ok(()),
        Query::Aggregates { signals, aggregates, .. } => (Some((signals, aggregates)), false),
        Query::TagFigures { signals, aggregates, width, .. } => (Some((signals, aggregates)), width.is_some()),
        Query::Buckets { signals, aggregates, .. } | Query::TotalBuckets { signals, aggregates, newest: None, .. } => {
            (Some((signals, aggregates)), true)
        }
        _ => (None, false),
    };
    let is_one = figures.is_some_and(|(signals, aggregates)| signals == &[*signal] && aggregates.len() == 1);
    if is_one && (has_buckets || at_least.is_none()) {
        Ok(())
    } else {
        Err(Error::new(Cause::Client, "a condition is on one figure of groups"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Aggregate, BucketWidth, Devices, Signal, TimeRange, Value};

    fn schema() -> Schema {
        let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::F64, max_text_bytes: 0 };
        Schema::new(["a", "b"].map(signal).into()).unwrap()
    }

    fn buckets(signals: &[u16], at_least: Option<u64>) -> Query {
        let (devices, aggregates, width) = (Devices::All, vec![Aggregate::Mean], BucketWidth::SECOND);
        let of = Query::Buckets { devices, signals: signals.to_vec(), aggregates, range: TimeRange::ALL, width };
        Query::Having { of: Box::new(of), signal: 1, predicate: Predicate::Above(1.0), at_least, per: None }
    }

    /// What is wanted of the figures of buckets, which come in chunks of two.
    fn wanted(query: &Query, figures: &[(u32, i64, Option<f64>)]) -> Vec<(u32, i64, f64)> {
        let mut seen = Vec::new();
        let mut sink = |chunk: &Chunk| {
            let figure = |row| chunk.columns[0].get(row).and_then(|value| value.as_f64()).unwrap();
            seen.extend((0..chunk.len()).map(|row| (chunk.devices[row], chunk.timestamps_ns[row], figure(row))));
            Ok(())
        };
        let schema = schema();
        let mut rows = Rows::of(query, &schema, &mut sink).unwrap();
        for figures in figures.chunks(2) {
            let mut chunk = Chunk::new([ValueType::F64]);
            for &(device, time, figure) in figures {
                chunk.devices.push(device);
                chunk.timestamps_ns.push(time);
                chunk.columns[0].push(figure.map(Value::F64)).unwrap();
            }
            rows.push(&chunk).unwrap();
        }
        let all = Reply { rows: figures.len() as u64, bytes: 9, computed_by: ComputedBy::Server };
        let reply = rows.finish(all).unwrap();
        assert_eq!(reply, Reply { rows: seen.len() as u64, bytes: 9, computed_by: ComputedBy::Client });
        seen
    }

    #[test]
    fn rows_that_meet_the_condition_are_handed_on_or_counted() {
        let figures = [
            (1, 0, Some(2.0)),
            (1, 10, Some(1.0)),
            (1, 20, Some(3.0)),
            (4, 0, Some(7.0)),
            (4, 10, None),
            (6, 0, Some(0.5)),
            (9, 0, Some(2.0)),
        ];
        assert_eq!(wanted(&buckets(&[1], None), &figures), [(1, 0, 2.0), (1, 20, 3.0), (4, 0, 7.0), (9, 0, 2.0)]);
        assert_eq!(wanted(&buckets(&[1], Some(0)), &figures), [(1, 0, 2.0), (4, 0, 1.0), (9, 0, 1.0)]);
        assert_eq!(wanted(&buckets(&[1], Some(2)), &figures), [(1, 0, 2.0)]);
        assert_eq!(wanted(&buckets(&[1], Some(2)), &[]), []);
    }

    #[test]
    fn a_condition_is_on_one_figure_of_the_signal_that_it_names() {
        assert!(refuse(&buckets(&[1], Some(2))).is_ok() && refuse(&Query::Count).is_ok());
        let last = |at_least| {
            let of = Box::new(Query::LastPoints { devices: Devices::All });
            Query::Having { of, signal: 1, predicate: Predicate::Above(1.0), at_least, per: None }
        };
        assert!(refuse(&last(None)).is_ok());
        for wrong in [buckets(&[0], None), buckets(&[0, 1], None), last(Some(1))] {
            assert_eq!(refuse(&wrong).unwrap_err().cause, Cause::Client);
        }
    }
}
