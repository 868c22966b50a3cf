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
use hours::{Hours, MAX_VALUES};
use iotbench_backend_kit::{
    answer::{Answer, NOTHING, counts_row, types},
    ask::{Ask, Order, What},
    by_client, each,
    figures::Collected,
    filter::Filter,
    fold::Fold,
    metrics::{Cell, Millis, Newest, number, one_point, points, push},
    refuse::refuse_unknown_signals,
};
use iotbench_core::{Aggregate, ComputedBy, Error, Query, Reader, Reply, SignalId, Sink, TableSpec, ValueType};
use signal::OneSignal;
use std::{collections::BTreeMap, sync::Arc};

/// A connection that answers queries.
pub(crate) struct OpenTsdbReader {
    client: Client,
    table: Arc<TableSpec>,
    all_signals: Arc<[SignalId]>,
    /// The newest time that was seen of a device and signal: what is newer is asked for from there on.
    newest: BTreeMap<(u32, SignalId), i64>,
}

impl OpenTsdbReader {
    pub(crate) fn new(client: Client, table: Arc<TableSpec>) -> Self {
        let all_signals = (0..).take(table.schema.width()).collect();
        Self { client, table, all_signals, newest: BTreeMap::new() }
    }

    /// Datapoints of a span by device and time, at most so many as are left, of which those are taken away that came. Gives the
    /// bytes of the answer.
    async fn points(
        &mut self,
        (span, devices): (Millis, Option<&[u32]>),
        signals: &[SignalId],
        left: &mut u64,
        answer: &mut Answer<'_>,
    ) -> Result<u64, Error> {
        let (asked, types) = (asked(&self.table, signals), types(&self.table.schema, signals));
        let hand_over = |document: &Document<'_>| {
            points(signals.len(), document.series(), &mut |device, time, cells| {
                if *left == 0 {
                    return Ok(());
                }
                *left -= 1;
                answer.row(device, time, |columns| push(columns, cells, &types))
            })
        };
        Ok(self.client.ask(span, devices, &asked, hand_over).await?.1)
    }

    async fn stretch(&mut self, ask: &Ask<'_>, span: Millis, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (mut answer, mut left) = (Answer::new(sink, types(&self.table.schema, ask.signals)), ask.limit);
        let bytes = self.points((span, ask.devices.list()), ask.signals, &mut left, &mut answer).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    /// What meets a condition, of all.
    async fn filter(&mut self, ask: &Ask<'_>, span: Millis, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        let mut filter = Filter::new(ask, &table.schema, sink);
        let reply = self.stretch(ask, span, &mut filter).await?;
        filter.finish(reply, ComputedBy::Client)
    }

    /// The same in pieces of bounded length.
    async fn in_pieces(&mut self, ask: &Ask<'_>, span: Millis, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let hours = Hours::ask(&mut self.client, &self.table, ask, span).await?;
        let span = if ask.limit == u64::MAX { span } else { hours.first(span, ask.limit) };
        let (mut answer, mut left) = (Answer::new(sink, types(&self.table.schema, ask.signals)), ask.limit);
        let mut bytes = hours.bytes;
        for piece in hours.pieces(span, MAX_VALUES) {
            bytes += self.points((piece.span, Some(&piece.devices)), ask.signals, &mut left, &mut answer).await?;
        }
        answer.finish(bytes, ComputedBy::Server)
    }

    /// Chosen among all of the hours that hold them.
    async fn newest(&mut self, ask: &Ask<'_>, span: Millis, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let Ask { signals, limit, .. } = *ask;
        let (asked, types) = (asked(&self.table, signals), types(&self.table.schema, signals));
        let hours = Hours::ask(&mut self.client, &self.table, ask, span).await?;
        let mut answer = Answer::new(sink, types.iter().copied());
        let hand_over = |document: &Document<'_>| {
            let mut newest = Newest::default();
            points(signals.len(), document.series(), &mut |device, time, cells| {
                newest.take(device, time, cells);
                Ok(())
            })?;
            newest.answer(limit, &types, &mut answer)
        };
        let devices = ask.devices.list();
        let ((), bytes) = self.client.ask(hours.newest(span, limit), devices, &asked, hand_over).await?;
        answer.finish(hours.bytes + bytes, ComputedBy::Client)
    }

    /// Each figure of each signal is a question of its own.
    async fn figures(
        &mut self,
        ask: &Ask<'_>,
        span: Millis,
        aggregates: &[Aggregate],
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let signals = ask.signals;
        // The server answers once what is asked twice.
        let mut different: Vec<Aggregate> = Vec::new();
        for &aggregate in aggregates {
            if !different.contains(&aggregate) {
                different.push(aggregate);
            }
        }
        let table = &self.table;
        let of_all = |&aggregate: &Aggregate| signals.iter().map(move |&s| Asked::of(table, s).figure(aggregate));
        let asked: Vec<_> = different.iter().flat_map(of_all).collect::<Result<_, _>>()?;
        let width = aggregates.len() * signals.len();
        let take = |document: &Document<'_>| {
            let mut figures = Collected::default();
            for series in document.series() {
                let figure = series.values.first().and_then(|value| number(&value.cell));
                let (aggregate, signal) = (different[series.place / signals.len()], series.place % signals.len());
                for (row, _) in aggregates.iter().enumerate().filter(|(_, asked)| **asked == aggregate) {
                    figures.set((series.device, 0), row * signals.len() + signal, width, figure);
                }
            }
            Ok(figures)
        };
        let (figures, bytes) = self.client.ask(span, ask.devices.list(), &asked, take).await?;
        figures.answer(signals.len(), bytes, ComputedBy::Server, sink)
    }

    /// The questions about one signal of one device.
    async fn of_one_signal(&mut self, ask: Ask<'_>, span: Millis, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        let of = OneSignal { table: &table, ask, span };
        let client = &mut self.client;
        let (found, value_type) = match (ask.what, ask.order, ask.predicate) {
            (What::Greatest, ..) => {
                let (greatest, bytes) = of.greatest(client).await?;
                ((greatest.map(|greatest| (0, Cell::Float(greatest))), bytes), ValueType::F64)
            }
            (_, Order::Least, _) => (of.minimum(client).await?, of.value_type()),
            (.., Some(predicate)) => (of.nearest(client, predicate).await?, of.value_type()),
            _ => {
                let seen = (ask.device(), ask.signal);
                let found = of.newest(client, self.newest.remove(&seen)).await?;
                if let Some((time, _)) = found.0 {
                    self.newest.insert(seen, time);
                }
                (found, of.value_type())
            }
        };
        one_point(ask.device(), value_type, found, ComputedBy::Client, sink)
    }
}

/// The questions about all values of some signals.
fn asked(table: &TableSpec, signals: &[SignalId]) -> Vec<Asked> {
    signals.iter().map(|&signal| Asked::of(table, signal)).collect()
}

#[async_trait]
impl Reader for OpenTsdbReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        if let Some(answer) = by_client::answer(self, query, &table.schema, sink).await {
            return answer;
        }
        refuse_unknown_signals(query, &self.table)?;
        let all = Arc::clone(&self.all_signals);
        let ask = Ask::of(query, &all).filter(Ask::wants_something);
        let span = ask.and_then(|ask| ALL.within(ask.span));
        let (Some(ask), Some(span)) = (ask, span) else { return Ok(NOTHING) };
        match (ask.what, ask.order) {
            (What::FirstOfEach, _) => {
                let of_table = self.table.devices;
                each::last_points(self, ask.devices, of_table, sink).await
            }
            (What::Count, _) => {
                let (counts, bytes) = count(&mut self.client, &self.table, all.len()).await?;
                counts_row(counts, bytes, ComputedBy::Server, sink)
            }
            (What::Figures(aggregates), _) => self.figures(&ask, span, aggregates, sink).await,
            (What::Buckets(..), _) => {
                let mut fold = Fold::new(&ask, sink);
                let reply = self.stretch(&ask.datapoints(), span, &mut fold).await?;
                fold.finish(reply)
            }
            (What::Datapoints, Order::Stretch) if ask.predicate.is_some() => self.filter(&ask, span, sink).await,
            _ if matches!(query, Query::Scan) => self.in_pieces(&ask, span, sink).await,
            (What::Datapoints, Order::Stretch) => self.stretch(&ask, span, sink).await,
            (What::Datapoints, Order::Oldest) => self.in_pieces(&ask, span, sink).await,
            (What::Datapoints, Order::Newest) => self.newest(&ask, span, sink).await,
            _ => self.of_one_signal(ask, span, sink).await,
        }
    }

    async fn visible_points(&mut self) -> Result<u64, Error> {
        let (counts, _) = count(&mut self.client, &self.table, 1).await?;
        Ok(counts.points)
    }
}
