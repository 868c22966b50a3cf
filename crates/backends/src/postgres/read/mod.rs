//! One connection that reads: every query as one statement.

mod bulk;
mod count;
mod figures;
mod figures_in_shards;
#[cfg(test)]
mod plans;
mod points;
mod select;
mod shape;
mod statement;

use super::{error::classify, layout::Table};
use async_trait::async_trait;
use bulk::BulkPoints;
use count::count_sql;
use figures::Figures;
use futures_util::TryStreamExt;
use iotbench_backend_kit::{
    answer::{Answer, NOTHING_BY_CLIENT, counts_row},
    span::Span,
};
use iotbench_core::{Cause, ComputedBy, Counts, Error, Layout, Query, Reader, Reply, SignalId, Sink, Value, ValueType};
use points::{Cells, NarrowPoints, Points, RowPoints};
use select::Wanted;
use shape::{Asked, Shape};
use sqlx::{PgConnection, Row};
use statement::Statement;
use std::{slice::from_ref, sync::Arc};

/// A connection that answers queries.
pub(crate) struct PostgresReader {
    connection: PgConnection,
    shape: Shape,
    all_signals: Arc<[SignalId]>,
}

impl PostgresReader {
    pub(crate) fn new(connection: PgConnection, table: Arc<Table>) -> Self {
        let all_signals = (0..).take(table.spec.schema.width()).collect();
        Self { connection, shape: Shape::new(table), all_signals }
    }

    async fn answer(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.refuse_unknown_signals(query)?;
        if !self.shape.may_hold(query) {
            return Ok(NOTHING_BY_CLIENT);
        }
        let all = Arc::clone(&self.all_signals);
        match query {
            Query::MaxOfFirst { device, signal, from_ns, limit } => {
                self.max_of_first(*device, *signal, *from_ns, *limit, sink).await
            }
            Query::Aggregates { devices, signals, aggregates, range } => match Span::of(*range) {
                Some(span) => {
                    self.figures(Figures { devices: Asked::of(devices), signals, aggregates, span }, sink).await
                }
                None => Ok(NOTHING_BY_CLIENT),
            },
            Query::Count => self.count_row(sink).await,
            _ => match self.shape.wanted(query, &all) {
                Some(wanted) => self.datapoints(wanted, sink).await,
                None => Ok(NOTHING_BY_CLIENT),
            },
        }
    }

    fn refuse_unknown_signals(&self, query: &Query) -> Result<(), Error> {
        let asked: &[SignalId] = match query {
            Query::Range { signals, .. } | Query::Aggregates { signals, .. } => signals,
            Query::Nearest { signal, .. }
            | Query::Minimum { signal, .. }
            | Query::MaxOfFirst { signal, .. }
            | Query::NewestVisible { signal, .. } => from_ref(signal),
            Query::Records { .. } | Query::Newest { .. } | Query::Count | Query::Scan => &[],
        };
        let width = self.all_signals.len();
        match asked.iter().find(|&&signal| usize::from(signal) >= width) {
            Some(signal) => Err(Error::new(Cause::Client, format!("signal {signal} is none of the table's {width}"))),
            None => Ok(()),
        }
    }

    async fn datapoints(&mut self, wanted: Wanted<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let statement = self.shape.datapoints(&wanted)?;
        if wanted.is_whole_stretch() && self.shape.layout() == Layout::Bulk {
            let mut points = BulkPoints::new(&self.shape, wanted.signals, wanted.span);
            return self.fetch(statement, wanted.signals, &mut points, ComputedBy::Client, sink).await;
        }
        let mut points = self.points(wanted.signals, wanted.limit);
        self.fetch(statement, wanted.signals, &mut *points, ComputedBy::Server, sink).await
    }

    fn points(&self, signals: &[SignalId], limit: u64) -> Box<dyn Points> {
        match self.shape.layout() {
            Layout::Narrow => Box::new(NarrowPoints::new(&self.shape, signals, limit)),
            _ => Box::new(RowPoints::new(&self.shape)),
        }
    }

    /// Streams the rows of a statement through `points` to the sink.
    async fn fetch(
        &mut self,
        statement: Statement,
        signals: &[SignalId],
        points: &mut dyn Points,
        computed_by: ComputedBy,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, signals.iter().map(|&signal| self.shape.value_type(signal)));
        let mut rows = sqlx::query_with(&statement.sql, statement.arguments).fetch(&mut self.connection);
        while let Some(row) = rows.try_next().await.map_err(|e| classify(&e))? {
            points.take(&row, &mut answer)?;
        }
        points.finish(&mut answer)?;
        answer.finish(points.bytes(), computed_by)
    }

    async fn max_of_first(
        &mut self,
        device: u32,
        signal: SignalId,
        from_ns: i64,
        limit: u64,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let statement = self.shape.max_of_first(device, signal, Span::from(from_ns), limit)?;
        let row = sqlx::query_with(&statement.sql, statement.arguments).fetch_one(&mut self.connection).await;
        let max = Cells::new(&row.map_err(|e| classify(&e))?).double()?;
        let mut answer = Answer::new(sink, [ValueType::F64]);
        if max.is_some() {
            answer.row(device, 0, |columns| columns[0].push(max.map(Value::F64)))?;
        }
        answer.finish(8, ComputedBy::Server)
    }

    async fn figures(&mut self, figures: Figures<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, vec![ValueType::F64; figures.signals.len()]);
        let statement = figures.statement(&self.shape)?;
        let mut rows = sqlx::query_with(&statement.sql, statement.arguments).fetch(&mut self.connection);
        let mut bytes = 0;
        while let Some(row) = rows.try_next().await.map_err(|e| classify(&e))? {
            let device = Cells::new(&row).device()?;
            for place in 1..=figures.aggregates.len() {
                let of_signals: Vec<Option<f64>> = row.try_get(place).map_err(|e| classify(&e))?;
                bytes += 8 * of_signals.len() as u64;
                answer.row(device, 0, |columns| {
                    columns.iter_mut().zip(&of_signals).try_for_each(|(to, from)| to.push(from.map(Value::F64)))
                })?;
            }
        }
        answer.finish(bytes, ComputedBy::Server)
    }

    async fn count_row(&mut self, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let counts = self.count().await?;
        counts_row(counts, 16, ComputedBy::Server, sink)
    }

    /// Counts what is stored: by the server in every layout.
    pub(crate) async fn count(&mut self) -> Result<Counts, Error> {
        let sql = count_sql(&self.shape);
        let counted = sqlx::query_as(&sql).fetch_one(&mut self.connection).await;
        let (points, values): (i64, i64) = counted.map_err(|e| classify(&e))?;
        let count = |count: i64| u64::try_from(count).unwrap_or_default();
        Ok(Counts { points: count(points), values: count(values) })
    }
}

#[async_trait]
impl Reader for PostgresReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.answer(query, sink).await
    }
}
