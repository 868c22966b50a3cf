//! One connection that reads: every query in InfluxQL, and in the client where that cannot.

mod count;
mod decode;
mod figures;
mod own_statement;
mod points;
mod signal;

pub(crate) use count::count;

use super::{
    chunk::Series,
    client::Client,
    influxql::{ALL, Select, devices_condition, quoted},
};
use async_trait::async_trait;
use decode::{device_of, time};
use figures::Wish;
use iotbench_backend_kit::{
    answer::{Answer, NOTHING, counts_row, types},
    ask::{Ask, Asked, Order, What},
    by_client,
    cell::{Cell, value},
    condition, descending, each,
    filter::Filter,
    fold::Fold,
    grouped_by::GroupedBy,
    line_protocol::{DEVICE, VALUE},
    refuse::refuse_unknown_signals,
    span::Span,
    total,
};
use iotbench_core::{
    Aggregate, ComputedBy, Error, Layout, Query, Reader, Reply, SignalId, Sink, StatementCall, TableSpec, TagsKept,
    TakeTags, ValueType,
};
use points::{Wanted, rows_of, stream};
use signal::OneSignal;
use std::{ops::Range, sync::Arc};

/// A connection that answers queries.
pub(crate) struct InfluxReader {
    client: Client,
    table: Arc<TableSpec>,
    all_signals: Arc<[SignalId]>,
}

impl InfluxReader {
    pub(crate) fn new(client: Client, table: Arc<TableSpec>) -> Self {
        let all_signals = (0..).take(table.schema.width()).collect();
        Self { client, table, all_signals }
    }

    /// Datapoints in order, at most `limit`.
    async fn points(&mut self, wanted: Wanted<'_>, limit: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let types = types(&self.table.schema, wanted.ask.signals);
        let mut answer = Answer::new(sink, types.iter().copied());
        let mut left = limit;
        let bytes = stream(&mut self.client, &self.table, &wanted, &mut |device, time, cells| {
            if left == 0 {
                return Ok(());
            }
            left -= 1;
            // Written out and not by the kit: the compiler inlines it into the loop over many rows.
            answer.row(device, time, |columns| {
                let cells = cells.iter().zip(&types);
                columns
                    .iter_mut()
                    .zip(cells)
                    .try_for_each(|(column, (cell, &value_type))| column.push(value(cell, value_type)?))
            })
        })
        .await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    /// What meets a condition, of all.
    async fn filter(&mut self, wanted: Wanted<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        let mut filter = Filter::new(&wanted.ask, &table.schema, sink);
        let all = Wanted { ask: wanted.ask.of_any_value(), ..wanted };
        let reply = self.points(all, u64::MAX, &mut filter).await?;
        filter.finish(reply, ComputedBy::Client)
    }

    /// Whether no condition on rows finds the datapoints: no text is compared as a number, and in layout narrow each value is a
    /// row.
    fn is_filtered_here(&self, ask: &Ask<'_>) -> bool {
        let is_narrow = self.table.layout == Layout::Narrow;
        ask.predicate.is_some() && (self.has_text(&[ask.signal]) || is_narrow && ask.is_of_records())
    }

    /// Whether InfluxQL has a question for it; else the client makes the answer of others. It does not cast texts to numbers, and in layout
    /// narrow a limit is one of each signal's buckets.
    fn is_native(&self, query: &Query) -> bool {
        let (signals, aggregates, newest) = match query {
            Query::TotalBuckets { signals, aggregates, newest, .. } => (signals, aggregates, *newest),
            Query::TagFigures { signals, aggregates, .. } => (signals, aggregates, None),
            Query::Where { signal, .. } => {
                let of = condition::on_rows(query, self.table.layout == Layout::Narrow);
                let has_text = |signals: &[SignalId]| self.has_text(signals) || self.has_text(&[*signal]);
                let has_figures = |aggregates: &[Aggregate]| total::have_totals(aggregates);
                return of.is_some_and(|(signals, aggregates)| !has_text(signals) && has_figures(aggregates));
            }
            Query::Descending { of } => {
                let is_filtered_here = Ask::of(of, &self.all_signals).is_none_or(|ask| self.is_filtered_here(&ask));
                return descending::is_of_one(query) && !is_filtered_here;
            }
            Query::Having { .. }
            | Query::Filled { .. }
            | Query::Rollup { .. }
            | Query::TopDevices { .. }
            | Query::Consecutive { .. } => return false,
            _ => return true,
        };
        let is_limited = newest.is_some() && self.table.layout == Layout::Narrow;
        !is_limited && !self.has_text(signals) && total::have_totals(aggregates)
    }

    fn has_text(&self, signals: &[SignalId]) -> bool {
        types(&self.table.schema, signals).contains(&ValueType::Text)
    }

    async fn newest(&mut self, wanted: Wanted<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let is_one = matches!(wanted.ask.devices, Asked::One(_)) || !self.table.has_device_column();
        let ask = match self.table.layout {
            Layout::Narrow if !is_one => Ask { span: self.reach(&wanted).await?, limit: u64::MAX, ..wanted.ask },
            _ => wanted.ask,
        };
        self.points(Wanted { ask, ..wanted }, wanted.ask.limit, sink).await
    }

    /// How far back the newest datapoints of several devices reach in layout narrow: the rows of one time come in any
    /// order, so that a limit on rows alone could cut through datapoints.
    async fn reach(&mut self, wanted: &Wanted<'_>) -> Result<Span, Error> {
        let rows = rows_of(&self.table, wanted.ask.signals, wanted.ask.limit);
        if i64::try_from(rows).is_err() {
            return Ok(ALL);
        }
        let select = Select::new(&quoted(VALUE), &self.table).filter(wanted.devices).latest_first();
        let mut from = None;
        let statement = select.limit(1).offset(rows - 1).into_text();
        self.client
            .ask(&statement, |series| {
                for row in series.rows() {
                    from = Some(time(row)?);
                }
                Ok(())
            })
            .await?;
        Ok(from.and_then(|from| Span::from(from).and(ALL)).unwrap_or(ALL))
    }

    async fn count_row(&mut self, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (counts, bytes) = count(&mut self.client, &self.table).await?;
        counts_row(counts, bytes, ComputedBy::Server, sink)
    }

    /// The questions about one signal of one device.
    async fn of_one_signal(&mut self, wanted: Wanted<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (table, ask) = (Arc::clone(&self.table), wanted.ask);
        let of = OneSignal { table: &table, wanted };
        let (client, value_type) = (&mut self.client, of.value_type());
        let (value_type, (found, bytes)) = match (ask.what, ask.order) {
            (What::Greatest, _) => {
                let (greatest, bytes) = of.greatest(client).await?;
                (ValueType::F64, (greatest.map(|greatest| (0, Cell::Float(greatest))), bytes))
            }
            (_, Order::Least) => (value_type, of.minimum(client).await?),
            _ => (value_type, of.nearest(client).await?),
        };
        // The newest of all is so whatever it reads as.
        let is_compared = ask.predicate.is_some() || ask.order != Order::Before;
        let computed_by = if of.is_text() && is_compared { ComputedBy::Client } else { ComputedBy::Server };
        let mut answer = Answer::new(sink, [value_type]);
        if let Some((time, cell)) = found {
            answer.row(ask.device(), time, |columns| columns[0].push(value(&cell, value_type)?))?;
        }
        answer.finish(bytes, computed_by)
    }
}

#[async_trait]
impl Reader for InfluxReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        refuse_unknown_signals(query, &self.table)?;
        let (table, all) = (Arc::clone(&self.table), Arc::clone(&self.all_signals));
        if !self.is_native(query)
            && let Some(answer) = by_client::answer(self, query, &table.schema, sink).await
        {
            return answer;
        }
        let ask = Ask::of(query, &all).filter(Ask::wants_something).and_then(|ask| ask.within(ALL));
        let devices = ask.and_then(|ask| devices_condition(&table, ask.devices));
        let (Some(ask), Some(devices)) = (ask, devices) else { return Ok(NOTHING) };
        let (wanted, by) = (Wanted { ask, devices: &devices }, GroupedBy::of(ask.what));
        match (ask.what, ask.order) {
            (What::FirstOfEach, _) => each::last_points(self, ask.devices, table.devices, sink).await,
            (What::Count, _) => self.count_row(sink).await,
            // InfluxQL does not cast texts to numbers.
            (What::Figures(_) | What::Buckets(..), _) if self.has_text(ask.signals) => {
                let mut fold = Fold::new(&ask, sink);
                let reply = self.points(Wanted { ask: ask.datapoints(), ..wanted }, u64::MAX, &mut fold).await?;
                fold.finish(reply)
            }
            (What::Figures(aggregates), _) => {
                Wish { wanted, aggregates, width: None, by }.answer(&mut self.client, &table, sink).await
            }
            (What::Buckets(aggregates, width) | What::TotalBuckets(aggregates, width), _) => {
                Wish { wanted, aggregates, width: Some(width), by }.answer(&mut self.client, &table, sink).await
            }
            (What::ByTag(_, aggregates, width), _) => {
                Wish { wanted, aggregates, width, by }.answer(&mut self.client, &table, sink).await
            }
            (What::Datapoints, Order::Stretch) if self.is_filtered_here(&ask) => self.filter(wanted, sink).await,
            (What::Datapoints, Order::Stretch | Order::Oldest) => self.points(wanted, ask.limit, sink).await,
            (What::Datapoints, Order::Newest) => self.newest(wanted, sink).await,
            _ => self.of_one_signal(wanted, sink).await,
        }
    }

    async fn statement(&mut self, call: &StatementCall<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.answer_statement(call, sink).await
    }

    /// By the groups of what is stored, one row of each.
    async fn tags(&mut self, devices: Range<u32>, take: &mut TakeTags<'_>) -> Result<TagsKept, Error> {
        let (table, devices) = (Arc::clone(&self.table), devices.collect::<Vec<_>>());
        let names: Vec<&str> = table.schema.tags().as_slice().iter().map(|tag| tag.name.as_str()).collect();
        let groups: Vec<&str> =
            [DEVICE].into_iter().filter(|_| table.has_device_column()).chain(names.clone()).collect();
        if let Some(condition) = devices_condition(&table, Asked::Some(&devices)) {
            let select = Select::new("*", &table).filter(&condition).group_by(&groups, None).limit(1);
            let hand_over = |series: &Series<'_>| {
                let value = |name: &&str| series.tags.get(*name).map(String::as_str).filter(|value| !value.is_empty());
                take(device_of(series)?, &names.iter().map(value).collect::<Vec<_>>())
            };
            self.client.ask(&select.into_text(), hand_over).await?;
        }
        Ok(TagsKept::WithDatapoints)
    }
}
