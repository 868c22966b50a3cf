//! Signals that are added: what was stored before lacks them, what comes after it has them.

use crate::{
    Outcome, Verdict,
    compare::{Row, Rows},
    data::{ORIGIN_NS, Owned, schema},
    subject::{Check, Failure, Session, Subject, ask, ensure},
};
use iotbench_core::{AddedSignals, Batch, Database, Devices, Query, Run, Schema, SignalId, TimeRange, ValueType};

const DEVICES: u32 = 2;
/// Datapoints of a device in a batch.
const POINTS: u32 = 3;

/// Of a signal of each type.
pub(crate) async fn all(subject: &Subject<'_>) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for value_type in ValueType::ALL {
        let verdict = match schema(&[(value_type, 2)]).and_then(|schema| schema.with_added(1)) {
            Ok(schema) => match subject.misfit(&schema) {
                Some(misfit) => Verdict::Skipped(misfit.to_string()),
                None => match added(subject, &schema, value_type).await {
                    Ok(()) => Verdict::Passed,
                    Err(Failure(reason)) => Verdict::Failed(reason),
                },
            },
            Err(e) => Verdict::Failed(e.to_string()),
        };
        outcomes.push(Outcome { check: format!("a signal that is added, {value_type:?}"), verdict });
    }
    outcomes
}

async fn added(subject: &Subject<'_>, schema: &Schema, value_type: ValueType) -> Check {
    let session = subject.open(&subject.table(schema, DEVICES, "added")?)?;
    session.database.create().await?;
    let (mut first, mut second) = (session.database.writer().await?, session.database.writer().await?);
    let is_altered = (subject.fixture.backend().info().added_signals)(subject.layout) == AddedSignals::Altered;
    session.write(&mut *first, &[batch(schema, value_type, 0, 1)]).await?;
    let points = u64::from(DEVICES * POINTS);
    session.expect_counts(points, points).await?;
    if is_altered {
        has_added(&*session.database, false).await?;
        expect(&session, value_type, &[0], &[0], 1).await?;
        session.database.add_signals().await?;
        session.settle().await?;
        has_added(&*session.database, true).await?;
        session.expect_counts(points, points).await?;
        // Whoever does not know whether it was done does it again.
        session.database.add_signals().await?;
    }
    expect(&session, value_type, &[0], &[0], 2).await?;
    session.write(&mut *first, &[batch(schema, value_type, 1, 0)]).await?;
    // What is late lacks it still, on a writer that sent it before and on one that sends for the first time.
    session.write(&mut *second, &[batch(schema, value_type, 2, 0), batch(schema, value_type, 3, 1)]).await?;
    session.write(&mut *first, &[batch(schema, value_type, 4, 1)]).await?;
    session.expect_counts(5 * points, 7 * points).await?;
    expect(&session, value_type, &[0, 1, 2, 3, 4], &[0, 3, 4], 2).await?;
    drop((first, second));
    Ok(session.database.drop_created().await?)
}

async fn has_added(database: &dyn Database, expected: bool) -> Check {
    let has = database.has_added_signals().await?;
    ensure(has == expected, || format!("that the signals are there is said to be {has}"))
}

/// The `number`-th batch, without the last so many signals.
fn batch(schema: &Schema, value_type: ValueType, number: u64, lacking: usize) -> Batch {
    let mut batch = Batch::new(schema);
    for device in 0..DEVICES {
        let run = Run { device, first: number * u64::from(POINTS), count: POINTS };
        batch.append(run, |timestamps, columns| {
            for index in run.indices() {
                timestamps.push(time_of(index));
                for (signal, column) in (0..).zip(columns.iter_mut()) {
                    let pushed = column.push(value(value_type, device, index, signal).value());
                    debug_assert!(pushed, "the value is of the column's type");
                }
            }
        });
    }
    batch.lack(lacking);
    batch
}

fn time_of(index: u64) -> i64 {
    ORIGIN_NS + index.cast_signed() * 1_000_000_000
}

/// A small number that every type holds, of each datapoint and signal another one.
fn value(value_type: ValueType, device: u32, index: u64, signal: SignalId) -> Owned {
    let number =
        u16::try_from(index * 4 + 1).unwrap_or_default() + 2 * u16::try_from(device).unwrap_or_default() + 100 * signal;
    match value_type {
        ValueType::F32 => Owned::F32(number.into()),
        ValueType::F64 => Owned::F64(number.into()),
        ValueType::I64 => Owned::I64(number.into()),
        ValueType::U16 => Owned::U16(number),
        ValueType::Text => Owned::Text(format!("no {number}")),
    }
}

/// What is read of the first so many signals is what these batches hold, and in some of them the last is missing.
async fn expect(
    session: &Session,
    value_type: ValueType,
    batches: &[u64],
    lacking: &[u64],
    signals: SignalId,
) -> Check {
    let of_device = |device: u32| {
        batches.iter().flat_map(move |&number| {
            let indices = number * u64::from(POINTS)..(number + 1) * u64::from(POINTS);
            indices.map(move |index| Row {
                device,
                timestamp_ns: time_of(index),
                values: (0..signals)
                    .map(|signal| {
                        let is_there = signal == 0 || !lacking.contains(&number);
                        is_there.then(|| value(value_type, device, index, signal))
                    })
                    .collect(),
            })
        })
    };
    let expected = Rows((0..DEVICES).flat_map(of_device).collect());
    let devices = Devices::Some((0..DEVICES).collect());
    let query = Query::Range { devices, signals: (0..signals).collect(), range: TimeRange::ALL };
    let (rows, _) = ask(&mut *session.reader().await?, &query).await?;
    ensure(rows == expected, || format!("{rows:?} is read and not {expected:?}"))
}
