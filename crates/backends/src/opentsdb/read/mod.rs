//! One connection that reads: every query in the server's JSON, and in the client where that cannot.

mod count;
mod hours;
mod signal;

pub(crate) use count::count;

use super::{
    client::Client,
    document::Document,
    question::{ALL, Asked},
};
use async_trait::async_trait;
use hours::{Hours, MOST_VALUES};
use iotbench_backend_kit::{
    answer::{Answer, NOTHING, counts_row, types},
    metrics::{Cell, Figures, Span, number, one_point, points, push},
    refuse::refuse_unknown_signals,
};
use iotbench_core::{
    Aggregate, ComputedBy, Devices, Error, Query, Reader, Reply, SignalId, Sink, TableSpec, TimeRange, ValueType,
};
use signal::OneSignal;
use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

/// A connection that answers queries.
pub(crate) struct OpenTsdbReader {
    client: Client,
    table: Arc<TableSpec>,
    all_signals: Vec<SignalId>,
    /// The newest time that was seen of a device and signal: what is newer is asked for from there on.
    newest: BTreeMap<(u32, SignalId), i64>,
}

impl OpenTsdbReader {
    pub(crate) fn new(client: Client, table: Arc<TableSpec>) -> Self {
        let all_signals = (0..).take(table.schema.width()).collect();
        Self { client, table, all_signals, newest: BTreeMap::new() }
    }

    /// Datapoints of a span by device and time, at most `limit`, of which those are taken away that came. Gives the bytes of
    /// the answer.
    async fn points(
        &mut self,
        (span, devices): (Span, &Devices),
        signals: &[SignalId],
        limit: &mut u64,
        answer: &mut Answer<'_>,
    ) -> Result<u64, Error> {
        let (asked, types) = (asked(&self.table, signals), types(&self.table.schema, signals));
        let hand_over = |document: &Document<'_>| {
            points(signals.len(), document.series(), &mut |device, time, cells| {
                if *limit == 0 {
                    return Ok(());
                }
                *limit -= 1;
                answer.row(device, time, |columns| push(columns, cells, &types))
            })
        };
        Ok(self.client.ask(span, devices, &asked, hand_over).await?.1)
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
        let (mut answer, mut limit) = (Answer::new(sink, types(&self.table.schema, signals)), u64::MAX);
        let bytes = self.points((span, devices), signals, &mut limit, &mut answer).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    /// At most `limit` datapoints of a span, in pieces of bounded length.
    async fn in_pieces(
        &mut self,
        devices: &Devices,
        span: Span,
        mut limit: u64,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let signals = self.all_signals.clone();
        let hours = Hours::ask(&mut self.client, &self.table, devices, &signals, span).await?;
        let span = if limit == u64::MAX { span } else { hours.first(span, limit) };
        let (mut answer, mut bytes) = (Answer::new(sink, types(&self.table.schema, &signals)), hours.bytes);
        for piece in hours.pieces(span, MOST_VALUES) {
            bytes += self.points((piece.span, &piece.devices), &signals, &mut limit, &mut answer).await?;
        }
        answer.finish(bytes, ComputedBy::Server)
    }

    /// Chosen among all of the hours that hold them.
    async fn newest(&mut self, devices: &Devices, limit: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
        if limit == 0 || *devices == Devices::Some(Vec::new()) {
            return Ok(NOTHING);
        }
        let signals = self.all_signals.clone();
        let (asked, types) = (asked(&self.table, &signals), types(&self.table.schema, &signals));
        let hours = Hours::ask(&mut self.client, &self.table, devices, &signals, ALL).await?;
        let mut answer = Answer::new(sink, types.iter().copied());
        let hand_over = |document: &Document<'_>| {
            let mut rows: Vec<(i64, u32, Vec<Option<Cell<'static>>>)> = Vec::new();
            points(signals.len(), document.series(), &mut |device, time, cells| {
                let cells = cells.iter().map(|cell| cell.map(|cell| cell.clone().into_owned()));
                rows.push((time, device, cells.collect()));
                Ok(())
            })?;
            rows.sort_by_key(|&(time, ..)| Reverse(time));
            rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            rows.iter().try_for_each(|(time, device, cells)| {
                let cells: Vec<_> = cells.iter().map(Option::as_ref).collect();
                answer.row(*device, *time, |columns| push(columns, &cells, &types))
            })
        };
        let ((), bytes) = self.client.ask(hours.newest(ALL, limit), devices, &asked, hand_over).await?;
        answer.finish(hours.bytes + bytes, ComputedBy::Client)
    }

    /// Each figure of each signal is a question of its own.
    async fn figures(
        &mut self,
        (devices, span): (&Devices, Span),
        signals: &[SignalId],
        aggregates: &[Aggregate],
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        // The server answers once what is asked twice.
        let mut different: Vec<Aggregate> = Vec::new();
        for &aggregate in aggregates {
            if !different.contains(&aggregate) {
                different.push(aggregate);
            }
        }
        let table = &self.table;
        let of_all = |&aggregate: &Aggregate| signals.iter().map(move |&s| Asked::of(table, s).figure(aggregate));
        let asked: Vec<_> = different.iter().flat_map(of_all).collect();
        let width = aggregates.len() * signals.len();
        let take = |document: &Document<'_>| {
            let mut figures = Figures::default();
            for series in document.series() {
                let figure = series.values.first().and_then(|value| number(&value.cell));
                let (aggregate, signal) = (different[series.place / signals.len()], series.place % signals.len());
                for (row, _) in aggregates.iter().enumerate().filter(|(_, asked)| **asked == aggregate) {
                    figures.set(series.device, row * signals.len() + signal, width, figure);
                }
            }
            Ok(figures)
        };
        let (figures, bytes) = self.client.ask(span, devices, &asked, take).await?;
        figures.answer(signals.len(), bytes, ComputedBy::Server, sink)
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
        match *query {
            Query::Nearest { predicate, direction, .. } => {
                let found = of.nearest(client, predicate, direction).await?;
                one_point(device, of.value_type(), found, ComputedBy::Client, sink)
            }
            Query::Minimum { range, .. } => {
                let Some(span) = ALL.within(range) else { return Ok(NOTHING) };
                let found = of.minimum(client, span).await?;
                one_point(device, of.value_type(), found, ComputedBy::Client, sink)
            }
            Query::MaxOfFirst { from_ns, limit, .. } => {
                let (Some(span), 1..) = (ALL.from(from_ns), limit) else { return Ok(NOTHING) };
                let (greatest, bytes) = of.max_of_first(client, span, limit).await?;
                let greatest = greatest.map(|greatest| (0, Cell::Float(greatest)));
                one_point(device, ValueType::F64, (greatest, bytes), ComputedBy::Client, sink)
            }
            _ => {
                let known = self.newest.remove(&(device, signal));
                let found = of.newest(client, known).await?;
                if let Some((time, _)) = found.0 {
                    self.newest.insert((device, signal), time);
                }
                one_point(device, of.value_type(), found, ComputedBy::Client, sink)
            }
        }
    }
}

/// The questions about all values of some signals.
fn asked(table: &TableSpec, signals: &[SignalId]) -> Vec<Asked> {
    signals.iter().map(|&signal| Asked::of(table, signal)).collect()
}

#[async_trait]
impl Reader for OpenTsdbReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        refuse_unknown_signals(query, &self.table)?;
        match query {
            Query::Range { devices, signals, range } => self.range(devices, signals, *range, sink).await,
            Query::Scan => self.in_pieces(&Devices::All, ALL, u64::MAX, sink).await,
            Query::Records { device, from_ns, limit } => {
                let (Some(span), 1..) = (ALL.from(*from_ns), *limit) else { return Ok(NOTHING) };
                self.in_pieces(&Devices::Some(vec![*device]), span, *limit, sink).await
            }
            Query::Newest { devices, limit } => self.newest(devices, *limit, sink).await,
            Query::Nearest { device, signal, .. }
            | Query::Minimum { device, signal, .. }
            | Query::MaxOfFirst { device, signal, .. }
            | Query::NewestVisible { device, signal } => self.of_one_signal(query, *device, *signal, sink).await,
            Query::Aggregates { devices, signals, aggregates, range } => {
                let is_none = aggregates.is_empty() || *devices == Devices::Some(Vec::new());
                let Some(span) = ALL.within(*range).filter(|_| !is_none) else { return Ok(NOTHING) };
                self.figures((devices, span), signals, aggregates, sink).await
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
