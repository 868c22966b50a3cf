//! Counts, and figures of signals, device by device and of time buckets.

use super::{device_of, time_of};
use crate::questdb::{
    client::Client,
    rows::improper,
    sql::{self, Over, Select, signal_name},
};
use iotbench_backend_kit::{
    cell::{Cell, number},
    figures::{Collected, Streamed},
    grouped_by::place_of,
};
use iotbench_core::{
    Aggregate, BucketWidth, ComputedBy, Counts, Error, Layout, Reply, SignalId, Sink, TableSpec, TagId,
};

/// Datapoints and values, and the bytes of the answer.
pub(crate) async fn count(client: &mut Client, table: &TableSpec) -> Result<(Counts, u64), Error> {
    let mut counts = Counts::default();
    let whole = |cell: &Cell<'_>| match cell {
        Cell::Null => Ok(0),
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
        let [device, bucket, signal, count, cells @ ..] = row else {
            return Err(improper(&"figures without their device"));
        };
        // Without a device column there is a row also of no datapoints.
        let (Some(place), false) = (place_among(signals, table, signal), *count == Cell::Integer(0)) else {
            return Ok(());
        };
        figures.begin((device_of(device)?, time_of(bucket)?))?;
        for (at, cell) in cells.iter().enumerate() {
            if !figures.set(at % aggregates.len(), place + at / aggregates.len(), number(cell)?) {
                return Err(improper(&"more figures than were asked for"));
            }
        }
        Ok(())
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
    let note = |row: &[Cell<'_>]| {
        let [value, bucket, signal, _, cells @ ..] = row else {
            return Err(improper(&"figures without the value of their tag"));
        };
        let Some(first) = place_among(signals, table, signal) else { return Ok(()) };
        let group = (place_of(table.schema.tags(), tag, value.text())?, time_of(bucket)?);
        for (at, cell) in cells.iter().enumerate() {
            let (aggregate, signal) = (at % aggregates.len(), first + at / aggregates.len());
            if signal >= signals.len() {
                return Err(improper(&"more figures than were asked for"));
            }
            figures.set(group, aggregate * signals.len() + signal, many, number(cell)?);
        }
        Ok(())
    };
    let bytes = client.ask(&select.figures(signals, aggregates, Over::ByTag(tag, width)), note).await?;
    figures.answer(signals.len(), bytes, ComputedBy::Server, sink)
}

/// The place of a row's signal among those asked for: in layout narrow each has rows of its own.
fn place_among(signals: &[SignalId], table: &TableSpec, signal: &Cell<'_>) -> Option<usize> {
    match (table.layout, signal.text()) {
        (Layout::Narrow, name) => signals.iter().position(|&s| name == Some(signal_name(table, s))),
        _ => Some(0),
    }
}
