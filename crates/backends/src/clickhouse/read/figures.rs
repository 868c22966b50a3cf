//! Counts, and figures of signals, device by device and of time buckets.

use super::{device_of, time_of};
use crate::clickhouse::{
    client::{Client, improper},
    sql::{self, Over, Select, signal_name},
};
use iotbench_backend_kit::{
    cell::{Cell, number},
    figures::{Collected, Group, Streamed},
    grouped_by::place_of,
};
use iotbench_core::{
    Aggregate, BucketWidth, ComputedBy, Counts, Error, Layout, Reply, SignalId, Sink, TableSpec, TagId,
};

/// Datapoints and values, and the bytes of the answer.
pub(crate) async fn count(client: &mut Client, table: &TableSpec) -> Result<(Counts, u64), Error> {
    let mut counts = Counts::default();
    let whole = |cell: &Cell<'_>| match cell {
        Cell::Integer(count) if *count >= 0 => Ok(count.unsigned_abs()),
        other => Err(improper(&format!("{other:?} stands where a count should"))),
    };
    let note = |row: &[Cell<'_>]| {
        let [points, values] = row else { return Err(improper(&"a count of other columns")) };
        counts = Counts { points: whole(points)?, values: whole(values)? };
        Ok(())
    };
    let bytes = client.ask(&sql::count(table), note).await?;
    Ok((counts, bytes))
}

/// Answers with a row a device, or bucket, and aggregate.
pub(crate) async fn answer(
    client: &mut Client,
    table: &TableSpec,
    select: Select<'_>,
    (signals, aggregates, over): (&[SignalId], &[Aggregate], Over),
    sink: &mut dyn Sink,
) -> Result<Reply, Error> {
    let most = if let Over::TotalBuckets(_, Some(newest)) = over { newest } else { u64::MAX };
    let mut figures = Streamed::new(sink, signals.len(), aggregates.len()).first(most);
    let note = |row: &[Cell<'_>]| {
        take(row, table, (signals, aggregates), &device_of, &mut |group, aggregate, signal, figure| {
            figures.begin(group)?;
            figures.set(aggregate, signal, figure);
            Ok(())
        })
    };
    let bytes = client.ask(&select.figures(signals, aggregates, over), note).await?;
    figures.finish(bytes, ComputedBy::Server)
}

/// Answers with a row a value of a tag, or bucket, and aggregate. The values come by the alphabet.
pub(crate) async fn by_tag(
    client: &mut Client,
    table: &TableSpec,
    select: Select<'_>,
    (signals, aggregates): (&[SignalId], &[Aggregate]),
    (tag, width): (TagId, Option<BucketWidth>),
    sink: &mut dyn Sink,
) -> Result<Reply, Error> {
    let (mut figures, many) = (Collected::default(), signals.len() * aggregates.len());
    let value_of = |value: &Cell<'_>| place_of(table.schema.tags(), tag, value.text());
    let note = |row: &[Cell<'_>]| {
        take(row, table, (signals, aggregates), &value_of, &mut |group, aggregate, signal, figure| {
            figures.set(group, aggregate * signals.len() + signal, many, figure);
            Ok(())
        })
    };
    let bytes = client.ask(&select.figures(signals, aggregates, Over::ByTag(tag, width)), note).await?;
    figures.answer(signals.len(), bytes, ComputedBy::Server, sink)
}

/// Gives the figures of a row to `take`: the group, whose first part `group_of` reads, the place of the aggregate and that of the signal.
fn take(
    row: &[Cell<'_>],
    table: &TableSpec,
    (signals, aggregates): (&[SignalId], &[Aggregate]),
    group_of: &dyn Fn(&Cell<'_>) -> Result<u32, Error>,
    take: &mut dyn FnMut(Group, usize, usize, Option<f64>) -> Result<(), Error>,
) -> Result<(), Error> {
    let [of, bucket, signal, count, cells @ ..] = row else {
        return Err(improper(&"figures without what they are of"));
    };
    // Without a column to group by there is a row also of no datapoints.
    let (Some(first), false) = (place_among(signals, table, signal), *count == Cell::Integer(0)) else {
        return Ok(());
    };
    let group = (group_of(of)?, time_of(bucket)?);
    cells.iter().enumerate().try_for_each(|(at, cell)| match (at % aggregates.len(), first + at / aggregates.len()) {
        (aggregate, signal) if signal < signals.len() => take(group, aggregate, signal, number(cell)?),
        _ => Err(improper(&"more figures than were asked for")),
    })
}

/// The place of a row's signal among those asked for: in layout narrow each has rows of its own.
fn place_among(signals: &[SignalId], table: &TableSpec, signal: &Cell<'_>) -> Option<usize> {
    match (table.layout, signal.text()) {
        (Layout::Narrow, name) => signals.iter().position(|&s| name == Some(signal_name(table, s))),
        _ => Some(0),
    }
}
