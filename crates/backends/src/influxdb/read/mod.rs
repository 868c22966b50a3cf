//! One connection that reads: every query in InfluxQL, and in the client where that cannot.

mod count;
mod decode;
mod figures;
mod points;
mod signal;

pub(crate) use count::count;

use super::{
    client::Client,
    influxql::{Select, Span, devices_condition, quoted},
};
use async_trait::async_trait;
use decode::time;
use figures::Wish;
use iotbench_backend_kit::{
    answer::{Answer, NOTHING, counts_row, types},
    cell::{Cell, value},
    line_protocol::VALUE,
    refuse::refuse_unknown_signals,
};
use iotbench_core::{
    ComputedBy, Devices, Error, Layout, Query, Reader, Reply, SignalId, Sink, TableSpec, TimeRange, ValueType,
};
use points::{Order, Wanted, rows_of, stream};
use signal::{Found, OneSignal};
use std::sync::Arc;

/// A connection that answers queries.
pub(crate) struct InfluxReader {
    client: Client,
    table: Arc<TableSpec>,
    all_signals: Vec<SignalId>,
}

impl InfluxReader {
    pub(crate) fn new(client: Client, table: Arc<TableSpec>) -> Self {
        let all_signals = (0..).take(table.schema.width()).collect();
        Self { client, table, all_signals }
    }

    /// Datapoints in order, at most `limit`.
    async fn points(&mut self, wanted: Wanted<'_>, limit: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let types = types(&self.table.schema, wanted.signals);
        let mut answer = Answer::new(sink, types.iter().copied());
        let mut left = limit;
        let bytes = stream(&mut self.client, &self.table, &wanted, &mut |device, time, cells| {
            if left == 0 {
                return Ok(());
            }
            left -= 1;
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

    async fn range(
        &mut self,
        devices: &Devices,
        signals: &[SignalId],
        range: TimeRange,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let (Some(span), Some(devices)) = (Span::of(range), devices_condition(&self.table, devices)) else {
            return Ok(NOTHING);
        };
        let wanted = Wanted { signals, devices: &devices, span, order: Order::ByDevice, most_points: None };
        self.points(wanted, u64::MAX, sink).await
    }

    async fn records(&mut self, device: u32, from_ns: i64, limit: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let devices = devices_condition(&self.table, &Devices::Some(vec![device]));
        let (Some(span), Some(devices), 1..) = (Span::from(from_ns), devices, limit) else { return Ok(NOTHING) };
        let signals = self.all_signals.clone();
        let wanted =
            Wanted { signals: &signals, devices: &devices, span, order: Order::ByDevice, most_points: Some(limit) };
        self.points(wanted, limit, sink).await
    }

    async fn newest(&mut self, devices: &Devices, limit: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (Some(condition), 1..) = (devices_condition(&self.table, devices), limit) else { return Ok(NOTHING) };
        let is_one = matches!(devices, Devices::Some(list) if list.len() == 1) || !self.table.has_device_column();
        let (span, most_points) = if self.table.layout == Layout::Narrow && !is_one {
            (self.reach(&condition, limit).await?, None)
        } else {
            (Span::ALL, Some(limit))
        };
        let signals = self.all_signals.clone();
        let wanted = Wanted { signals: &signals, devices: &condition, span, order: Order::LatestFirst, most_points };
        self.points(wanted, limit, sink).await
    }

    /// How far back the newest datapoints of several devices reach in layout narrow: the rows of one time come in any
    /// order, so that a limit on rows alone could cut through datapoints.
    async fn reach(&mut self, devices: &str, limit: u64) -> Result<Span, Error> {
        let rows = rows_of(&self.table, &self.all_signals, limit);
        if i64::try_from(rows).is_err() {
            return Ok(Span::ALL);
        }
        let select = Select::new(&quoted(VALUE), &self.table).filter(devices).latest_first();
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
        Ok(from.and_then(Span::from).unwrap_or(Span::ALL))
    }

    async fn count_row(&mut self, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (counts, bytes) = count(&mut self.client, &self.table).await?;
        counts_row(counts, bytes, ComputedBy::Server, sink)
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
        let Some(of) = OneSignal::new(&table, device, signal) else { return Ok(NOTHING) };
        let client = &mut self.client;
        let computed_by = if of.is_text() { ComputedBy::Client } else { ComputedBy::Server };
        match *query {
            Query::Nearest { predicate, direction, .. } => {
                let found = of.nearest(client, predicate, direction).await?;
                one_point(device, of.value_type(), found, computed_by, sink)
            }
            Query::Minimum { range, .. } => {
                let Some(span) = Span::of(range) else { return Ok(NOTHING) };
                let found = of.minimum(client, span).await?;
                one_point(device, of.value_type(), found, computed_by, sink)
            }
            Query::MaxOfFirst { from_ns, limit, .. } => {
                let (Some(span), 1..) = (Span::from(from_ns), limit) else { return Ok(NOTHING) };
                let (greatest, bytes) = of.max_of_first(client, span, limit).await?;
                let greatest = greatest.map(|greatest| (0, Cell::Float(greatest)));
                one_point(device, ValueType::F64, (greatest, bytes), computed_by, sink)
            }
            _ => {
                let found = of.newest(client).await?;
                one_point(device, of.value_type(), found, ComputedBy::Server, sink)
            }
        }
    }
}

/// Answers with the one datapoint that was found, if any.
fn one_point(
    device: u32,
    value_type: ValueType,
    (found, bytes): (Found, u64),
    computed_by: ComputedBy,
    sink: &mut dyn Sink,
) -> Result<Reply, Error> {
    let mut answer = Answer::new(sink, [value_type]);
    if let Some((time, cell)) = found {
        answer.row(device, time, |columns| columns[0].push(value(&cell, value_type)?))?;
    }
    answer.finish(bytes, computed_by)
}

#[async_trait]
impl Reader for InfluxReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        refuse_unknown_signals(query, &self.table)?;
        match query {
            Query::Range { devices, signals, range } => self.range(devices, signals, *range, sink).await,
            Query::Scan => {
                let signals = self.all_signals.clone();
                self.range(&Devices::All, &signals, TimeRange::ALL, sink).await
            }
            Query::Records { device, from_ns, limit } => self.records(*device, *from_ns, *limit, sink).await,
            Query::Newest { devices, limit } => self.newest(devices, *limit, sink).await,
            Query::Nearest { device, signal, .. }
            | Query::Minimum { device, signal, .. }
            | Query::MaxOfFirst { device, signal, .. }
            | Query::NewestVisible { device, signal } => self.of_one_signal(query, *device, *signal, sink).await,
            Query::Aggregates { devices, signals, aggregates, range } => {
                let (Some(span), Some(devices)) = (Span::of(*range), devices_condition(&self.table, devices)) else {
                    return Ok(NOTHING);
                };
                if aggregates.is_empty() {
                    return Ok(NOTHING);
                }
                let wish = Wish { signals, aggregates, devices: &devices, span };
                wish.answer(&mut self.client, &self.table, sink).await
            }
            Query::Count => self.count_row(sink).await,
        }
    }
}
