//! One connection that reads: every query is one or two of SQL, and the server's work.

mod figures;
mod own_statement;

pub(crate) use figures::count;

use super::{
    client::{Client, improper},
    sql::{Over, Select, signal_name},
};
use async_trait::async_trait;
use iotbench_backend_kit::{
    answer::{Answer, NOTHING, counts_row, types},
    ask::{Ask, Asked, Order, What},
    by_client,
    cell::{Cell, number, push, value},
    condition, consecutive, descending, each,
    filter::Filter,
    gather::{Gather, Take},
    having, percentile,
    refuse::refuse_unknown_signals,
    span::Span,
    total::{have_totals, known, no_first_of_all},
};
use iotbench_core::{
    ComputedBy, Error, Layout, Query, Reader, Reply, SignalId, Sink, StatementCall, TableSpec, TagsKept, TakeTags,
    ValueType,
};
use std::{ops::Range, sync::Arc};

/// A connection that answers queries.
pub(crate) struct QuestReader {
    client: Client,
    table: Arc<TableSpec>,
    all_signals: Vec<SignalId>,
}

impl QuestReader {
    pub(crate) fn new(client: Client, table: Arc<TableSpec>) -> Self {
        let all_signals = (0..).take(table.schema.width()).collect();
        Self { client, table, all_signals }
    }

    fn is_narrow(&self) -> bool {
        self.table.layout == Layout::Narrow
    }

    /// Datapoints in order, as many as were asked for.
    async fn points(&mut self, select: Select<'_>, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let Ask { signals, order, limit, .. } = *ask;
        let types = types(&self.table.schema, signals);
        let mut answer = Answer::new(sink, types.iter().copied());
        let mut left = limit;
        let mut take = |device: u32, time: i64, cells: &[Cell<'_>]| {
            if left == 0 {
                return Ok(());
            }
            left -= 1;
            answer.row(device, time, |columns| push(columns, cells, &types))
        };
        let rows_of_point = if self.is_narrow() { signals.len() as u64 } else { 1 };
        // In layout narrow the latest rows of several devices are cut off by their time, not by a limit.
        let is_cut_by_time = self.is_narrow() && order == Order::Newest;
        let limit = if is_cut_by_time { u64::MAX } else { limit.saturating_mul(rows_of_point) };
        let bytes = self.stream(&select.points(signals, order, limit), signals, order, &mut take).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    async fn latest(&mut self, select: Select<'_>, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let types = types(&self.table.schema, ask.signals);
        let mut answer = Answer::new(sink, types.iter().copied());
        let mut take = |device: u32, time: i64, cells: &[Cell<'_>]| {
            answer.row(device, time, |columns| push(columns, cells, &types))
        };
        let bytes = self.stream(&select.latest(ask.signals), ask.signals, ask.order, &mut take).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    async fn stream(
        &mut self,
        sql: &str,
        signals: &[SignalId],
        order: Order,
        take: &mut Take<'_>,
    ) -> Result<u64, Error> {
        if !self.is_narrow() {
            return self
                .client
                .ask(sql, |row| {
                    let [time, device, cells @ ..] = row else { return Err(improper(&"a row with too few cells")) };
                    take(device_of(device)?, time_of(time)?, cells)
                })
                .await;
        }
        let table = Arc::clone(&self.table);
        let names = signals.iter().map(|&signal| signal_name(&table, signal));
        let mut gather = Gather::new(names, order != Order::Newest);
        let bytes = self
            .client
            .ask(sql, |row| {
                let [time, device, Cell::Text(signal), value] = row else {
                    return Err(improper(&"a row of other cells than time, device, signal and value"));
                };
                gather.push((device_of(device)?, time_of(time)?, signal), value, take)
            })
            .await?;
        gather.flush(take)?;
        Ok(bytes)
    }

    async fn newest(&mut self, mut select: Select<'_>, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        if self.is_narrow()
            && let Ok(rows) = u64::try_from(i64::try_from(ask.limit).unwrap_or(i64::MAX))
                .map(|l| l.saturating_mul(ask.signals.len() as u64))
            && i64::try_from(rows).is_ok()
        {
            let mut earliest = None;
            let note = |row: &[Cell<'_>]| {
                if let [Cell::Integer(time)] = row {
                    earliest = Some(*time);
                }
                Ok(())
            };
            self.client.ask(&select.clone().reach(rows), note).await?;
            let Some(earliest) = earliest else { return Ok(NOTHING) };
            select = select.since(earliest);
        }
        self.points(select, ask, sink).await
    }

    /// Whether SQL has a question for what is asked of the answer to another: figures over the rows that meet a condition, and what of
    /// those meets one, and the rows of one device from the newest on.
    fn is_asked_whole(&self, query: &Query) -> bool {
        let of = if let Query::Having { of, .. } = query { of } else { query };
        match condition::on_rows(of, self.is_narrow()) {
            Some((_, aggregates)) => !percentile::is_among(aggregates),
            None => descending::is_of_one(query),
        }
    }

    /// The questions about one signal of one device: a row of time and value.
    async fn of_one_signal(&mut self, select: Select<'_>, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (device, signal) = (ask.device(), ask.signal);
        let is_figure = ask.what == What::Greatest;
        let sql = match ask.order {
            _ if is_figure => select.max_of_first(signal, ask.limit),
            Order::Least => select.minimum(signal),
            order => select.nearest(signal, ask.predicate, order == Order::Before),
        };
        let of_signal = self.table.schema.signals()[usize::from(signal)].value_type;
        let value_type = if is_figure { ValueType::F64 } else { of_signal };
        let mut answer = Answer::new(sink, [value_type]);
        let take = |row: &[Cell<'_>]| match row {
            [Cell::Null] => Ok(()),
            [figure] => answer.figures(device, [number(figure)?]),
            [time, cell] => answer.row(device, time_of(time)?, |columns| columns[0].push(value(cell, value_type)?)),
            _ => Err(improper(&"a row with too many cells")),
        };
        let bytes = self.client.ask(&sql, take).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    async fn count_row(&mut self, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (counts, bytes) = count(&mut self.client, &self.table).await?;
        counts_row(counts, bytes, ComputedBy::Server, sink)
    }
}

fn time_of(cell: &Cell<'_>) -> Result<i64, Error> {
    if let Cell::Integer(time) = cell {
        Ok(*time)
    } else {
        Err(improper(&format!("{cell:?} stands where a time should")))
    }
}

fn device_of(cell: &Cell<'_>) -> Result<u32, Error> {
    let number = cell.text().and_then(|text| text.parse().ok());
    number.ok_or_else(|| improper(&format!("{cell:?} stands where a device should")))
}

#[async_trait]
impl Reader for QuestReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        refuse_unknown_signals(query, &self.table)?;
        let table = Arc::clone(&self.table);
        if !self.is_asked_whole(query)
            && let Some(answer) = by_client::of_others(self, query, &table.schema, sink).await
        {
            return answer;
        }
        // The server only estimates them (approx_percentile), and none of values below 0.
        if let Some(found) = percentile::answer(self, query, sink).await {
            return found;
        }
        let all = self.all_signals.clone();
        let Some(ask) = Ask::of(query, &all).filter(Ask::wants_something) else { return Ok(NOTHING) };
        let Some(select) = Select::new(&table, ask.devices, ask.span) else { return Ok(NOTHING) };
        // SQL looks which figures meet a condition; the client, which newest datapoints do.
        if ask.having.is_some() && (ask.what == What::FirstOfEach || ask.has_percentile()) {
            return having::answer(self, query, &table.schema, sink).await.unwrap_or(Ok(NOTHING));
        }
        let select = select.having(ask.having);
        let is_filtered_here = self.is_narrow() && ask.is_of_records();
        let select = match (ask.order, ask.predicate) {
            (Order::Stretch | Order::Newest, Some(predicate)) if !is_filtered_here => {
                select.holds(ask.signal, predicate)
            }
            _ => select,
        };
        match (ask.what, ask.order) {
            (What::FirstOfEach, _) if !self.is_narrow() && table.has_device_column() => {
                self.latest(select, &ask, sink).await
            }
            (What::FirstOfEach, _) => each::last_points(self, ask.devices, table.devices, sink).await,
            (What::Consecutive(_), _) => consecutive::answer(self, query, sink).await.unwrap_or(Ok(NOTHING)),
            (What::Count, _) => self.count_row(sink).await,
            (What::Figures(aggregates), _) => {
                figures::answer(&mut self.client, &table, select, (ask.signals, aggregates, Over::All), sink).await
            }
            (What::Buckets(aggregates, width), _) => {
                let of_each = Over::Buckets(width);
                figures::answer(&mut self.client, &table, select, (ask.signals, aggregates, of_each), sink).await
            }
            (What::Top(aggregate), _) => {
                let mut answer = Answer::new(sink, [ValueType::F64]);
                let take = |row: &[Cell<'_>]| match row {
                    [device, figure] => answer.figures(device_of(device)?, [number(figure)?]),
                    _ => Err(improper(&"a row of other cells than device and figure")),
                };
                let bytes = self.client.ask(&select.top(ask.signal, aggregate, ask.limit)?, take).await?;
                answer.finish(bytes, ComputedBy::Server)
            }
            (What::TotalBuckets(aggregates, _) | What::ByTag(_, aggregates, _), _) if !have_totals(aggregates) => {
                Err(no_first_of_all())
            }
            (What::ByTag(tag, aggregates, width), _) => {
                known(table.schema.tags(), tag)?;
                let of = (ask.signals, aggregates);
                figures::by_tag(&mut self.client, &table, select, of, (tag, width), sink).await
            }
            (What::TotalBuckets(aggregates, width), _) => {
                let of_all = Over::TotalBuckets(width, ask.newest());
                figures::answer(&mut self.client, &table, select, (ask.signals, aggregates, of_all), sink).await
            }
            // Each value is a row: no condition on rows finds those beside it.
            (What::Datapoints, _) if is_filtered_here => {
                let mut filter = Filter::new(&ask, &table.schema, sink);
                let reply = self.points(select, &ask, &mut filter).await?;
                filter.finish(reply, ComputedBy::Client)
            }
            (What::Datapoints, Order::Stretch | Order::Oldest) => self.points(select, &ask, sink).await,
            (What::Datapoints, Order::Newest) => self.newest(select, &ask, sink).await,
            _ => self.of_one_signal(select, &ask, sink).await,
        }
    }

    async fn statement(&mut self, call: &StatementCall<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.answer_statement(call, sink).await
    }

    async fn tags(&mut self, devices: Range<u32>, take: &mut TakeTags<'_>) -> Result<TagsKept, Error> {
        let (table, devices) = (Arc::clone(&self.table), devices.collect::<Vec<_>>());
        if let Some(select) = Select::new(&table, Asked::Some(&devices), Span::ALL) {
            let hand_over = |row: &[Cell<'_>]| match row {
                [device, tags @ ..] => take(device_of(device)?, &tags.iter().map(Cell::text).collect::<Vec<_>>()),
                [] => Err(improper(&"a row without cells")),
            };
            self.client.ask(&select.tags(), hand_over).await?;
        }
        Ok(TagsKept::WithDatapoints)
    }
}
