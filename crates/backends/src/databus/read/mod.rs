//! One connection that reads. A stream gives its first or last values, and its least one: what else is asked is worked out
//! here, and the reply says so.

mod figures;
mod walk;

use super::{
    client::Client,
    document::{Extremes, Number},
    error::improper,
    names::stream,
    span::{NS_PER_MS, Span},
};
use async_trait::async_trait;
use figures::Wish;
use iotbench_backend_kit::{
    answer::{Answer, NOTHING, counts_row, types},
    refuse::refuse_unknown_signals,
};
use iotbench_core::{
    ComputedBy, Counts, Devices, Direction, Error, Predicate, Query, Reader, Reply, ReplyColumn, SignalId, Sink,
    TableSpec, TimeRange, ValueType,
};
use std::{
    cmp::Reverse,
    ops::{Bound, ControlFlow},
    slice::from_ref,
    sync::Arc,
};
use walk::Walk;

/// A connection that answers queries.
pub(crate) struct DatabusReader {
    client: Client,
    stem: String,
    table: Arc<TableSpec>,
    all_signals: Vec<SignalId>,
}

/// The time and the value of the datapoint that was found, and the bytes of the answers.
type Found = (Option<(i64, Number)>, u64);

/// Counts what is stored, by reading it: the server counts nothing. Also the bytes of the answers.
pub(crate) async fn count(client: &mut Client, stem: &str, table: &TableSpec) -> Result<(Counts, u64), Error> {
    let signals: Vec<SignalId> = (0..).take(table.schema.width()).collect();
    let (mut counts, mut bytes) = (Counts::default(), 0);
    for device in 0..table.devices {
        let walk = Walk { stem, device, signals: &signals, span: Span::ALL, is_latest_first: false, limit: u64::MAX };
        let take = &mut |_, cells: &[Option<Number>]| {
            counts.points += 1;
            counts.values += cells.iter().flatten().count() as u64;
            Ok(ControlFlow::Continue(()))
        };
        bytes += walk.run(client, take).await?;
    }
    Ok((counts, bytes))
}

/// The devices of the table among these, ascending.
fn devices_of(devices: &Devices, table: &TableSpec) -> Vec<u32> {
    (0..table.devices).filter(|&device| devices.contains(device)).collect()
}

impl DatabusReader {
    pub(crate) fn new(client: Client, stem: String, table: Arc<TableSpec>) -> Self {
        let all_signals = (0..).take(table.schema.width()).collect();
        Self { client, stem, table, all_signals }
    }

    fn type_of(&self, signal: SignalId) -> ValueType {
        self.table.schema.signals()[usize::from(signal)].value_type
    }

    async fn points(
        &mut self,
        devices: &Devices,
        signals: &[SignalId],
        span: Span,
        limit: u64,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let types = types(&self.table.schema, signals);
        let mut answer = Answer::new(sink, types.iter().copied());
        let mut bytes = 0;
        for device in devices_of(devices, &self.table) {
            let walk = Walk { stem: &self.stem, device, signals, span, is_latest_first: false, limit };
            let take = &mut |time, cells: &[Option<Number>]| {
                answer.row(device, time, |columns| push(columns, cells, &types))?;
                Ok(ControlFlow::Continue(()))
            };
            bytes += walk.run(&mut self.client, take).await?;
        }
        answer.finish(bytes, ComputedBy::Server)
    }

    /// The newest of each device hold the newest of all.
    async fn newest(&mut self, devices: &Devices, limit: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (signals, types) = (self.all_signals.clone(), types(&self.table.schema, &self.all_signals));
        let mut rows: Vec<(i64, u32, Vec<Option<Number>>)> = Vec::new();
        let mut bytes = 0;
        for device in devices_of(devices, &self.table) {
            let walk =
                Walk { stem: &self.stem, device, signals: &signals, span: Span::ALL, is_latest_first: true, limit };
            let take = &mut |time, cells: &[Option<Number>]| {
                rows.push((time, device, cells.to_vec()));
                Ok(ControlFlow::Continue(()))
            };
            bytes += walk.run(&mut self.client, take).await?;
            rows.sort_by_key(|&(time, ..)| Reverse(time));
            rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        let mut answer = Answer::new(sink, types.iter().copied());
        for (time, device, cells) in &rows {
            answer.row(*device, *time, |columns| push(columns, cells, &types))?;
        }
        answer.finish(bytes, ComputedBy::Client)
    }

    /// Goes through one signal and keeps the value that `takes` takes last, given the one kept so far; ends with the one
    /// that it breaks off at.
    async fn choose(
        &mut self,
        (device, signal): (u32, SignalId),
        (span, is_latest_first, limit): (Span, bool, u64),
        takes: impl Fn(Option<f64>, f64) -> Choice + Send + Sync,
    ) -> Result<Found, Error> {
        let walk = Walk { stem: &self.stem, device, signals: from_ref(&signal), span, is_latest_first, limit };
        let mut found: Option<(i64, Number)> = None;
        let take = &mut |time, cells: &[Option<Number>]| {
            let &[Some(number)] = cells else { return Ok(ControlFlow::Continue(())) };
            let choice = takes(found.map(|(_, kept)| kept.as_f64()), number.as_f64());
            if choice != Choice::Leave {
                found = Some((time, number));
            }
            Ok(if choice == Choice::KeepForGood { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        let bytes = walk.run(&mut self.client, take).await?;
        Ok((found, bytes))
    }

    async fn nearest(
        &mut self,
        of: (u32, SignalId),
        predicate: Predicate,
        direction: Direction,
    ) -> Result<Found, Error> {
        let (range, is_latest_first) = match direction {
            Direction::FirstAfter(time) => (TimeRange { from: Bound::Excluded(time), to: Bound::Unbounded }, false),
            Direction::LastBefore(time) => (TimeRange { from: Bound::Unbounded, to: Bound::Excluded(time) }, true),
        };
        let Some(span) = Span::of(range) else { return Ok((None, 0)) };
        let takes = |_, number| if predicate.holds(number) { Choice::KeepForGood } else { Choice::Leave };
        self.choose(of, (span, is_latest_first, u64::MAX), takes).await
    }

    /// The server's least value of one window that holds the whole span. It makes no window of a single moment.
    async fn minimum(&mut self, (device, signal): (u32, SignalId), span: Span) -> Result<Found, Error> {
        let Span { first, last } = span;
        if first == last {
            return self.choose((device, signal), (span, false, 1), |_, _| Choice::KeepForGood).await;
        }
        let (name, interval) = (stream(&self.stem, device, signal), last - first + 1);
        let modules = format!("minmaxV1/{interval}/rawdataV1/{name}/{first}/{last}");
        let (windows, bytes) = self.client.ask::<Extremes>(&modules).await?;
        let least = match windows.as_slice() {
            [] => None,
            [window] => window.min.zip(window.min_at),
            more => return Err(improper(format!("{} windows where one was asked for", more.len()))),
        };
        let Some((least, at)) = least else { return Ok((None, bytes)) };
        let at = at.as_i64().filter(|&ms| span.contains(ms));
        let at = at.ok_or_else(|| improper("the least value has a time that was not asked for"))?;
        Ok((Some((at * NS_PER_MS, least)), bytes))
    }

    /// The questions about one signal of one device.
    async fn of_one_signal(
        &mut self,
        query: &Query,
        of @ (device, signal): (u32, SignalId),
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        if device >= self.table.devices {
            return Ok(NOTHING);
        }
        let value_type = self.type_of(signal);
        match *query {
            Query::Nearest { predicate, direction, .. } => {
                let found = self.nearest(of, predicate, direction).await?;
                one_point(device, value_type, found, ComputedBy::Client, sink)
            }
            Query::Minimum { range, .. } => {
                let Some(span) = Span::of(range) else { return Ok(NOTHING) };
                let found = self.minimum(of, span).await?;
                one_point(device, value_type, found, ComputedBy::Server, sink)
            }
            Query::MaxOfFirst { from_ns, limit, .. } => {
                let Some(span) = Span::of(from(from_ns)) else { return Ok(NOTHING) };
                let is_greater = |kept: Option<f64>, number| match kept {
                    Some(kept) if number <= kept => Choice::Leave,
                    _ => Choice::Keep,
                };
                let (greatest, bytes) = self.choose(of, (span, false, limit), is_greater).await?;
                let greatest = greatest.map(|(_, number)| (0, number));
                one_point(device, ValueType::F64, (greatest, bytes), ComputedBy::Client, sink)
            }
            _ => {
                let found = self.choose(of, (Span::ALL, true, 1), |_, _| Choice::KeepForGood).await?;
                one_point(device, value_type, found, ComputedBy::Server, sink)
            }
        }
    }

    async fn count_row(&mut self, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (counts, bytes) = count(&mut self.client, &self.stem, &self.table).await?;
        counts_row(counts, bytes, ComputedBy::Client, sink)
    }
}

/// What to do with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Leave,
    Keep,
    KeepForGood,
}

/// From a time on.
fn from(first_ns: i64) -> TimeRange {
    TimeRange { from: Bound::Included(first_ns), to: Bound::Unbounded }
}

/// Answers with the one datapoint that was found, if any.
fn one_point(
    device: u32,
    value_type: ValueType,
    (found, bytes): Found,
    computed_by: ComputedBy,
    sink: &mut dyn Sink,
) -> Result<Reply, Error> {
    let mut answer = Answer::new(sink, [value_type]);
    if let Some((time, number)) = found {
        answer.row(device, time, |columns| push(columns, &[Some(number)], &[value_type]))?;
    }
    answer.finish(bytes, computed_by)
}

fn push(columns: &mut [ReplyColumn], cells: &[Option<Number>], types: &[ValueType]) -> Result<(), Error> {
    for ((column, cell), &value_type) in columns.iter_mut().zip(cells).zip(types) {
        column.push(cell.map(|number| number.value(value_type)).transpose()?)?;
    }
    Ok(())
}

#[async_trait]
impl Reader for DatabusReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        refuse_unknown_signals(query, &self.table)?;
        match query {
            Query::Range { devices, signals, range } => {
                let Some(span) = Span::of(*range) else { return Ok(NOTHING) };
                self.points(devices, signals, span, u64::MAX, sink).await
            }
            Query::Scan => {
                let signals = self.all_signals.clone();
                self.points(&Devices::All, &signals, Span::ALL, u64::MAX, sink).await
            }
            Query::Records { device, from_ns, limit } => {
                let Some(span) = Span::of(from(*from_ns)) else { return Ok(NOTHING) };
                let signals = self.all_signals.clone();
                self.points(&Devices::Some(vec![*device]), &signals, span, *limit, sink).await
            }
            Query::Newest { devices, limit } => self.newest(devices, *limit, sink).await,
            Query::Nearest { device, signal, .. }
            | Query::Minimum { device, signal, .. }
            | Query::MaxOfFirst { device, signal, .. }
            | Query::NewestVisible { device, signal } => self.of_one_signal(query, (*device, *signal), sink).await,
            Query::Aggregates { devices, signals, aggregates, range } => {
                let Some(span) = Span::of(*range) else { return Ok(NOTHING) };
                let wish = Wish { signals, aggregates, devices, span };
                wish.answer(&mut self.client, &self.stem, &self.table, sink).await
            }
            Query::Count => self.count_row(sink).await,
        }
    }
}
