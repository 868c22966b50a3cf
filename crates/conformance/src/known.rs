//! Questions whose answers are written down here, so that the oracle is held as well.

use crate::{
    compare::{Everything, Exactness, Row, Rows, agree},
    data::{ORIGIN_NS, Owned, schema},
    questions::of_percents,
    subject::{Check, Failure, Session, Subject, ask, ensure},
};
use iotbench_core::{
    Aggregate, Batch, BucketWidth, ComputedBy, Consecutive, Devices, Direction, Predicate, Query, Run, Schema,
    TimeRange, Value, ValueType,
};
use std::{
    num::NonZeroU64,
    ops::Bound::{Excluded, Included},
};

/// The time of the n-th step: five of them are two seconds.
const fn at(step: i64) -> i64 {
    ORIGIN_NS + step * 400_000_000
}

fn row(device: u32, timestamp_ns: i64, values: &[f64]) -> Row {
    Row { device, timestamp_ns, values: values.iter().map(|&v| Some(Owned::F64(v))).collect() }
}

/// Two devices with two numbers each.
pub(crate) async fn numbers(subject: &Subject<'_>) -> Check {
    let schema = schema(&[(ValueType::F64, 2)])?;
    let points = [
        (0, vec![(1, [5.0, 10.0]), (2, [3.0, 20.0]), (3, [3.0, 30.0]), (4, [8.0, 40.0])]),
        (1, vec![(2, [1.0, 1.0]), (3, [7.0, 2.0])]),
    ];
    let mut batch = Batch::new(&schema);
    for (device, points) in points {
        let run = Run { device, first: 0, count: u32::try_from(points.len()).unwrap_or(u32::MAX) };
        batch.append(run, |times, columns| {
            for (step, values) in points {
                times.push(at(step));
                for (column, value) in columns.iter_mut().zip(values) {
                    let pushed = column.push(Value::F64(value));
                    debug_assert!(pushed, "the columns are f64");
                }
            }
        });
    }
    hold(subject, &schema, 2, batch, number_answers()).await
}

fn number_answers() -> Vec<(Query, Vec<Row>)> {
    let (all, range) = (Devices::All, TimeRange::ALL);
    let stored = vec![
        row(0, at(1), &[5.0, 10.0]),
        row(0, at(2), &[3.0, 20.0]),
        row(0, at(3), &[3.0, 30.0]),
        row(0, at(4), &[8.0, 40.0]),
        row(1, at(2), &[1.0, 1.0]),
        row(1, at(3), &[7.0, 2.0]),
    ];
    let counts = Row { device: 0, timestamp_ns: 0, values: vec![Some(Owned::I64(6)), Some(Owned::I64(12))] };
    let one = |range| Query::Range { devices: Devices::Some(vec![0]), signals: vec![1], range };
    let nearest = |predicate, direction| Query::Nearest { device: 0, signal: 0, predicate, direction };
    let (predicate, devices) = (Predicate::Above(4.0), || all.clone());
    let filter = |all_signals| Query::Filter { devices: devices(), signal: 0, predicate, range, all_signals };
    let top = |aggregate, signal, limit| Query::TopDevices { devices: devices(), signal, aggregate, range, limit };
    let between = |range, what| Query::Consecutive { devices: devices(), signal: 0, range, what };
    let gap = |device, step, steps: i64| Row {
        device,
        timestamp_ns: at(step),
        values: vec![Some(Owned::I64(steps * (at(1) - at(0))))],
    };
    let figures = |aggregates: &[Aggregate]| Query::Aggregates {
        devices: all.clone(),
        signals: vec![0, 1],
        aggregates: aggregates.to_vec(),
        range,
    };
    let buckets = |aggregates: &[Aggregate]| Query::Buckets {
        devices: all.clone(),
        signals: vec![0, 1],
        aggregates: aggregates.to_vec(),
        // Of all time no database makes buckets.
        range: TimeRange::half_open(at(0), at(9)),
        width: BucketWidth::SECOND,
    };
    let of_all = |newest| Query::TotalBuckets {
        devices: all.clone(),
        signals: vec![0, 1],
        aggregates: vec![Aggregate::Mean, Aggregate::Count],
        range: TimeRange::half_open(at(0), at(9)),
        width: BucketWidth::SECOND,
        newest,
    };
    vec![
        (Query::Scan, stored.clone()),
        (Query::Count, vec![counts]),
        (one(TimeRange::half_open(at(2), at(4))), vec![row(0, at(2), &[20.0]), row(0, at(3), &[30.0])]),
        (
            one(TimeRange { from: Excluded(at(2)), to: Included(at(4)) }),
            vec![row(0, at(3), &[30.0]), row(0, at(4), &[40.0])],
        ),
        (Query::Records { device: 0, from_ns: at(2), limit: 2 }, stored[1..3].to_vec()),
        (filter(false), vec![row(0, at(1), &[5.0]), row(0, at(4), &[8.0]), row(1, at(3), &[7.0])]),
        (filter(true), vec![stored[0].clone(), stored[3].clone(), stored[5].clone()]),
        (nearest(Predicate::Above(4.0), Direction::FirstAfter(at(1))), vec![row(0, at(4), &[8.0])]),
        (nearest(Predicate::Above(4.0), Direction::LastBefore(at(4))), vec![row(0, at(1), &[5.0])]),
        (nearest(Predicate::Below(5.0), Direction::FirstAfter(at(1))), vec![row(0, at(2), &[3.0])]),
        (nearest(Predicate::Below(5.0), Direction::LastBefore(at(4))), vec![row(0, at(3), &[3.0])]),
        (nearest(Predicate::Above(8.0), Direction::FirstAfter(at(0))), vec![]),
        (Query::Minimum { device: 0, signal: 0, range }, vec![row(0, at(2), &[3.0])]),
        (Query::Newest { devices: all.clone(), limit: 1 }, vec![stored[3].clone()]),
        (Query::Newest { devices: Devices::Some(vec![1]), limit: 5 }, vec![stored[5].clone(), stored[4].clone()]),
        (Query::LastPoints { devices: all.clone() }, vec![stored[3].clone(), stored[5].clone()]),
        (Query::LastPoints { devices: Devices::Some(vec![1]) }, vec![stored[5].clone()]),
        (Query::NewestVisible { device: 1, signal: 1 }, vec![row(1, at(3), &[2.0])]),
        (Query::MaxOfFirst { device: 0, signal: 0, from_ns: at(1), limit: 3 }, vec![row(0, 0, &[5.0])]),
        (Query::MaxOfFirst { device: 0, signal: 0, from_ns: at(2), limit: 3 }, vec![row(0, 0, &[8.0])]),
        (
            figures(&[Aggregate::Last, Aggregate::Min, Aggregate::Mean, Aggregate::Max]),
            vec![
                row(0, 0, &[8.0, 40.0]),
                row(0, 0, &[3.0, 10.0]),
                row(0, 0, &[4.75, 25.0]),
                row(0, 0, &[8.0, 40.0]),
                row(1, 0, &[7.0, 2.0]),
                row(1, 0, &[1.0, 1.0]),
                row(1, 0, &[4.0, 1.5]),
                row(1, 0, &[7.0, 2.0]),
            ],
        ),
        (
            figures(&[Aggregate::First, Aggregate::Sum, Aggregate::Count]),
            vec![
                row(0, 0, &[5.0, 10.0]),
                row(0, 0, &[19.0, 100.0]),
                row(0, 0, &[4.0, 4.0]),
                row(1, 0, &[1.0, 1.0]),
                row(1, 0, &[8.0, 3.0]),
                row(1, 0, &[2.0, 2.0]),
            ],
        ),
        (buckets(&[Aggregate::Mean, Aggregate::Count]), {
            let (first, second) = (ORIGIN_NS, ORIGIN_NS + 1_000_000_000);
            vec![
                row(0, first, &[4.0, 15.0]),
                row(0, first, &[2.0, 2.0]),
                row(0, second, &[5.5, 35.0]),
                row(0, second, &[2.0, 2.0]),
                row(1, first, &[1.0, 1.0]),
                row(1, first, &[1.0, 1.0]),
                row(1, second, &[7.0, 2.0]),
                row(1, second, &[1.0, 1.0]),
            ]
        }),
        (top(Aggregate::Mean, 0, 2), vec![row(0, 0, &[4.75]), row(1, 0, &[4.0])]),
        (top(Aggregate::Min, 1, 1), vec![row(0, 0, &[10.0])]),
        (top(Aggregate::Count, 0, 9), vec![row(0, 0, &[4.0]), row(1, 0, &[2.0])]),
        (
            between(range, Consecutive::Gaps { longer_than_ns: 399_999_999 }),
            vec![gap(0, 1, 1), gap(0, 2, 1), gap(0, 3, 1), gap(1, 2, 1)],
        ),
        (between(range, Consecutive::Gaps { longer_than_ns: 400_000_000 }), vec![]),
        (
            between(range, Consecutive::Differences { per_ns: None }),
            vec![row(0, at(2), &[-2.0]), row(0, at(3), &[0.0]), row(0, at(4), &[5.0]), row(1, at(3), &[6.0])],
        ),
        (
            between(
                TimeRange::half_open(at(2), at(4)),
                Consecutive::Differences { per_ns: NonZeroU64::new(1_000_000_000) },
            ),
            vec![row(0, at(3), &[0.0]), row(1, at(3), &[15.0])],
        ),
        (between(range, Consecutive::TimeWeightedMean), vec![row(0, 0, &[11.0 / 3.0]), row(1, 0, &[1.0])]),
        (between(TimeRange::half_open(at(4), at(5)), Consecutive::TimeWeightedMean), vec![row(0, 0, &[8.0])]),
        (of_all(Some(1)), {
            let second = ORIGIN_NS + 1_000_000_000;
            vec![row(0, second, &[6.0, 24.0]), row(0, second, &[3.0, 3.0])]
        }),
        (of_all(None), {
            let (first, second) = (ORIGIN_NS, ORIGIN_NS + 1_000_000_000);
            vec![
                row(0, first, &[3.0, 31.0 / 3.0]),
                row(0, first, &[3.0, 3.0]),
                row(0, second, &[6.0, 24.0]),
                row(0, second, &[3.0, 3.0]),
            ]
        }),
        (figures(&[of_percents(&["p75"]), vec![Aggregate::Max]].concat()), {
            let of_first = [row(0, 0, &[5.0, 30.0]), row(0, 0, &[8.0, 40.0])];
            [of_first, [row(1, 0, &[7.0, 2.0]), row(1, 0, &[7.0, 2.0])]].concat()
        }),
        (figures(&[Aggregate::Max, Aggregate::Last]), {
            let (first, second) = (row(0, 0, &[8.0, 40.0]), row(1, 0, &[7.0, 2.0]));
            vec![first.clone(), first, second.clone(), second]
        }),
    ]
}

/// Texts that are read as numbers: `9` is less than `10`.
pub(crate) async fn numeric_texts(subject: &Subject<'_>) -> Check {
    let schema = schema(&[(ValueType::Text, 1)])?;
    let mut batch = Batch::new(&schema);
    batch.append(Run { device: 0, first: 0, count: 3 }, |times, columns| {
        for (step, text) in (0..).zip(["10", "9", "9.5"]) {
            times.push(at(step));
            let pushed = columns[0].push(Value::Text(text));
            debug_assert!(pushed, "the column is text");
        }
    });
    let text =
        |step, text: &str| Row { device: 0, timestamp_ns: at(step), values: vec![Some(Owned::Text(text.into()))] };
    let nearest = |predicate, direction| Query::Nearest { device: 0, signal: 0, predicate, direction };
    let differences = Query::Consecutive {
        devices: Devices::All,
        signal: 0,
        range: TimeRange::ALL,
        what: Consecutive::Differences { per_ns: None },
    };
    let figures = Query::Aggregates {
        devices: Devices::All,
        signals: vec![0],
        aggregates: vec![Aggregate::Last, Aggregate::Min, Aggregate::Mean, Aggregate::Max],
        range: TimeRange::ALL,
    };
    let answers = vec![
        (Query::MaxOfFirst { device: 0, signal: 0, from_ns: at(0), limit: 9 }, vec![row(0, 0, &[10.0])]),
        (Query::Minimum { device: 0, signal: 0, range: TimeRange::ALL }, vec![text(1, "9")]),
        (nearest(Predicate::Below(9.75), Direction::FirstAfter(at(0) - 1)), vec![text(1, "9")]),
        (nearest(Predicate::Above(9.75), Direction::LastBefore(at(9))), vec![text(0, "10")]),
        (differences, vec![row(0, at(1), &[-1.0]), row(0, at(2), &[0.5])]),
        (figures, vec![row(0, 0, &[9.5]), row(0, 0, &[9.0]), row(0, 0, &[9.5]), row(0, 0, &[10.0])]),
    ];
    hold(subject, &schema, 1, batch, answers).await
}

async fn hold(
    subject: &Subject<'_>,
    schema: &Schema,
    devices: u32,
    batch: Batch,
    answers: Vec<(Query, Vec<Row>)>,
) -> Check {
    let session: Session = subject.open(&subject.table(schema, devices, "known")?)?;
    session.fill(&[batch]).await?;
    let mut reader = session.reader().await?;
    let exactness = Exactness::new(subject.capabilities(), subject.layout, schema);
    let all = answers.iter().find(|(query, _)| matches!(query, Query::Scan));
    let stored = all.map(|(_, rows)| Rows(rows.clone()));
    for (query, expected) in answers {
        let (got, reply) = ask(&mut *reader, &query).await?;
        if matches!(query, Query::Buckets { .. }) {
            let is_declared = subject.capabilities().buckets.contains(&subject.layout);
            let by = reply.computed_by;
            ensure((by == ComputedBy::Server) == is_declared, || format!("{query:?} was worked out by: {by:?}"))?;
        }
        let expected = Rows(expected);
        let everything = Everything::from(stored.as_ref().unwrap_or(&expected).clone());
        agree(&query, &got, &expected, &everything, exactness)
            .map_err(|Failure(reason)| Failure(format!("{query:?}: {reason}")))?;
    }
    drop(reader);
    session.database.drop_created().await?;
    Ok(())
}
