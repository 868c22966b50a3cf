//! Figures of time buckets of several devices together, merged from those of each of them by the client.

use crate::answer::Answer;
use iotbench_core::{Aggregate, Cause, Chunk, ComputedBy, Error, Query, Reader, Reply, Sink, ValueType};
use std::collections::BTreeMap;

/// What a signal's figures are put together from.
pub const PARTS: [Aggregate; 4] = [Aggregate::Sum, Aggregate::Count, Aggregate::Min, Aggregate::Max];

/// Answers [`Query::TotalBuckets`] by asking the same of each device: `None` where something else is asked.
///
/// # Errors
/// The reader's own; Client for the first and the last value, of which several devices have several.
pub async fn answer(reader: &mut dyn Reader, query: &Query, sink: &mut dyn Sink) -> Option<Result<Reply, Error>> {
    let Query::TotalBuckets { devices, signals, aggregates, range, width } = query else { return None };
    let of_each = Query::Buckets {
        devices: devices.clone(),
        signals: signals.clone(),
        aggregates: if aggregates.is_empty() { Vec::new() } else { PARTS.to_vec() },
        range: *range,
        width: *width,
    };
    let mut total = Total::new(signals.len());
    Some(match reader.query(&of_each, &mut total).await {
        Ok(reply) => total.finish(aggregates, reply.bytes, sink),
        Err(error) => Err(error),
    })
}

/// Whether several devices together have all these figures: of first and last values they have several.
#[must_use]
pub fn have_totals(aggregates: &[Aggregate]) -> bool {
    !aggregates.iter().any(|aggregate| matches!(aggregate, Aggregate::First | Aggregate::Last))
}

/// What is said of the first and the last value.
#[must_use]
pub fn no_first_of_all() -> Error {
    Error::new(Cause::Client, "several devices together have no first and no last value")
}

/// Takes the buckets of each device, as rows of [`PARTS`], and holds those of all.
#[derive(Debug)]
pub struct Total {
    signals: usize,
    /// How many rows of the present bucket have come.
    rows: usize,
    buckets: BTreeMap<i64, Vec<Sums>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    sum: f64,
    count: f64,
    min: Option<f64>,
    max: Option<f64>,
}

impl Total {
    /// Of so many signals.
    #[must_use]
    pub fn new(signals: usize) -> Self {
        Self { signals, rows: 0, buckets: BTreeMap::new() }
    }

    /// Answers with a row a bucket and aggregate, by time.
    ///
    /// # Errors
    /// The sink's own; Client for the first and the last value.
    pub fn finish(self, aggregates: &[Aggregate], bytes: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
        if !have_totals(aggregates) {
            return Err(no_first_of_all());
        }
        let mut answer = Answer::new(sink, vec![ValueType::F64; self.signals]);
        for (start, sums) in &self.buckets {
            for &aggregate in aggregates {
                answer.figures_at(0, *start, sums.iter().map(|sums| sums.figure(aggregate)))?;
            }
        }
        answer.finish(bytes, ComputedBy::Client)
    }
}

impl Sums {
    fn take(&mut self, part: Aggregate, figure: f64) {
        match part {
            Aggregate::Sum => self.sum += figure,
            Aggregate::Count => self.count += figure,
            Aggregate::Min => self.min = Some(self.min.map_or(figure, |min| min.min(figure))),
            _ => self.max = Some(self.max.map_or(figure, |max| max.max(figure))),
        }
    }

    fn figure(&self, aggregate: Aggregate) -> Option<f64> {
        let any = (self.count > 0.0).then_some(());
        any.and(match aggregate {
            Aggregate::Sum => Some(self.sum),
            Aggregate::Count => Some(self.count),
            Aggregate::Mean => Some(self.sum / self.count),
            Aggregate::Min => self.min,
            Aggregate::Max => self.max,
            Aggregate::First | Aggregate::Last => None,
        })
    }
}

impl Sink for Total {
    fn push(&mut self, chunk: &Chunk) -> Result<(), Error> {
        for (row, &start) in chunk.timestamps_ns.iter().enumerate() {
            let part = PARTS[self.rows % PARTS.len()];
            self.rows += 1;
            let sums = self.buckets.entry(start).or_insert_with(|| vec![Sums::default(); self.signals]);
            for (sums, column) in sums.iter_mut().zip(&chunk.columns) {
                if let Some(figure) = column.get(row).and_then(|value| value.as_f64()) {
                    sums.take(part, figure);
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
    fn buckets_of_devices_are_merged_by_time() {
        let mut total = Total::new(1);
        // Of two devices: sum, count, least and greatest of each bucket, in chunks that end anywhere.
        let rows = [(0, [3.0, 2.0, 1.0, 2.0]), (10, [5.0, 1.0, 5.0, 5.0]), (0, [-4.0, 1.0, -4.0, -4.0])];
        let rows: Vec<(i64, f64)> =
            rows.into_iter().flat_map(|(start, parts)| parts.map(|figure| (start, figure))).collect();
        for rows in rows.chunks(3) {
            let mut chunk = Chunk::new([ValueType::F64]);
            for &(start, figure) in rows {
                chunk.devices.push(4);
                chunk.timestamps_ns.push(start);
                chunk.columns[0].push(Some(Value::F64(figure))).unwrap();
            }
            total.push(&chunk).unwrap();
        }
        let mut seen = Vec::new();
        let mut sink = |chunk: &Chunk| {
            let figure = |row| chunk.columns[0].get(row).and_then(|value| value.as_f64());
            seen.extend((0..chunk.len()).map(|row| (chunk.devices[row], chunk.timestamps_ns[row], figure(row))));
            Ok(())
        };
        let aggregates = [Aggregate::Mean, Aggregate::Min, Aggregate::Max, Aggregate::Sum, Aggregate::Count];
        let reply = total.finish(&aggregates, 9, &mut sink).unwrap();
        assert_eq!(reply, Reply { rows: 10, bytes: 9, computed_by: ComputedBy::Client });
        let first = [-1.0 / 3.0, -4.0, 2.0, -1.0, 3.0].map(|figure| (0, 0, Some(figure)));
        let second = [5.0, 5.0, 5.0, 5.0, 1.0].map(|figure| (0, 10, Some(figure)));
        assert_eq!(seen, [first, second].concat());
    }

    #[test]
    fn several_devices_have_no_last_value() {
        let error = Total::new(1).finish(&[Aggregate::Last], 0, &mut |_: &Chunk| Ok(())).unwrap_err();
        assert_eq!(error.cause, Cause::Client);
    }
}
