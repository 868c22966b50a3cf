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
    ask::{Ask, Asked::One, Order, What},
    by_client, each,
    filter::Filter,
    fold::Fold,
    metrics::{Cell, DEVICE, Millis, Newest, device_number, number, one_point, push},
    refuse::refuse_unknown_signals,
};
use iotbench_core::{
    ComputedBy, Error, Query, Reader, Reply, SignalId, Sink, TableSpec, Tag, TagsKept, TakeTags, ValueType,
};
use points::points;
use signal::OneSignal;
use std::{collections::BTreeSet, ops::Range, sync::Arc};

/// A connection that answers queries.
pub(crate) struct KairosReader {
    client: Client,
    table: Arc<TableSpec>,
    all_signals: Arc<[SignalId]>,
}

impl KairosReader {
    pub(crate) fn new(client: Client, table: Arc<TableSpec>) -> Self {
        let all_signals = (0..).take(table.schema.width()).collect();
        Self { client, table, all_signals }
    }

    /// What is asked about the signals, all values of each or the first so many.
    fn asked(&self, ask: &Ask<'_>) -> Vec<Asked> {
        let tags = self.table.schema.tags();
        let of = |&signal: &SignalId| Asked::new(&self.table, signal).of(ask.devices, tags).limit(ask.limit);
        ask.signals.iter().map(of).collect()
    }

    /// Datapoints by device and time: each signal has its first values, and together they hold the first datapoints. Gives the
    /// bytes of the answer.
    async fn points(&mut self, ask: &Ask<'_>, span: Millis, answer: &mut Answer<'_>) -> Result<u64, Error> {
        let (types, mut left) = (types(&self.table.schema, ask.signals), ask.limit);
        let hand_over = |document: &Document<'_>| {
            points(document, &mut |device, time, cells| {
                if left == 0 {
                    return Ok(());
                }
                left -= 1;
                answer.row(device, time, |columns| push(columns, cells, &types))
            })
        };
        let ((), bytes) = self.client.ask(question(span, &self.asked(ask)), hand_over).await?;
        Ok(bytes)
    }

    async fn stretch(&mut self, ask: &Ask<'_>, span: Millis, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, types(&self.table.schema, ask.signals));
        let bytes = self.points(ask, span, &mut answer).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    fn has_text(&self, signals: &[SignalId]) -> bool {
        types(&self.table.schema, signals).contains(&ValueType::Text)
    }

    /// What meets a condition, of all.
    async fn filter(&mut self, ask: &Ask<'_>, span: Millis, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        let mut filter = Filter::new(ask, &table.schema, sink);
        let reply = self.stretch(ask, span, &mut filter).await?;
        filter.finish(reply, ComputedBy::Client)
    }

    /// Figures that we work out of the datapoints.
    async fn folded(&mut self, ask: &Ask<'_>, span: Millis, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut fold = Fold::new(ask, sink);
        let reply = self.stretch(&ask.datapoints(), span, &mut fold).await?;
        fold.finish(reply)
    }

    /// Everything, one device after the other: an answer is held whole.
    async fn scan(&mut self, ask: &Ask<'_>, span: Millis, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (tags, mut bytes) = self.client.ask_tag(question(span, &self.asked(ask)), DEVICE).await?;
        let devices: BTreeSet<u32> = tags.iter().map(|tag| device_number(tag)).collect::<Result<_, _>>()?;
        let mut answer = Answer::new(sink, types(&self.table.schema, ask.signals));
        for device in devices {
            bytes += self.points(&Ask { devices: One(device), ..*ask }, span, &mut answer).await?;
        }
        answer.finish(bytes, ComputedBy::Server)
    }

    /// The newest of each device hold the newest of all.
    async fn newest(&mut self, ask: &Ask<'_>, span: Millis, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let types = types(&self.table.schema, ask.signals);
        let asked: Vec<_> = self.asked(ask).into_iter().map(Asked::latest_first).collect();
        let mut answer = Answer::new(sink, types.iter().copied());
        let hand_over = |document: &Document<'_>| {
            let mut newest = Newest::default();
            points(document, &mut |device, time, cells| {
                newest.take(device, time, cells);
                Ok(())
            })?;
            newest.answer(ask.limit, &types, &mut answer)
        };
        let ((), bytes) = self.client.ask(question(span, &asked), hand_over).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    /// The questions about one signal of one device.
    async fn of_one_signal(&mut self, ask: Ask<'_>, span: Millis, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        let of = OneSignal { table: &table, ask, span };
        let client = &mut self.client;
        let computed_by = if of.is_text() { ComputedBy::Client } else { ComputedBy::Server };
        let (found, value_type, computed_by) = match (ask.what, ask.order, ask.predicate) {
            (What::Greatest, ..) => {
                let (greatest, bytes) = of.greatest(client).await?;
                let greatest = greatest.and_then(|(_, cell)| number(&cell)).map(|v| (0, Cell::Float(v)));
                ((greatest, bytes), ValueType::F64, computed_by)
            }
            (_, Order::Least, _) => (of.minimum(client).await?, of.value_type(), computed_by),
            (.., Some(predicate)) => (of.nearest(client, predicate).await?, of.value_type(), computed_by),
            _ => (of.newest(client).await?, of.value_type(), ComputedBy::Server),
        };
        one_point(ask.device(), value_type, found, computed_by, sink)
    }
}

#[async_trait]
impl Reader for KairosReader {
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
            // Texts are read as numbers by us.
            (What::Figures(_), _) if self.has_text(ask.signals) => self.folded(&ask, span, sink).await,
            (What::Figures(aggregates), _) => {
                Wish { ask, aggregates, span }.answer(&mut self.client, &self.table, sink).await
            }
            (What::Buckets(..), _) => self.folded(&ask, span, sink).await,
            (What::Datapoints, Order::Stretch) if ask.predicate.is_some() => self.filter(&ask, span, sink).await,
            _ if matches!(query, Query::Scan) => self.scan(&ask, span, sink).await,
            (What::Datapoints, Order::Stretch | Order::Oldest) => self.stretch(&ask, span, sink).await,
            (What::Datapoints, Order::Newest) => self.newest(&ask, span, sink).await,
            _ => self.of_one_signal(ask, span, sink).await,
        }
    }

    /// The server tells which values each tag of some series has, and not which go together: it is asked device by device.
    async fn tags(&mut self, devices: Range<u32>, take: &mut TakeTags<'_>) -> Result<TagsKept, Error> {
        let table = Arc::clone(&self.table);
        let tags = table.schema.tags();
        for device in devices.start..devices.end.min(table.devices) {
            let of = |&signal: &SignalId| Asked::new(&table, signal).of(One(device), tags);
            let asked: Vec<_> = self.all_signals.iter().map(of).collect();
            let metrics = self.client.ask_tags(question(ALL, &asked)).await?;
            for found in metrics.iter().filter(|found| found.contains_key(DEVICE)) {
                let values = |tag: &Tag| found.get(&tag.name).map_or(&[][..], Vec::as_slice);
                let rows = tags.as_slice().iter().map(|tag| values(tag).len()).max().unwrap_or(0).max(1);
                for row in 0..rows {
                    // A tag with one value has it in each series.
                    let value = |tag: &Tag| values(tag).get(row).or(values(tag).first()).map(String::as_str);
                    take(device, &tags.as_slice().iter().map(value).collect::<Vec<_>>())?;
                }
            }
        }
        Ok(TagsKept::WithDatapoints)
    }

    async fn visible_points(&mut self) -> Result<u64, Error> {
        let (counts, _) = count(&mut self.client, &self.table, 1).await?;
        Ok(counts.points)
    }
}
