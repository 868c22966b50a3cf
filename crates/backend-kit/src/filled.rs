//! Time buckets without a gap, where the client fills it: a row of each bucket of the stretch, device by device.

use crate::answer::{Answer, NOTHING_BY_CLIENT};
use iotbench_core::{BucketWidth, Cause, Chunk, ComputedBy, Error, Fill, Query, Reader, Reply, Sink, ValueType};
use std::ops::Bound;

/// Answers [`Query::Filled`] by asking for the buckets that hold a point: `None` where something else is asked.
///
/// # Errors
/// The reader's own; the sink's; Client for what cannot be filled.
pub async fn answer(reader: &mut dyn Reader, query: &Query, sink: &mut dyn Sink) -> Option<Result<Reply, Error>> {
    let Query::Filled { of, .. } = query else { return None };
    Some(match Rows::of(query, sink) {
        Ok(Some(mut rows)) => match reader.query(of, &mut rows).await {
            Ok(reply) => rows.finish(reply.bytes),
            Err(error) => Err(error),
        },
        Ok(None) => Ok(NOTHING_BY_CLIENT),
        Err(error) => Err(error),
    })
}

/// A sink for the buckets that hold a point, which answers with all of them. Of one device it holds the last bucket.
pub struct Rows<'a> {
    answer: Answer<'a>,
    fill: Fill,
    width: BucketWidth,
    /// The beginnings of the first and the last bucket.
    ends: (i64, i64),
    signals: usize,
    /// How many rows a bucket has: one an aggregate.
    rows: usize,
    /// The bucket of which not every row has come.
    open: Option<Bucket>,
    /// The one before it.
    last: Option<Bucket>,
}

/// A bucket that holds a point, and its figures: signal by signal, of each aggregate in turn.
#[derive(Clone, Debug)]
struct Bucket {
    device: u32,
    start: i64,
    figures: Vec<Option<f64>>,
}

impl<'a> Rows<'a> {
    /// What [`Query::Filled`] wants; `None` where its stretch of time holds nothing.
    ///
    /// # Errors
    /// Client where it is of no buckets, or of a stretch without an end.
    pub fn of(query: &Query, sink: &'a mut dyn Sink) -> Result<Option<Self>, Error> {
        let wrong = || Error::new(Cause::Client, "what is filled are the buckets of a stretch of time with both ends");
        let Query::Filled { of, fill } = query else { return Err(wrong()) };
        let Query::Buckets { signals, aggregates, range, width, .. } = &**of else { return Err(wrong()) };
        let (signals, rows) = (signals.len(), aggregates.len());
        let Some(ends) = width.ends(*range).filter(|_| rows > 0 && signals > 0) else {
            let has_ends = ![range.from, range.to].contains(&Bound::Unbounded);
            return if has_ends { Ok(None) } else { Err(wrong()) };
        };
        let answer = Answer::new(sink, vec![ValueType::F64; signals]);
        Ok(Some(Self { answer, fill: *fill, width: *width, ends, signals, rows, open: None, last: None }))
    }

    /// Ends the answer, when all rows have come.
    ///
    /// # Errors
    /// The sink's; Protocol where a bucket had fewer rows than aggregates.
    pub fn finish(mut self, bytes: u64) -> Result<Reply, Error> {
        if self.open.is_some() {
            return Err(cut());
        }
        if let Some(last) = self.last.take() {
            self.after(&last, None)?;
        }
        self.answer.finish(bytes, ComputedBy::Client)
    }

    /// The buckets between one and the next of the same device, or the end.
    fn after(&mut self, last: &Bucket, next: Option<&Bucket>) -> Result<(), Error> {
        let end = next.map_or(self.ends.1.saturating_add(1), |next| next.start);
        let mut start = last.start.saturating_add(self.width.as_ns());
        while start < end {
            let figure = |place: usize| {
                let next = next.map(|next| (next.start, next.figures.get(place).copied().flatten()));
                self.fill.between((last.start, last.figures[place]), next, start)
            };
            let figures: Vec<_> = (0..last.figures.len()).map(figure).collect();
            self.bucket(last.device, start, &figures)?;
            start = start.saturating_add(self.width.as_ns());
        }
        Ok(())
    }

    fn bucket(&mut self, device: u32, start: i64, figures: &[Option<f64>]) -> Result<(), Error> {
        figures.chunks(self.signals).try_for_each(|row| self.answer.figures_at(device, start, row.iter().copied()))
    }

    /// A bucket of which every row has come.
    fn take(&mut self, bucket: Bucket) -> Result<(), Error> {
        match self.last.take() {
            Some(last) if last.device == bucket.device => self.after(&last, Some(&bucket))?,
            last => {
                if let Some(last) = last {
                    self.after(&last, None)?;
                }
                let nothing = vec![None; bucket.figures.len()];
                let mut start = self.ends.0;
                while start < bucket.start {
                    self.bucket(bucket.device, start, &nothing)?;
                    start = start.saturating_add(self.width.as_ns());
                }
            }
        }
        self.bucket(bucket.device, bucket.start, &bucket.figures)?;
        self.last = Some(bucket);
        Ok(())
    }
}

fn cut() -> Error {
    Error::new(Cause::Protocol, "a bucket has fewer rows than there are aggregates")
}

impl Sink for Rows<'_> {
    fn push(&mut self, chunk: &Chunk) -> Result<(), Error> {
        for (row, (&device, &start)) in chunk.devices.iter().zip(&chunk.timestamps_ns).enumerate() {
            let mut bucket = match self.open.take() {
                None => Bucket { device, start, figures: Vec::with_capacity(self.signals * self.rows) },
                Some(open) if (open.device, open.start) == (device, start) => open,
                Some(_) => return Err(cut()),
            };
            bucket.figures.extend(chunk.columns.iter().map(|column| column.get(row).and_then(|value| value.as_f64())));
            if bucket.figures.len() < self.signals * self.rows {
                self.open = Some(bucket);
            } else {
                self.take(bucket)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Aggregate, Devices, TimeRange, Value};

    type Row = (u32, i64, Option<f64>);

    fn query(fill: Fill, range: TimeRange) -> Query {
        let (devices, aggregates, width) =
            (Devices::All, vec![Aggregate::Mean, Aggregate::Max], BucketWidth::from_ns(10).unwrap());
        let of = Query::Buckets { devices, signals: vec![3], aggregates, range, width };
        Query::Filled { of: Box::new(of), fill }
    }

    /// What is answered to these rows, which come in chunks of three.
    fn filled(fill: Fill, rows: &[Row]) -> Result<Vec<Row>, Error> {
        let mut seen = Vec::new();
        let mut sink = |chunk: &Chunk| {
            let figure = |row| chunk.columns[0].get(row).and_then(|value| value.as_f64());
            seen.extend((0..chunk.len()).map(|row| (chunk.devices[row], chunk.timestamps_ns[row], figure(row))));
            Ok(())
        };
        let mut all = Rows::of(&query(fill, TimeRange::half_open(5, 50)), &mut sink)?.unwrap();
        for rows in rows.chunks(3) {
            let mut chunk = Chunk::new([ValueType::F64]);
            for &(device, start, figure) in rows {
                chunk.devices.push(device);
                chunk.timestamps_ns.push(start);
                chunk.columns[0].push(figure.map(Value::F64)).unwrap();
            }
            all.push(&chunk)?;
        }
        let reply = all.finish(9)?;
        assert_eq!(reply, Reply { rows: seen.len() as u64, bytes: 9, computed_by: ComputedBy::Client });
        Ok(seen)
    }

    #[test]
    fn every_bucket_of_a_device_has_its_rows() {
        let rows = [(1, 10, 2.0), (1, 10, 4.0), (1, 40, 5.0), (1, 40, 10.0), (7, 0, 1.0), (7, 0, 1.0)];
        let rows = rows.map(|(device, start, figure)| (device, start, Some(figure)));
        for (fill, between, after) in [
            (Fill::Null, [None; 4], None),
            (Fill::Previous, [Some(2.0), Some(4.0), Some(2.0), Some(4.0)], Some(1.0)),
            (Fill::Linear, [Some(3.0), Some(6.0), Some(4.0), Some(8.0)], None),
        ] {
            let first = [(1, 0, None), (1, 0, None), rows[0], rows[1]];
            let gap = [(1, 20, between[0]), (1, 20, between[1]), (1, 30, between[2]), (1, 30, between[3])];
            let mut expected = [&first[..], &gap, &rows[2..]].concat();
            expected.extend([10, 20, 30, 40].into_iter().flat_map(|start| [(7, start, after); 2]));
            assert_eq!(filled(fill, &rows).unwrap(), expected, "{fill}");
        }
        assert_eq!(filled(Fill::Null, &[]).unwrap(), [], "of a device without a point there is nothing");
    }

    #[test]
    fn a_bucket_that_is_cut_off_is_told() {
        for rows in [&[(1, 10, None)][..], &[(1, 10, None), (1, 20, None)]] {
            assert_eq!(filled(Fill::Null, rows).unwrap_err().cause, Cause::Protocol);
        }
    }

    #[test]
    fn what_has_no_end_cannot_be_filled() {
        let mut sink = |_: &Chunk| Ok(());
        let of =
            |query: &Query, sink: &mut dyn Sink| Rows::of(query, sink).map(|rows| rows.is_some()).map_err(|e| e.cause);
        assert_eq!(of(&query(Fill::Null, TimeRange::ALL), &mut sink), Err(Cause::Client));
        assert_eq!(of(&Query::Count, &mut sink), Err(Cause::Client));
        assert_eq!(of(&query(Fill::Null, TimeRange::half_open(9, 9)), &mut sink), Ok(false));
    }
}
