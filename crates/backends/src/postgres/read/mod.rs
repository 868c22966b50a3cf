//! One connection that reads: every query as one statement.

mod between;
mod buckets;
mod bulk;
mod count;
mod figures;
mod figures_in_shards;
mod own_statement;
#[cfg(test)]
mod plans;
mod points;
mod select;
mod shape;
mod statement;

use super::{devices, error::classify, layout::Table};
use async_trait::async_trait;
use bulk::BulkPoints;
use count::count_sql;
use figures::Figures;
use futures_util::TryStreamExt;
use iotbench_backend_kit::{
    answer::{Answer, NOTHING_BY_CLIENT, counts_row},
    ask::{Ask, Order, What},
    by_client, condition, consecutive, descending, each,
    figures::Collected,
    filter::Filter,
    fold::Fold,
    grouped_by::place_of,
    having, percentile,
    refuse::refuse_signals_beyond,
    sql::{Grouping, function},
    top,
    total::{known, no_first_of_all},
};
use iotbench_core::{
    ComputedBy, Consecutive, Counts, Error, Layout, Query, Reader, Reply, SignalId, Sink, StatementCall, TagId,
    TagsKept, TakeTags, Value, ValueType,
};
use points::{Cells, NarrowPoints, Points, RowPoints};
use shape::Shape;
use sqlx::{PgConnection, Row};
use statement::Statement;
use std::{ops::Range, sync::Arc};

/// A connection that answers queries.
pub(crate) struct PostgresReader {
    connection: PgConnection,
    shape: Shape,
    all_signals: Arc<[SignalId]>,
    /// Whether the server lets this connection change nothing.
    is_read_only: bool,
    /// Whether users' statements may change the table.
    may_change: bool,
}

impl PostgresReader {
    pub(crate) fn new(connection: PgConnection, table: Arc<Table>) -> Self {
        let all_signals = (0..).take(table.spec.schema.width()).collect();
        Self { connection, shape: Shape::new(table), all_signals, is_read_only: false, may_change: false }
    }

    /// One whose statements may change the table.
    pub(crate) fn that_changes(self) -> Self {
        Self { may_change: true, ..self }
    }

    /// Whether SQL has a question for what is asked of the answer to another: figures over the rows that meet a condition, and what of
    /// those meets one, where no order of time within a group is needed, and one device from the newest row on.
    fn is_asked_whole(&self, query: &Query) -> bool {
        let where_ = if let Query::Having { of, .. } = query { of } else { query };
        let is_narrow = self.shape.layout() == Layout::Narrow;
        match condition::on_rows(where_, is_narrow) {
            Some((_, aggregates)) => {
                !self.shape.is_in_shards() && aggregates.iter().all(|&figure| figures::is_grouped(figure))
            }
            None => descending::is_of_one(query),
        }
    }

    async fn answer(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        refuse_signals_beyond(query, self.all_signals.len())?;
        let table = self.shape.shared_table();
        let schema = &table.spec.schema;
        if !self.is_asked_whole(query)
            && let Some(answer) = by_client::of_others(self, query, schema, sink).await
        {
            return answer;
        }
        let all = Arc::clone(&self.all_signals);
        let Some(ask) = Ask::of(query, &all).filter(|ask| self.shape.may_hold(ask.devices)) else {
            return Ok(NOTHING_BY_CLIENT);
        };
        if ask.having.is_some() && !self.looks_at_figures(&ask) {
            return having::answer(self, query, schema, sink).await.unwrap_or(Ok(NOTHING_BY_CLIENT));
        }
        let Ask { devices, signals, span, .. } = ask;
        let holds = ask.predicate.map(|predicate| (ask.signal, predicate));
        match ask.what {
            What::Datapoints if self.is_filtered_here(&ask) => {
                let table = self.shape.shared_table();
                let mut filter = Filter::new(&ask, &table.spec.schema, sink);
                let reply = self.datapoints(&ask.of_any_value(), &mut filter).await?;
                filter.finish(reply, ComputedBy::Client)
            }
            What::Datapoints => self.datapoints(&ask, sink).await,
            What::FirstOfEach if !self.shape.is_in_shards() => {
                let statement = self.shape.last_of_each(devices, signals)?;
                let mut points = self.points(signals, u64::MAX);
                self.fetch(statement, signals, &mut *points, ComputedBy::Server, sink).await
            }
            // A query that looks at one device after the other cannot be sent to shards; those with a value of a tag are the
            // client's list here.
            What::FirstOfEach => {
                let of_table = self.shape.table().spec.devices;
                each::last_points(self, devices, of_table, sink).await
            }
            What::Greatest => self.greatest(&ask, sink).await,
            // What each shard finds of its rows tells no percentile of all.
            What::Figures(aggregates) | What::Buckets(aggregates, _)
                if self.shape.is_in_shards() && percentile::is_among(aggregates) =>
            {
                percentile::answer(self, query, sink).await.unwrap_or(Ok(NOTHING_BY_CLIENT))
            }
            What::Figures(aggregates) => {
                let statement = Figures { devices, signals, aggregates, span, holds }.statement(&self.shape)?;
                let statement = statement.having(ask.having, false)?;
                self.figures(statement, (signals.len(), aggregates.len(), false), sink).await
            }
            What::Buckets(aggregates, _) => {
                let Some(grouping) = Grouping::with_percentiles(ask.what) else {
                    let mut fold = Fold::new(&ask, sink);
                    let reply = self.datapoints(&ask.datapoints(), &mut fold).await?;
                    return fold.finish(reply);
                };
                let figures = Figures { devices, signals, aggregates, span, holds };
                let statement = figures.of_buckets(&self.shape, &grouping, ask.newest())?.having(ask.having, true)?;
                self.figures(statement, (signals.len(), aggregates.len(), true), sink).await
            }
            What::TotalBuckets(aggregates, _) => {
                let Some(grouping) = Grouping::of(ask.what) else { return Err(no_first_of_all()) };
                let figures = Figures { devices, signals, aggregates, span, holds };
                let statement = figures.of_buckets(&self.shape, &grouping, ask.newest())?.having(ask.having, true)?;
                self.figures(statement, (signals.len(), aggregates.len(), true), sink).await
            }
            What::ByTag(tag, aggregates, _) => {
                let Some(grouping) = Grouping::of(ask.what) else { return Err(no_first_of_all()) };
                let figures = Figures { devices, signals, aggregates, span, holds };
                let statement = figures.of_buckets(&self.shape, &grouping, None)?.having(ask.having, true)?;
                self.by_tag(statement, (signals.len(), aggregates.len(), tag), sink).await
            }
            What::Top(aggregate) => match function(aggregate) {
                Some(function) => self.top(&ask, function, sink).await,
                None => top::answer(self, query, sink).await.unwrap_or(Ok(NOTHING_BY_CLIENT)),
            },
            What::Consecutive(_) if self.shape.leaves_pairs() => {
                consecutive::answer(self, query, sink).await.unwrap_or(Ok(NOTHING_BY_CLIENT))
            }
            What::Consecutive(what) => self.between(&ask, what, sink).await,
            What::Count => self.count_row(sink).await,
        }
    }

    /// Whether SQL looks which figures meet a condition; else the client does.
    fn looks_at_figures(&self, ask: &Ask<'_>) -> bool {
        !self.shape.is_in_shards() && Grouping::of(ask.what).is_some()
    }

    /// Whether no condition on rows finds the datapoints: records of layout bulk are taken apart here, and in layout narrow each
    /// value is a row.
    fn is_filtered_here(&self, ask: &Ask<'_>) -> bool {
        match self.shape.layout() {
            Layout::Bulk => ask.predicate.is_some() && ask.order == Order::Stretch,
            Layout::Narrow => ask.is_of_records(),
            Layout::Wide | Layout::Document => false,
        }
    }

    async fn datapoints(&mut self, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let statement = self.shape.datapoints(ask)?;
        if ask.order == Order::Stretch && self.shape.layout() == Layout::Bulk {
            let mut points = BulkPoints::new(&self.shape, ask.signals, ask.span);
            return self.fetch(statement, ask.signals, &mut points, ComputedBy::Client, sink).await;
        }
        let mut points = self.points(ask.signals, ask.limit);
        self.fetch(statement, ask.signals, &mut *points, ComputedBy::Server, sink).await
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

    async fn greatest(&mut self, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let statement = self.shape.greatest(ask)?;
        let row = sqlx::query_with(&statement.sql, statement.arguments).fetch_one(&mut self.connection).await;
        let max = Cells::new(&row.map_err(|e| classify(&e))?).double()?;
        let mut answer = Answer::new(sink, [ValueType::F64]);
        if max.is_some() {
            answer.figures(ask.device(), [max])?;
        }
        answer.finish(8, ComputedBy::Server)
    }

    /// Answers with rows of the device, the bucket's beginning where there are buckets, and an array for each aggregate.
    async fn figures(
        &mut self,
        statement: Statement,
        (signals, aggregates, has_buckets): (usize, usize, bool),
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, vec![ValueType::F64; signals]);
        let first = 1 + usize::from(has_buckets);
        let mut rows = sqlx::query_with(&statement.sql, statement.arguments).fetch(&mut self.connection);
        let mut bytes = 0;
        while let Some(row) = rows.try_next().await.map_err(|e| classify(&e))? {
            let device = Cells::new(&row).device()?;
            let start = if has_buckets { row.try_get(1).map_err(|e| classify(&e))? } else { 0 };
            for place in (first..).take(aggregates) {
                let of_signals: Vec<Option<f64>> = row.try_get(place).map_err(|e| classify(&e))?;
                bytes += 8 * of_signals.len() as u64;
                answer.figures_at(device, start, of_signals)?;
            }
        }
        answer.finish(bytes, ComputedBy::Server)
    }

    /// Answers with rows of the value of a tag, the bucket's beginning and an array for each aggregate, value by value.
    async fn by_tag(
        &mut self,
        statement: Statement,
        (signals, aggregates, tag): (usize, usize, TagId),
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let table = self.shape.shared_table();
        let (tags, width) = (table.spec.schema.tags(), signals * aggregates);
        let tag_type = known(tags, tag)?.values.tag_type();
        let mut figures = Collected::default();
        let mut rows = sqlx::query_with(&statement.sql, statement.arguments).fetch(&mut self.connection);
        let mut bytes = 0;
        while let Some(row) = rows.try_next().await.map_err(|e| classify(&e))? {
            let value = devices::value_at(&row, 0, tag_type)?;
            let group = (place_of(tags, tag, value.as_deref())?, row.try_get(1).map_err(|e| classify(&e))?);
            for aggregate in 0..aggregates {
                let of_signals: Vec<Option<f64>> = row.try_get(2 + aggregate).map_err(|e| classify(&e))?;
                bytes += 8 * of_signals.len() as u64;
                for (signal, figure) in of_signals.into_iter().take(signals).enumerate() {
                    figures.set(group, aggregate * signals + signal, width, figure);
                }
            }
        }
        figures.answer(signals, bytes, ComputedBy::Server, sink)
    }

    /// Answers with rows of the device and its figure.
    async fn top(&mut self, ask: &Ask<'_>, function: &str, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let statement = self.shape.top(ask, function)?;
        let mut answer = Answer::new(sink, [ValueType::F64]);
        let mut rows = sqlx::query_with(&statement.sql, statement.arguments).fetch(&mut self.connection);
        let mut bytes = 0;
        while let Some(row) = rows.try_next().await.map_err(|e| classify(&e))? {
            let figure: Option<f64> = row.try_get(1).map_err(|e| classify(&e))?;
            bytes += 12;
            answer.figures(Cells::new(&row).device()?, [figure])?;
        }
        answer.finish(bytes, ComputedBy::Server)
    }

    /// Answers with rows of device, time, and what lies between two values.
    async fn between(&mut self, ask: &Ask<'_>, what: Consecutive, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let statement = self.shape.between(ask, what)?;
        let value_type = what.value_type();
        let mut answer = Answer::new(sink, [value_type]);
        let mut rows = sqlx::query_with(&statement.sql, statement.arguments).fetch(&mut self.connection);
        let mut bytes = 0;
        while let Some(row) = rows.try_next().await.map_err(|e| classify(&e))? {
            let mut cells = Cells::new(&row);
            let (device, time) = (cells.device()?, cells.bigint()?.unwrap_or_default());
            let value = match value_type {
                ValueType::I64 => cells.bigint()?.map(Value::I64),
                _ => cells.double()?.map(Value::F64),
            };
            answer.row(device, time, |columns| columns[0].push(value))?;
            bytes += cells.bytes;
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

/// Whether the table has the columns of the signals that are added.
pub(crate) async fn has_added(connection: &mut PgConnection, table: &Table) -> Result<bool, Error> {
    let sql =
        "SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = ANY($2) AND NOT attisdropped";
    let names: Vec<&str> = table.added_columns().iter().map(|column| column.name.as_str()).collect();
    let found = sqlx::query_scalar(sql).bind(&table.qualified).bind(&names).fetch_one(connection).await;
    let found: i64 = found.map_err(|e| classify(&e))?;
    Ok(usize::try_from(found).is_ok_and(|found| found == names.len()))
}

#[async_trait]
impl Reader for PostgresReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.answer(query, sink).await
    }

    async fn statement(&mut self, call: &StatementCall<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.answer_statement(call, sink).await
    }

    async fn tags(&mut self, of: Range<u32>, take: &mut TakeTags<'_>) -> Result<TagsKept, Error> {
        let table = self.shape.shared_table();
        devices::read(&mut self.connection, &table, &of, take).await?;
        Ok(TagsKept::WithDevices)
    }
}
