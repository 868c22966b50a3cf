//! One connection that reads: every query in the server's JSON, and in the client where that cannot.

mod count;
mod figures;
mod points;
mod signal;

pub(crate) use count::count;

use super::{
    client::Client,
    document::Document,
    question::{ALL, Asked, question},
};
use async_trait::async_trait;
use figures::Wish;
use iotbench_backend_kit::{
    answer::{Answer, NOTHING, counts_row, types},
    metrics::{Cell, DEVICE, Span, device_number, number, one_point, push},
    refuse::refuse_unknown_signals,
};
use iotbench_core::{
    ComputedBy, Devices, Error, Query, Reader, Reply, SignalId, Sink, TableSpec, TimeRange, ValueType,
};
use points::points;
use signal::OneSignal;
use std::{cmp::Reverse, collections::BTreeSet, sync::Arc};

/// A connection that answers queries.
pub(crate) struct KairosReader {
    client: Client,
    table: Arc<TableSpec>,
    all_signals: Vec<SignalId>,
}

impl KairosReader {
    pub(crate) fn new(client: Client, table: Arc<TableSpec>) -> Self {
        let all_signals = (0..).take(table.schema.width()).collect();
        Self { client, table, all_signals }
    }

    /// What is asked about some signals of some devices.
    fn asked(&self, devices: &Devices, signals: &[SignalId]) -> Vec<Asked> {
        signals.iter().map(|&signal| Asked::new(&self.table, signal).of(devices)).collect()
    }

    /// Datapoints by device and time, at most `limit`. Gives the bytes of the answer.
    async fn points(
        &mut self,
        span: Span,
        asked: &[Asked],
        types: &[ValueType],
        mut limit: u64,
        answer: &mut Answer<'_>,
    ) -> Result<u64, Error> {
        let hand_over = |document: &Document<'_>| {
            points(document, &mut |device, time, cells| {
                if limit == 0 {
                    return Ok(());
                }
                limit -= 1;
                answer.row(device, time, |columns| push(columns, cells, types))
            })
        };
        let ((), bytes) = self.client.ask(question(span, asked), hand_over).await?;
        Ok(bytes)
    }

    async fn range(
        &mut self,
        devices: &Devices,
        signals: &[SignalId],
        range: TimeRange,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let Some(span) = ALL.within(range).filter(|_| *devices != Devices::Some(Vec::new())) else {
            return Ok(NOTHING);
        };
        let (types, asked) = (types(&self.table.schema, signals), self.asked(devices, signals));
        let mut answer = Answer::new(sink, types.iter().copied());
        let bytes = self.points(span, &asked, &types, u64::MAX, &mut answer).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    /// Everything, one device after the other: an answer is held whole.
    async fn scan(&mut self, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let signals = self.all_signals.clone();
        let (types, all) = (types(&self.table.schema, &signals), self.asked(&Devices::All, &signals));
        let (tags, mut bytes) = self.client.ask_tag(question(ALL, &all), DEVICE).await?;
        let devices: BTreeSet<u32> = tags.iter().map(|tag| device_number(tag)).collect::<Result<_, _>>()?;
        let mut answer = Answer::new(sink, types.iter().copied());
        for device in devices {
            let asked = self.asked(&Devices::Some(vec![device]), &signals);
            bytes += self.points(ALL, &asked, &types, u64::MAX, &mut answer).await?;
        }
        answer.finish(bytes, ComputedBy::Server)
    }

    /// Each signal has its first values from a time on: together they hold the first datapoints.
    async fn records(&mut self, device: u32, from_ns: i64, limit: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (Some(span), 1..) = (ALL.from(from_ns), limit) else { return Ok(NOTHING) };
        let signals = self.all_signals.clone();
        let types = types(&self.table.schema, &signals);
        let asked = self.asked(&Devices::Some(vec![device]), &signals).into_iter().map(|asked| asked.limit(limit));
        let mut answer = Answer::new(sink, types.iter().copied());
        let bytes = self.points(span, &asked.collect::<Vec<_>>(), &types, limit, &mut answer).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    /// The newest of each device hold the newest of all.
    async fn newest(&mut self, devices: &Devices, limit: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
        if limit == 0 || *devices == Devices::Some(Vec::new()) {
            return Ok(NOTHING);
        }
        let signals = self.all_signals.clone();
        let types = types(&self.table.schema, &signals);
        let asked: Vec<_> =
            self.asked(devices, &signals).into_iter().map(|asked| asked.latest_first().limit(limit)).collect();
        let mut answer = Answer::new(sink, types.iter().copied());
        let hand_over = |document: &Document<'_>| {
            let mut rows: Vec<(i64, u32, Vec<Option<Cell<'static>>>)> = Vec::new();
            points(document, &mut |device, time, cells| {
                rows.push((
                    time,
                    device,
                    cells.iter().map(|cell| cell.map(|cell| cell.clone().into_owned())).collect(),
                ));
                Ok(())
            })?;
            rows.sort_by_key(|&(time, ..)| Reverse(time));
            rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            rows.iter().try_for_each(|(time, device, cells)| {
                let cells: Vec<_> = cells.iter().map(Option::as_ref).collect();
                answer.row(*device, *time, |columns| push(columns, &cells, &types))
            })
        };
        let ((), bytes) = self.client.ask(question(ALL, &asked), hand_over).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    /// The questions about one signal of one device.
    async fn of_one_signal(
        &mut self,
        query: &Query,
        device: u32,
        signal: SignalId,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        let of = OneSignal { table: &table, device, signal };
        let client = &mut self.client;
        let computed_by = if of.is_text() { ComputedBy::Client } else { ComputedBy::Server };
        match *query {
            Query::Nearest { predicate, direction, .. } => {
                let found = of.nearest(client, predicate, direction).await?;
                one_point(device, of.value_type(), found, computed_by, sink)
            }
            Query::Minimum { range, .. } => {
                let Some(span) = ALL.within(range) else { return Ok(NOTHING) };
                let found = of.minimum(client, span).await?;
                one_point(device, of.value_type(), found, computed_by, sink)
            }
            Query::MaxOfFirst { from_ns, limit, .. } => {
                let (Some(span), 1..) = (ALL.from(from_ns), limit) else { return Ok(NOTHING) };
                let (greatest, bytes) = of.max_of_first(client, span, limit).await?;
                let greatest = greatest.and_then(|(_, cell)| number(&cell)).map(|v| (0, Cell::Float(v)));
                one_point(device, ValueType::F64, (greatest, bytes), computed_by, sink)
            }
            _ => {
                let found = of.newest(client).await?;
                one_point(device, of.value_type(), found, ComputedBy::Server, sink)
            }
        }
    }
}

#[async_trait]
impl Reader for KairosReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        refuse_unknown_signals(query, &self.table)?;
        match query {
            Query::Range { devices, signals, range } => self.range(devices, signals, *range, sink).await,
            Query::Scan => self.scan(sink).await,
            Query::Records { device, from_ns, limit } => self.records(*device, *from_ns, *limit, sink).await,
            Query::Newest { devices, limit } => self.newest(devices, *limit, sink).await,
            Query::Nearest { device, signal, .. }
            | Query::Minimum { device, signal, .. }
            | Query::MaxOfFirst { device, signal, .. }
            | Query::NewestVisible { device, signal } => self.of_one_signal(query, *device, *signal, sink).await,
            Query::Aggregates { devices, signals, aggregates, range } => {
                let is_none = aggregates.is_empty() || *devices == Devices::Some(Vec::new());
                let Some(span) = ALL.within(*range).filter(|_| !is_none) else { return Ok(NOTHING) };
                let wish = Wish { signals, aggregates, devices, span };
                wish.answer(&mut self.client, &self.table, sink).await
            }
            Query::Count => {
                let (counts, bytes) = count(&mut self.client, &self.table, self.all_signals.len()).await?;
                counts_row(counts, bytes, ComputedBy::Server, sink)
            }
        }
    }

    async fn visible_points(&mut self) -> Result<u64, Error> {
        let (counts, _) = count(&mut self.client, &self.table, 1).await?;
        Ok(counts.points)
    }
}
