//! Figures over datapoints that come by device, then time, worked out by the client: of each device, or of each of its
//! buckets. One series of figures a signal is held, and where percentiles are asked for the values of one group.

use crate::{
    answer::Answer,
    ask::{Ask, What},
    percentile::Held,
    series::Series,
};
use iotbench_core::{Aggregate, BucketWidth, Chunk, ComputedBy, Error, Reply, Sink, ValueType};

/// A sink for datapoints that answers with figures over them.
pub struct Fold<'a> {
    answer: Answer<'a>,
    aggregates: &'a [Aggregate],
    width: Option<BucketWidth>,
    /// The device and the time of the rows that the datapoints come to.
    group: Option<(u32, i64)>,
    series: Vec<Series>,
    held: Held,
}

impl<'a> Fold<'a> {
    /// What an ask wants of the datapoints that it is about.
    pub fn new(ask: &Ask<'a>, sink: &'a mut dyn Sink) -> Self {
        let (aggregates, width) = match ask.what {
            What::Figures(aggregates) => (aggregates, None),
            What::Buckets(aggregates, width) => (aggregates, Some(width)),
            What::Datapoints
            | What::FirstOfEach
            | What::Greatest
            | What::TotalBuckets(..)
            | What::ByTag(..)
            | What::Top(_)
            | What::Consecutive(_)
            | What::Count => (&[][..], None),
        };
        let signals = ask.signals.len();
        let answer = Answer::new(sink, vec![ValueType::F64; signals]);
        let held = Held::new(signals, aggregates);
        Self { answer, aggregates, width, group: None, series: vec![Series::default(); signals], held }
    }

    /// Ends the answer, when the reply to the datapoints has come.
    ///
    /// # Errors
    /// The sink's.
    pub fn finish(mut self, reply: Reply) -> Result<Reply, Error> {
        self.flush()?;
        self.answer.finish(reply.bytes, ComputedBy::Client)
    }

    fn flush(&mut self) -> Result<(), Error> {
        if let Some((device, time)) = self.group.take() {
            let held = &mut self.held;
            held.sort();
            for &aggregate in self.aggregates {
                let figure = |(signal, series): (usize, &Series)| match aggregate {
                    Aggregate::Percentile(percentile) => held.of(signal, percentile),
                    aggregate => series.figure(aggregate),
                };
                self.answer.figures_at(device, time, self.series.iter().enumerate().map(figure))?;
            }
            held.clear();
            self.series.fill(Series::default());
        }
        Ok(())
    }
}

impl Sink for Fold<'_> {
    fn push(&mut self, chunk: &Chunk) -> Result<(), Error> {
        for (row, (&device, &time)) in chunk.devices.iter().zip(&chunk.timestamps_ns).enumerate() {
            let group = Some((device, self.width.map_or(0, |width| width.start_of(time))));
            if self.group != group {
                self.flush()?;
                self.group = group;
            }
            for (signal, (series, column)) in self.series.iter_mut().zip(&chunk.columns).enumerate() {
                if let Some(number) = column.get(row).and_then(|value| value.as_f64()) {
                    series.take(number);
                    self.held.take(signal, number)?;
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
    use iotbench_core::{Percentile, Value};

    type Row = (u32, i64, Vec<Option<f64>>);

    /// The rows of the figures over these datapoints of two signals, which come in chunks of two.
    fn folded(what: What<'_>, points: &[(u32, i64, Option<f64>)]) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let mut sink = |chunk: &Chunk| {
            let cells = |row| chunk.columns.iter().map(|column| column.get(row).and_then(|v| v.as_f64())).collect();
            rows.extend((0..chunk.len()).map(|row| (chunk.devices[row], chunk.timestamps_ns[row], cells(row))));
            Ok(())
        };
        let ask = Ask { what, ..Ask::stretch(Asked::All, &[0, 1], Span::ALL) };
        let mut fold = Fold::new(&ask, &mut sink);
        for points in points.chunks(2) {
            let mut chunk = Chunk::new([ValueType::I64, ValueType::F64]);
            for &(device, time, number) in points {
                chunk.devices.push(device);
                chunk.timestamps_ns.push(time);
                chunk.columns[0].push(Some(Value::I64(time))).unwrap();
                chunk.columns[1].push(number.map(Value::F64)).unwrap();
            }
            fold.push(&chunk).unwrap();
        }
        let reply = fold.finish(Reply { rows: 1, bytes: 9, computed_by: ComputedBy::Server }).unwrap();
        assert_eq!(reply, Reply { rows: rows.len() as u64, bytes: 9, computed_by: ComputedBy::Client });
        rows
    }

    const POINTS: [(u32, i64, Option<f64>); 5] =
        [(1, 9, Some(2.0)), (1, 10, Some(1.0)), (1, 19, Some(4.0)), (1, 30, None), (2, 30, Some(7.0))];

    #[test]
    fn a_bucket_has_a_row_an_aggregate_and_an_empty_one_has_none() {
        let what = What::Buckets(&[Aggregate::Sum, Aggregate::First], BucketWidth::from_ns(10).unwrap());
        let expected = [
            (1, 0, vec![Some(9.0), Some(2.0)]),
            (1, 0, vec![Some(9.0), Some(2.0)]),
            (1, 10, vec![Some(29.0), Some(5.0)]),
            (1, 10, vec![Some(10.0), Some(1.0)]),
            (1, 30, vec![Some(30.0), None]),
            (1, 30, vec![Some(30.0), None]),
            (2, 30, vec![Some(30.0), Some(7.0)]),
            (2, 30, vec![Some(30.0), Some(7.0)]),
        ];
        assert_eq!(folded(what, &POINTS), expected);
        assert_eq!(folded(what, &[]), []);
    }

    #[test]
    fn percentiles_are_found_group_by_group_beside_other_figures() {
        let percentile = |text| Aggregate::Percentile(Percentile::parse(text).unwrap());
        let asked = [percentile("p34"), Aggregate::Max];
        let rows = folded(What::Figures(&asked), &POINTS);
        let of_one = [(1, 0, vec![Some(10.0), Some(2.0)]), (1, 0, vec![Some(30.0), Some(4.0)])];
        let of_two = [(2, 0, vec![Some(30.0), Some(7.0)]), (2, 0, vec![Some(30.0), Some(7.0)])];
        assert_eq!(rows, [of_one, of_two].concat());
        let rows = folded(What::Buckets(&asked[..1], BucketWidth::from_ns(10).unwrap()), &POINTS);
        let bucket = |device, start, figures: [Option<f64>; 2]| (device, start, figures.to_vec());
        let expected = [
            bucket(1, 0, [Some(9.0), Some(2.0)]),
            bucket(1, 10, [Some(10.0), Some(1.0)]),
            bucket(1, 30, [Some(30.0), None]),
            bucket(2, 30, [Some(30.0), Some(7.0)]),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn without_buckets_all_of_a_device_is_one() {
        let expected = [(1, 0, vec![Some(4.0), Some(3.0)]), (2, 0, vec![Some(1.0), Some(1.0)])];
        assert_eq!(folded(What::Figures(&[Aggregate::Count]), &POINTS), expected);
    }
}
