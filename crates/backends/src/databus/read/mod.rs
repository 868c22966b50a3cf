//! One connection that reads. A stream gives its first or last values, and its least one: what else is asked is worked out
//! here, and the reply says so.

mod walk;

use super::{
    ALL,
    client::Client,
    document::{Extremes, Number},
    error::improper,
    names::stream,
};
use async_trait::async_trait;
use iotbench_backend_kit::{
    answer::{Answer, NOTHING, counts_row, types},
    ask::{Ask, Order, What},
    by_client, each,
    filter::Filter,
    fold::Fold,
    millis::{Millis, NS_PER_MS},
    refuse::refuse_unknown_signals,
};
use iotbench_core::{
    ComputedBy, Counts, Error, Query, Reader, Reply, ReplyColumn, SignalId, Sink, TableSpec, ValueType,
};
use std::{cmp::Reverse, ops::ControlFlow, sync::Arc};
use walk::Walk;

/// A connection that answers queries.
pub(crate) struct DatabusReader {
    client: Client,
    stem: String,
    table: Arc<TableSpec>,
    all_signals: Arc<[SignalId]>,
}

/// The time and the value of the datapoint that was found, and the bytes of the answers.
type Found = (Option<(i64, Number)>, u64);

/// Counts what is stored, by reading it: the server counts nothing. Also the bytes of the answers.
pub(crate) async fn count(client: &mut Client, stem: &str, table: &TableSpec) -> Result<(Counts, u64), Error> {
    let signals: Vec<SignalId> = (0..).take(table.schema.width()).collect();
    let (mut counts, mut bytes) = (Counts::default(), 0);
    for device in 0..table.devices {
        let walk = Walk { stem, device, signals: &signals, span: ALL, is_latest_first: false, limit: u64::MAX };
        let take = &mut |_, cells: &[Option<Number>]| {
            counts.points += 1;
            counts.values += cells.iter().flatten().count() as u64;
            Ok(ControlFlow::Continue(()))
        };
        bytes += walk.run(client, take).await?;
    }
    Ok((counts, bytes))
}

/// The devices of the table that are asked about, ascending.
fn devices_of(ask: &Ask<'_>, table: &TableSpec) -> Vec<u32> {
    (0..table.devices).filter(|&device| ask.devices.contains(device)).collect()
}

impl DatabusReader {
    pub(crate) fn new(client: Client, stem: String, table: Arc<TableSpec>) -> Self {
        let all_signals = (0..).take(table.schema.width()).collect();
        Self { client, stem, table, all_signals }
    }

    /// Datapoints of each device by time, at most so many of each.
    async fn points(&mut self, ask: &Ask<'_>, span: Millis, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let Ask { signals, limit, .. } = *ask;
        let types = types(&self.table.schema, signals);
        let mut answer = Answer::new(sink, types.iter().copied());
        let mut bytes = 0;
        for device in devices_of(ask, &self.table) {
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
    async fn newest(&mut self, ask: &Ask<'_>, span: Millis, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let Ask { signals, limit, .. } = *ask;
        let types = types(&self.table.schema, signals);
        let mut rows: Vec<(i64, u32, Vec<Option<Number>>)> = Vec::new();
        let mut bytes = 0;
        for device in devices_of(ask, &self.table) {
            let walk = Walk { stem: &self.stem, device, signals, span, is_latest_first: true, limit };
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

    /// Goes through the datapoints of one signal and keeps the value that `takes` takes last, given the one kept so far; ends
    /// with the one that it breaks off at.
    async fn choose(
        &mut self,
        ask: &Ask<'_>,
        span: Millis,
        takes: impl Fn(Option<f64>, f64) -> Choice + Send + Sync,
    ) -> Result<Found, Error> {
        let Ask { signals, order, limit, .. } = *ask;
        let is_latest_first = order == Order::Before;
        let walk = Walk { stem: &self.stem, device: ask.device(), signals, span, is_latest_first, limit };
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

    /// The server's least value of one window that holds the whole span. It makes no window of a single moment.
    async fn minimum(&mut self, ask: &Ask<'_>, span: Millis) -> Result<Found, Error> {
        let Millis { first, last } = span;
        if first == last {
            return self.choose(ask, span, |_, _| Choice::KeepForGood).await;
        }
        let (name, interval) = (stream(&self.stem, ask.device(), ask.signal), last - first + 1);
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
    async fn of_one_signal(&mut self, ask: &Ask<'_>, span: Millis, sink: &mut dyn Sink) -> Result<Reply, Error> {
        if ask.device() >= self.table.devices {
            return Ok(NOTHING);
        }
        let of_signal = self.table.schema.signals()[usize::from(ask.signal)].value_type;
        let (found, value_type, computed_by) = match (ask.what, ask.order, ask.predicate) {
            (What::Greatest, ..) => {
                let is_greater = |kept: Option<f64>, number| match kept {
                    Some(kept) if number <= kept => Choice::Leave,
                    _ => Choice::Keep,
                };
                let (greatest, bytes) = self.choose(ask, span, is_greater).await?;
                let greatest = greatest.map(|(_, number)| (0, number));
                ((greatest, bytes), ValueType::F64, ComputedBy::Client)
            }
            (_, Order::Least, _) => (self.minimum(ask, span).await?, of_signal, ComputedBy::Server),
            (.., Some(predicate)) => {
                let takes = |_, number| if predicate.holds(number) { Choice::KeepForGood } else { Choice::Leave };
                let all = Ask { limit: u64::MAX, ..*ask };
                (self.choose(&all, span, takes).await?, of_signal, ComputedBy::Client)
            }
            _ => (self.choose(ask, span, |_, _| Choice::KeepForGood).await?, of_signal, ComputedBy::Server),
        };
        one_point(ask.device(), value_type, found, computed_by, sink)
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
        let table = Arc::clone(&self.table);
        if let Some(answer) = by_client::answer(self, query, &table.schema, sink).await {
            return answer;
        }
        refuse_unknown_signals(query, &self.table)?;
        let all = Arc::clone(&self.all_signals);
        let ask = Ask::of(query, &all);
        let span = ask.and_then(|ask| ALL.within(ask.span));
        let (Some(ask), Some(span)) = (ask, span) else { return Ok(NOTHING) };
        match (ask.what, ask.order) {
            (What::FirstOfEach, _) => {
                let of_table = self.table.devices;
                each::last_points(self, ask.devices, of_table, sink).await
            }
            (What::Count, _) => self.count_row(sink).await,
            // The server's mean is rounded to ten places after the point, and it has no module for several figures at once.
            (What::Figures(_) | What::Buckets(..), _) => {
                let mut fold = Fold::new(&ask, sink);
                let reply = self.points(&ask.datapoints(), span, &mut fold).await?;
                fold.finish(reply)
            }
            (What::Datapoints, Order::Stretch) if ask.predicate.is_some() => {
                let table = Arc::clone(&self.table);
                let mut filter = Filter::new(&ask, &table.schema, sink);
                let reply = self.points(&ask, span, &mut filter).await?;
                filter.finish(reply, ComputedBy::Client)
            }
            (What::Datapoints, Order::Stretch | Order::Oldest) => self.points(&ask, span, sink).await,
            (What::Datapoints, Order::Newest) => self.newest(&ask, span, sink).await,
            _ => self.of_one_signal(&ask, span, sink).await,
        }
    }
}
