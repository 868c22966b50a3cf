//! One connection that reads. Figures and counts are the server's work, by MetricsQL; datapoints are put together from
//! exported series, and what asks for one of them by its value is searched for in the client, stretch by stretch.

mod buckets;
mod figures;
mod gather;
mod own_statement;
mod walk;

pub(crate) use figures::count;
use figures::{Wish, count_first_signal};

use super::{
    client::{Client, improper},
    series::{ALL, EVER, MAX_LISTED, Own},
};
use async_trait::async_trait;
use buckets::Buckets;
use iotbench_backend_kit::{
    answer::{Answer, NOTHING, counts_row, types},
    ask::{Ask, Asked, Order, What},
    by_client, each,
    filter::Filter,
    fold::Fold,
    line_protocol::DEVICE,
    millis::{Millis, ns},
    refuse::refuse_unknown_signals,
};
use iotbench_core::{
    ComputedBy, Error, Query, Reader, Reply, ReplyColumn, SignalId, Sink, StatementCall, TableSpec, TagsKept, TakeTags,
    Value, ValueType,
};
use std::{ops::Range, sync::Arc};
use walk::{Go, walk};

/// Series whose labels are asked for at once: below what a server tells of as it is set when nobody says otherwise.
const SERIES_AT_ONCE: usize = 10_000;

/// A connection that answers queries.
pub(crate) struct VictoriaReader {
    client: Client,
    own: Own,
    table: Arc<TableSpec>,
    all_signals: Arc<[SignalId]>,
}

impl VictoriaReader {
    pub(crate) fn new(client: Client, own: Own, table: Arc<TableSpec>) -> Self {
        let all_signals = (0..).take(table.schema.width()).collect();
        Self { client, own, table, all_signals }
    }

    /// Datapoints in order, as many as are wanted.
    async fn points(
        &mut self,
        ask: &Ask<'_>,
        span: Millis,
        computed_by: ComputedBy,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let types = types(&self.table.schema, ask.signals);
        let mut answer = Answer::new(sink, types.iter().copied());
        let mut left = ask.limit;
        let bytes = walk(&mut self.client, &self.own, &self.table, (ask, span), &mut |device, ms, values| {
            left -= 1;
            answer.row(device, ns(ms), |columns| push_row(columns, &types, values))?;
            Ok(if left == 0 { Go::Stop } else { Go::On })
        })
        .await?;
        answer.finish(bytes, computed_by)
    }

    /// What meets a condition, of all that are exported.
    async fn filter(&mut self, ask: &Ask<'_>, span: Millis, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        let mut filter = Filter::new(ask, &table.schema, sink);
        let reply = self.points(&ask.of_any_value(), span, ComputedBy::Client, &mut filter).await?;
        filter.finish(reply, ComputedBy::Client)
    }

    /// The questions about one signal of one device: of its datapoints one is chosen, or none.
    async fn of_one_signal(&mut self, ask: &Ask<'_>, span: Millis, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (mut seen, mut found) = (0, None);
        let bytes = walk(&mut self.client, &self.own, &self.table, (ask, span), &mut |_, ms, values| {
            let Some(value) = values[0] else { return Ok(Go::On) };
            seen += 1;
            Ok(look(ask, (ms, value), seen, &mut found))
        })
        .await?;
        let is_figure = ask.what == What::Greatest;
        let of_signal = self.table.schema.signals()[usize::from(ask.signal)].value_type;
        let value_type = if is_figure { ValueType::F64 } else { of_signal };
        let mut answer = Answer::new(sink, [value_type]);
        if let Some((ms, value)) = found {
            let time = if is_figure { 0 } else { ns(ms) };
            answer.row(ask.device(), time, |columns| push_row(columns, &[value_type], &[Some(value)]))?;
        }
        let is_newest = ask.order == Order::Before && ask.predicate.is_none();
        answer.finish(bytes, if is_newest { ComputedBy::Server } else { ComputedBy::Client })
    }

    async fn count_row(&mut self, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (counts, bytes) = count(&mut self.client, &self.own).await?;
        counts_row(counts, bytes, ComputedBy::Server, sink)
    }
}

/// Looks at the `seen`-th datapoint of one signal, and keeps it where none before is rather the one wanted.
fn look(ask: &Ask<'_>, (ms, value): (i64, f64), seen: u64, found: &mut Option<(i64, f64)>) -> Go {
    let is_kept = match (ask.what, ask.order) {
        (What::Greatest, _) => found.is_none_or(|(_, greatest)| value > greatest),
        (_, Order::Least) => found.is_none_or(|(_, least)| value < least),
        _ => ask.predicate.is_none_or(|predicate| predicate.holds(value)),
    };
    if is_kept {
        *found = Some((ms, value));
    }
    let is_enough = match (ask.what, ask.order) {
        (What::Greatest, _) => seen == ask.limit,
        (_, Order::Least) => false,
        _ => is_kept,
    };
    if is_enough { Go::Stop } else { Go::On }
}

/// Pushes a value to each column, in the column's own type.
fn push_row(columns: &mut [ReplyColumn], types: &[ValueType], values: &[Option<f64>]) -> Result<(), Error> {
    for (column, (value_type, value)) in columns.iter_mut().zip(types.iter().zip(values)) {
        column.push(value.map(|value| typed(value, *value_type)).transpose()?)?;
    }
    Ok(())
}

fn typed(value: f64, value_type: ValueType) -> Result<Value<'static>, Error> {
    let unexpected = || improper(&format!("a series of {value_type:?} holds {value}"));
    #[expect(clippy::cast_possible_truncation, reason = "whole numbers below 2^53, and an f32 stored as an f64")]
    Ok(match value_type {
        ValueType::F32 => Value::F32(value as f32),
        ValueType::F64 => Value::F64(value),
        ValueType::I64 if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0 => Value::I64(value as i64),
        ValueType::U16 if value.fract() == 0.0 => Value::U16(u16::try_from(value as i64).map_err(|_| unexpected())?),
        _ => return Err(unexpected()),
    })
}

#[async_trait]
impl Reader for VictoriaReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        if !matches!(query, Query::Aggregates { .. } | Query::Buckets { .. })
            && let Some(answer) = by_client::answer(self, query, &table.schema, sink).await
        {
            return answer;
        }
        refuse_unknown_signals(query, &self.table)?;
        let all = Arc::clone(&self.all_signals);
        let ask = Ask::of(query, &all).filter(|ask| ask.limit > 0);
        let span = ask.and_then(|ask| ALL.within(ask.span));
        let (Some(ask), Some(span)) = (ask, span) else { return Ok(NOTHING) };
        match (ask.what, ask.order) {
            (What::FirstOfEach, _) => {
                let of_table = self.table.devices;
                each::last_points(self, ask.devices, of_table, sink).await
            }
            (What::Count, _) => self.count_row(sink).await,
            (What::Figures(aggregates), _) => {
                Wish { ask, aggregates, span }.answer(&mut self.client, &self.own, &self.table, sink).await
            }
            (What::Buckets(aggregates, width), _) => {
                let wish = Wish { ask, aggregates, span };
                if let Some(buckets) = Buckets::new(span, width) {
                    return wish.answer_buckets(buckets, &mut self.client, &self.own, &self.table, sink).await;
                }
                let mut fold = Fold::new(&ask, sink);
                let reply = self.points(&ask.datapoints(), span, ComputedBy::Client, &mut fold).await?;
                fold.finish(reply)
            }
            (What::Datapoints, Order::Stretch) if ask.predicate.is_some() => self.filter(&ask, span, sink).await,
            (What::Datapoints, Order::Stretch | Order::Oldest) => {
                self.points(&ask, span, ComputedBy::Server, sink).await
            }
            (What::Datapoints, Order::Newest) => self.points(&ask, span, ComputedBy::Client, sink).await,
            _ => self.of_one_signal(&ask, span, sink).await,
        }
    }

    async fn statement(&mut self, call: &StatementCall<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.answer_statement(call, sink).await
    }

    /// By the labels of the series, a few devices at a time: the server tells those of a limited number.
    async fn tags(&mut self, devices: Range<u32>, take: &mut TakeTags<'_>) -> Result<TagsKept, Error> {
        let (table, all) = (Arc::clone(&self.table), Arc::clone(&self.all_signals));
        let devices: Vec<_> = devices.collect();
        for some in devices.chunks((SERIES_AT_ONCE / all.len().max(1)).clamp(1, MAX_LISTED)) {
            let Some(selector) = self.own.of(&table, Asked::Some(some), &all) else { continue };
            for labels in self.client.series(&selector, EVER).await? {
                let label = |name: &str| labels.get(name).map(String::as_str).filter(|value| !value.is_empty());
                let device = match label(DEVICE) {
                    None => 0,
                    Some(text) => text.parse().map_err(|_| improper(&format!("the label {DEVICE} is {text:?}")))?,
                };
                let values: Vec<_> = table.schema.tags().as_slice().iter().map(|tag| label(&tag.name)).collect();
                take(device, &values)?;
            }
        }
        Ok(TagsKept::WithDatapoints)
    }

    async fn visible_points(&mut self) -> Result<u64, Error> {
        count_first_signal(&mut self.client, &self.own, &self.table).await
    }
}
