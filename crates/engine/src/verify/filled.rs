//! Time buckets of each device, with those in which nothing was measured: what their rows have to hold.

use super::{exactness::Exactness, figure::Bounds, groups::ExpectedFigures};
use crate::read::KeptAnswer;
use iotbench_core::{BucketWidth, Fill, TimeRange};

/// A row: a device, the beginning of a bucket, and between which bounds the figure of each signal lies, if there is one.
type Row = (u32, i64, Vec<Option<Bounds>>);

/// Holds an answer against the buckets that hold a point, all of them certain: `aggregates` rows each, by device, then time.
pub(super) fn compare(
    answer: &KeptAnswer,
    holding: &[ExpectedFigures],
    (aggregates, range): (usize, TimeRange),
    (width, fill): (BucketWidth, Fill),
    exactness: Exactness,
) -> Result<(), String> {
    let ends = width.ends(range).filter(|_| aggregates > 0);
    let buckets = ends.map_or(0, |(first, last)| (last - first) / width.as_ns() + 1);
    let devices = holding.chunk_by(|a, b| a.device == b.device).count() as u64;
    let many = devices.saturating_mul(buckets.unsigned_abs()).saturating_mul(aggregates as u64);
    if answer.len() != many {
        return Err(format!("{} rows were answered, and there are {many}", answer.len()));
    }
    let (Some(kept), Some(ends)) = (&answer.rows, ends) else { return Ok(()) };
    // Of what is not kept whole it is told how many rows there are.
    let expected = first_rows(holding, (aggregates, kept.len()), ends, (width, fill));
    for (place, (device, start, figures)) in expected.iter().take(kept.len()).enumerate() {
        let of = (kept.devices.get(place).copied(), kept.timestamps_ns.get(place).copied());
        if of != (Some(*device), Some(*start)) {
            return Err(format!("row {place} is of {of:?} and should be of device {device} and time {start}"));
        }
        for (column, bounds) in figures.iter().enumerate() {
            let got = kept.columns.get(column).and_then(|column| column.get(place)).and_then(|value| value.as_f64());
            let is_right = match (got, bounds) {
                (Some(got), Some(bounds)) => exactness.same_figure(got, *bounds),
                (got, bounds) => got.is_none() && bounds.is_none(),
            };
            if !is_right {
                let should = bounds.map_or("nothing".into(), |bounds| bounds.to_string());
                return Err(format!("row {place}, figure {column} is {got:?} and should be {should}"));
            }
        }
    }
    Ok(())
}

/// So many rows at least, where there are as many.
fn first_rows(
    holding: &[ExpectedFigures],
    (aggregates, most): (usize, usize),
    (first, last): (i64, i64),
    (width, fill): (BucketWidth, Fill),
) -> Vec<Row> {
    let mut all = Vec::new();
    for of_device in holding.chunk_by(|a, b| a.device == b.device) {
        let buckets: Vec<_> = of_device.chunks(aggregates).collect();
        // How many of the buckets with a point begin before, or with, the one whose rows are written.
        let mut past = 0;
        for start in (first..=last).step_by(usize::try_from(width.as_ns()).unwrap_or(usize::MAX)) {
            if all.len() >= most {
                return all;
            }
            past += buckets[past..].iter().take_while(|bucket| bucket[0].timestamp_ns <= start).count();
            let (before, next) = (past.checked_sub(1).map(|place| buckets[place]), buckets.get(past));
            for aggregate in 0..aggregates {
                let signals = of_device[0].values.len();
                let of = |signal: usize| match before.map(|bucket| &bucket[aggregate]) {
                    None => None,
                    Some(own) if own.timestamp_ns == start => Some(own.values[signal]),
                    Some(before) => between(before, next.map(|next| &next[aggregate]), signal, (start, fill)),
                };
                all.push((of_device[0].device, start, (0..signals).map(of).collect()));
            }
        }
    }
    all
}

/// What a figure of a bucket without a point may be: both bounds are filled alike.
fn between(
    before: &ExpectedFigures,
    next: Option<&ExpectedFigures>,
    signal: usize,
    (at, fill): (i64, Fill),
) -> Option<Bounds> {
    let (own, next_own) = (before.values[signal], next.map(|next| next.values[signal]));
    let of = |end: fn(&Bounds) -> f64| {
        let after = next.zip(next_own).map(|(next, bounds)| (next.timestamp_ns, Some(end(&bounds))));
        fill.between((before.timestamp_ns, Some(end(&own))), after, at)
    };
    let magnitude = next_own.map_or(own.magnitude, |next| own.magnitude.max(next.magnitude));
    Some(Bounds { least: of(|b| b.least)?, greatest: of(|b| b.greatest)?, magnitude, ..own })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::overlap::Overlap;
    use iotbench_core::{Chunk, Domain, Query, Value, ValueType};

    const EXACT: Exactness = Exactness::new(|_| Domain::Full, false);

    fn holding() -> Vec<ExpectedFigures> {
        let bounds = |figure| Bounds { least: figure, greatest: figure, magnitude: 1.0, count: 1.0 };
        let rows = [(1, 10, 2.0), (1, 10, 4.0), (1, 40, 5.0), (1, 40, 10.0), (7, 0, 1.0), (7, 0, 1.0)];
        let of = |(device, timestamp_ns, figure)| ExpectedFigures {
            device,
            timestamp_ns,
            certain: true,
            values: vec![bounds(figure)],
        };
        rows.map(of).into()
    }

    type Answered = (u32, i64, Option<f64>);
    type Lie<'a> = &'a dyn Fn(&mut Vec<Answered>);

    fn found(fill: Fill, rows: &[Answered]) -> Result<(), String> {
        let mut chunk = Chunk::new([ValueType::F64]);
        for &(device, start, figure) in rows {
            chunk.devices.push(device);
            chunk.timestamps_ns.push(start);
            chunk.columns[0].push(figure.map(Value::F64)).unwrap();
        }
        let answer = KeptAnswer { rows: Some(chunk), ..KeptAnswer::new(Query::Scan, Overlap::None) };
        let width = BucketWidth::from_ns(10).unwrap();
        compare(&answer, &holding(), (2, TimeRange::half_open(5, 50)), (width, fill), EXACT)
    }

    fn right(fill: Fill) -> Vec<Answered> {
        let (between, after) = match fill {
            Fill::Null => ([None; 4], None),
            Fill::Previous => ([2.0, 4.0, 2.0, 4.0].map(Some), Some(1.0)),
            Fill::Linear => ([3.0, 6.0, 4.0, 8.0].map(Some), None),
        };
        let mut rows = vec![(1, 0, None), (1, 0, None), (1, 10, Some(2.0)), (1, 10, Some(4.0))];
        rows.extend([(1, 20, between[0]), (1, 20, between[1]), (1, 30, between[2]), (1, 30, between[3])]);
        rows.extend([(1, 40, Some(5.0)), (1, 40, Some(10.0)), (7, 0, Some(1.0)), (7, 0, Some(1.0))]);
        rows.extend([10, 20, 30, 40].into_iter().flat_map(|start| [(7, start, after); 2]));
        rows
    }

    #[test]
    fn every_bucket_has_its_rows_and_a_wrong_one_is_found() {
        for fill in Fill::ALL {
            let rows = right(fill);
            assert_eq!(found(fill, &rows), Ok(()), "{fill}");
            for place in 0..rows.len() {
                let lies: [Lie<'_>; 4] =
                    [&|rows| rows.truncate(place), &|rows| rows[place].1 += 10, &|rows| rows[place].0 += 1, &|rows| {
                        rows[place].2 = if rows[place].2.is_some() { None } else { Some(0.5) }
                    }];
                for lie in lies {
                    let mut rows = rows.clone();
                    lie(&mut rows);
                    assert!(found(fill, &rows).is_err(), "{fill}: row {place}");
                }
            }
        }
        assert!(
            found(Fill::Previous, &right(Fill::Linear)).is_err() && found(Fill::Linear, &right(Fill::Null)).is_err()
        );
    }
}
