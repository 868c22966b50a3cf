//! One connection that reads. Figures and counts are the server's work, by MetricsQL; datapoints are put together from
//! exported series, and what asks for one of them by its value is searched for in the client, stretch by stretch.

mod figures;
mod gather;
mod walk;

pub(crate) use figures::count;
use figures::count_first_signal;

use super::{
    client::{Client, improper},
    series::{Millis, Own},
};
use async_trait::async_trait;
use iotbench_backend_kit::{
    answer::{Answer, NOTHING, counts_row, types},
    refuse::refuse_unknown_signals,
};
use iotbench_core::{
    ComputedBy, Devices, Direction, Error, Query, Reader, Reply, ReplyColumn, SignalId, Sink, TableSpec, TimeRange,
    Value, ValueType,
};
use std::{ops::Bound, slice::from_ref, sync::Arc};
use walk::{Go, Order, Wanted, walk};

/// A connection that answers queries.
pub(crate) struct VictoriaReader {
    client: Client,
    own: Own,
    table: Arc<TableSpec>,
    all_signals: Vec<SignalId>,
}

impl VictoriaReader {
    pub(crate) fn new(client: Client, own: Own, table: Arc<TableSpec>) -> Self {
        let all_signals = (0..).take(table.schema.width()).collect();
        Self { client, own, table, all_signals }
    }

    /// At most `limit` datapoints, by device and time.
    async fn points(
        &mut self,
        devices: &Devices,
        signals: &[SignalId],
        span: Option<Millis>,
        limit: u64,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let (Some(span), 1..) = (span, limit) else { return Ok(NOTHING) };
        let types = types(&self.table.schema, signals);
        let mut answer = Answer::new(sink, types.iter().copied());
        let mut left = limit;
        let order = if limit == u64::MAX { Order::ByDevice } else { Order::FirstOnes };
        let wanted = Wanted { devices, signals, span, order };
        let bytes = walk(&mut self.client, &self.own, &self.table, &wanted, &mut |device, ms, values| {
            left -= 1;
            answer.row(device, ms * 1_000_000, |columns| push_row(columns, &types, values))?;
            Ok(if left == 0 { Go::Stop } else { Go::On })
        })
        .await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    async fn newest(&mut self, devices: &Devices, limit: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
        if limit == 0 {
            return Ok(NOTHING);
        }
        let signals = self.all_signals.clone();
        let types = types(&self.table.schema, &signals);
        let mut answer = Answer::new(sink, types.iter().copied());
        let mut left = limit;
        let wanted = Wanted { devices, signals: &signals, span: Millis::ALL, order: Order::LatestFirst };
        let bytes = walk(&mut self.client, &self.own, &self.table, &wanted, &mut |device, ms, values| {
            left -= 1;
            answer.row(device, ms * 1_000_000, |columns| push_row(columns, &types, values))?;
            Ok(if left == 0 { Go::Stop } else { Go::On })
        })
        .await?;
        answer.finish(bytes, ComputedBy::Client)
    }

    /// The questions about one signal of one device: `choose` sees its datapoints and ends with one of them, or none.
    async fn of_one_signal(
        &mut self,
        query: &Query,
        device: u32,
        signal: SignalId,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let Some(search) = Search::of(query) else { return Ok(NOTHING) };
        let devices = Devices::Some(vec![device]);
        let wanted = Wanted { devices: &devices, signals: from_ref(&signal), span: search.span, order: search.order };
        let (mut seen, mut found) = (0, None);
        let bytes = walk(&mut self.client, &self.own, &self.table, &wanted, &mut |_, ms, values| {
            let Some(value) = values[0] else { return Ok(Go::On) };
            seen += 1;
            Ok(search.look(ms, value, seen, &mut found))
        })
        .await?;
        let is_figure = matches!(query, Query::MaxOfFirst { .. });
        let value_type = if is_figure { ValueType::F64 } else { types(&self.table.schema, from_ref(&signal))[0] };
        let mut answer = Answer::new(sink, [value_type]);
        if let Some((ms, value)) = found {
            let time = if is_figure { 0 } else { ms * 1_000_000 };
            answer.row(device, time, |columns| push_row(columns, &[value_type], &[Some(value)]))?;
        }
        let is_plain = matches!(query, Query::NewestVisible { .. });
        answer.finish(bytes, if is_plain { ComputedBy::Server } else { ComputedBy::Client })
    }

    async fn count_row(&mut self, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (counts, bytes) = count(&mut self.client, &self.own).await?;
        counts_row(counts, bytes, ComputedBy::Server, sink)
    }
}

/// What is searched for among the datapoints of one signal.
struct Search<'q> {
    query: &'q Query,
    span: Millis,
    order: Order,
}

impl<'q> Search<'q> {
    /// `None` where there is nothing to be found.
    fn of(query: &'q Query) -> Option<Self> {
        let from = |from_ns| TimeRange { from: Bound::Included(from_ns), to: Bound::Unbounded };
        let (range, order) = match query {
            Query::Nearest { direction: Direction::FirstAfter(time), .. } => {
                (TimeRange { from: Bound::Excluded(*time), to: Bound::Unbounded }, Order::FirstOnes)
            }
            Query::Nearest { direction: Direction::LastBefore(time), .. } => {
                (TimeRange { from: Bound::Unbounded, to: Bound::Excluded(*time) }, Order::LatestFirst)
            }
            Query::Minimum { range, .. } => (*range, Order::ByDevice),
            Query::MaxOfFirst { limit: 0, .. } => return None,
            Query::MaxOfFirst { from_ns, .. } => (from(*from_ns), Order::FirstOnes),
            _ => (TimeRange::ALL, Order::LatestFirst),
        };
        Some(Self { query, span: Millis::of(range)?, order })
    }

    /// Looks at the `seen`-th datapoint.
    fn look(&self, ms: i64, value: f64, seen: u64, found: &mut Option<(i64, f64)>) -> Go {
        match *self.query {
            Query::Nearest { predicate, .. } => {
                if predicate.holds(value) {
                    *found = Some((ms, value));
                    return Go::Stop;
                }
            }
            Query::Minimum { .. } => {
                if found.is_none_or(|(_, least)| value < least) {
                    *found = Some((ms, value));
                }
            }
            Query::MaxOfFirst { limit, .. } => {
                if found.is_none_or(|(_, greatest)| value > greatest) {
                    *found = Some((ms, value));
                }
                return if seen == limit { Go::Stop } else { Go::On };
            }
            _ => {
                *found = Some((ms, value));
                return Go::Stop;
            }
        }
        Go::On
    }
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
        refuse_unknown_signals(query, &self.table)?;
        match query {
            Query::Range { devices, signals, range } => {
                self.points(devices, signals, Millis::of(*range), u64::MAX, sink).await
            }
            Query::Scan => {
                let signals = self.all_signals.clone();
                self.points(&Devices::All, &signals, Some(Millis::ALL), u64::MAX, sink).await
            }
            Query::Records { device, from_ns, limit } => {
                let signals = self.all_signals.clone();
                let range = TimeRange { from: Bound::Included(*from_ns), to: Bound::Unbounded };
                self.points(&Devices::Some(vec![*device]), &signals, Millis::of(range), *limit, sink).await
            }
            Query::Newest { devices, limit } => self.newest(devices, *limit, sink).await,
            Query::Nearest { device, signal, .. }
            | Query::Minimum { device, signal, .. }
            | Query::MaxOfFirst { device, signal, .. }
            | Query::NewestVisible { device, signal } => self.of_one_signal(query, *device, *signal, sink).await,
            Query::Aggregates { devices, signals, aggregates, range } => {
                let Some(span) = Millis::of(*range) else { return Ok(NOTHING) };
                let wish = figures::Wish { devices, signals, aggregates, span };
                wish.answer(&mut self.client, &self.own, &self.table, sink).await
            }
            Query::Count => self.count_row(sink).await,
        }
    }

    async fn visible_points(&mut self) -> Result<u64, Error> {
        count_first_signal(&mut self.client, &self.own, &self.table).await
    }
}
