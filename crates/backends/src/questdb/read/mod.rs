//! One connection that reads: every query is one or two of SQL, and the server's work.

mod figures;
mod gather;

pub(crate) use figures::count;

use super::{
    client::Client,
    rows::improper,
    sql::{Order, Select},
};
use async_trait::async_trait;
use gather::{Gather, Take};
use iotbench_backend_kit::{
    answer::{Answer, NOTHING, counts_row},
    cell::{Cell, number, value},
    refuse::refuse_unknown_signals,
    span::Span,
};
use iotbench_core::{
    ComputedBy, Devices, Direction, Error, Layout, Query, Reader, Reply, SignalId, Sink, TableSpec, TimeRange, Value,
    ValueType,
};
use std::{ops::Bound, sync::Arc};

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

    fn type_of(&self, signal: SignalId) -> ValueType {
        self.table.schema.signals()[usize::from(signal)].value_type
    }

    /// At most `limit` datapoints.
    async fn points(
        &mut self,
        select: Select<'_>,
        signals: &[SignalId],
        order: Order,
        limit: Option<u64>,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let types: Vec<ValueType> = signals.iter().map(|&signal| self.type_of(signal)).collect();
        let mut answer = Answer::new(sink, types.iter().copied());
        let mut left = limit.unwrap_or(u64::MAX);
        let mut take = |device: u32, time: i64, cells: &[Cell<'_>]| {
            if left == 0 {
                return Ok(());
            }
            left -= 1;
            answer.row(device, time, |columns| {
                let mut cells = columns.iter_mut().zip(cells.iter().zip(&types));
                cells.try_for_each(|(column, (cell, &value_type))| column.push(value(cell, value_type)?))
            })
        };
        let rows_of_point = if self.is_narrow() { signals.len() as u64 } else { 1 };
        // In layout narrow the latest rows of several devices are cut off by their time, not by a limit.
        let is_cut_by_time = self.is_narrow() && order == Order::LatestFirst;
        let limit = limit.filter(|_| !is_cut_by_time).map(|limit| limit.saturating_mul(rows_of_point));
        let bytes = self.stream(&select.points(signals, order, limit), signals, order, &mut take).await?;
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
        let mut gather = Gather::new(&table, signals, order == Order::ByDevice);
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

    async fn range(
        &mut self,
        devices: &Devices,
        signals: &[SignalId],
        range: TimeRange,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        let select = Span::of(range).and_then(|span| Select::new(&table, devices, span));
        match select {
            Some(select) => self.points(select, signals, Order::ByDevice, None, sink).await,
            None => Ok(NOTHING),
        }
    }

    async fn newest(&mut self, devices: &Devices, limit: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        let (Some(mut select), 1..) = (Select::new(&table, devices, Span::ALL), limit) else { return Ok(NOTHING) };
        let signals = self.all_signals.clone();
        if self.is_narrow()
            && let Ok(rows) =
                u64::try_from(i64::try_from(limit).unwrap_or(i64::MAX)).map(|l| l.saturating_mul(signals.len() as u64))
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
        self.points(select, &signals, Order::LatestFirst, Some(limit), sink).await
    }

    /// The questions about one signal of one device: a row of time and value.
    async fn of_one_signal(
        &mut self,
        query: &Query,
        device: u32,
        signal: SignalId,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        let span = match query {
            Query::Nearest { direction: Direction::FirstAfter(time), .. } => {
                Span::of(TimeRange { from: Bound::Excluded(*time), to: Bound::Unbounded })
            }
            Query::Nearest { direction: Direction::LastBefore(time), .. } => {
                Span::of(TimeRange { from: Bound::Unbounded, to: Bound::Excluded(*time) })
            }
            Query::Minimum { range, .. } => Span::of(*range),
            Query::MaxOfFirst { limit: 0, .. } => None,
            Query::MaxOfFirst { from_ns, .. } => Some(Span::from(*from_ns)),
            _ => Some(Span::ALL),
        };
        let select = span.and_then(|span| Select::new(&table, &Devices::Some(vec![device]), span));
        let Some(select) = select else { return Ok(NOTHING) };
        let sql = match *query {
            Query::Nearest { predicate, direction, .. } => {
                select.nearest(signal, Some(predicate), matches!(direction, Direction::LastBefore(_)))
            }
            Query::Minimum { .. } => select.minimum(signal),
            Query::MaxOfFirst { limit, .. } => select.max_of_first(signal, limit),
            _ => select.nearest(signal, None, true),
        };
        let is_figure = matches!(query, Query::MaxOfFirst { .. });
        let value_type = if is_figure { ValueType::F64 } else { self.type_of(signal) };
        let mut answer = Answer::new(sink, [value_type]);
        let take = |row: &[Cell<'_>]| match row {
            [Cell::Null] => Ok(()),
            [figure] => answer.row(device, 0, |columns| columns[0].push(number(figure)?.map(Value::F64))),
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
        match query {
            Query::Range { devices, signals, range } => self.range(devices, signals, *range, sink).await,
            Query::Scan => {
                let signals = self.all_signals.clone();
                self.range(&Devices::All, &signals, TimeRange::ALL, sink).await
            }
            Query::Records { device, from_ns, limit } => {
                let (table, signals) = (Arc::clone(&self.table), self.all_signals.clone());
                let select = Select::new(&table, &Devices::Some(vec![*device]), Span::from(*from_ns));
                let (Some(select), 1..) = (select, *limit) else { return Ok(NOTHING) };
                self.points(select, &signals, Order::ByDevice, Some(*limit), sink).await
            }
            Query::Newest { devices, limit } => self.newest(devices, *limit, sink).await,
            Query::Nearest { device, signal, .. }
            | Query::Minimum { device, signal, .. }
            | Query::MaxOfFirst { device, signal, .. }
            | Query::NewestVisible { device, signal } => self.of_one_signal(query, *device, *signal, sink).await,
            Query::Aggregates { devices, signals, aggregates, range } => {
                let table = Arc::clone(&self.table);
                let select = Span::of(*range).and_then(|span| Select::new(&table, devices, span));
                let (Some(select), false) = (select, aggregates.is_empty()) else { return Ok(NOTHING) };
                figures::answer(&mut self.client, &table, select, (signals, aggregates), sink).await
            }
            Query::Count => self.count_row(sink).await,
        }
    }
}
