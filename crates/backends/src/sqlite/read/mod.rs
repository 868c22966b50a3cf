//! One connection that reads: every query, out of the datapoints of one device at a time.

mod between;
mod bulk;
mod narrow;
mod own_statement;
#[cfg(test)]
mod plans;
mod points;
mod record;
mod selection;

pub(crate) use record::has_added;

use super::{devices, error::classify, interrupt::Interruption};
use async_trait::async_trait;
use bulk::BulkShape;
use iotbench_backend_kit::{
    answer::{Answer, NOTHING_BY_CLIENT, counts_row, types},
    ask::{Ask, Asked, Order, What},
    by_client, descending,
    figures::Collected,
    filter::Filter,
    fold::Fold,
    refuse::refuse_signals_beyond,
    span::Span,
    sql::{Grouping, function},
};
use iotbench_core::{
    Aggregate, Chunk, ComputedBy, Counts, Error, Interrupt, Layout, Predicate, Query, Reader, Reply, SignalId, Sink,
    StatementCall, TableSpec, TagsKept, TakeTags, Value, ValueType,
};
use narrow::NarrowShape;
use points::{OfDevice, Points, Shape, for_each};
use record::RecordShape;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Transaction};
use selection::{bind, widened};
use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    ops::{ControlFlow, Range},
    sync::Arc,
};

/// A connection that answers queries.
pub(crate) struct SqliteReader {
    connection: Connection,
    table: Arc<TableSpec>,
    shape: Box<dyn Shape>,
    all_signals: Vec<SignalId>,
    interruption: Interruption,
}

impl SqliteReader {
    pub(crate) fn new(connection: Connection, table: Arc<TableSpec>) -> Result<Self, Error> {
        let shape: Box<dyn Shape> = match table.layout {
            Layout::Wide | Layout::Document => Box::new(RecordShape::new(Arc::clone(&table))),
            Layout::Narrow => Box::new(NarrowShape::new(Arc::clone(&table))),
            Layout::Bulk => Box::new(BulkShape::new(Arc::clone(&table))),
        };
        let all_signals = (0..).take(table.schema.width()).collect();
        let interruption = Interruption::install(&connection).map_err(|e| classify(&e))?;
        Ok(Self { connection, table, shape, all_signals, interruption })
    }

    /// One whose statements may change the table.
    pub(crate) fn that_changes(connection: Connection, table: Arc<TableSpec>) -> Result<Self, Error> {
        let reader = Self::new(connection, table)?;
        own_statement::allow_only(&reader.connection, reader.table.name.as_str()).map_err(|e| classify(&e))?;
        Ok(reader)
    }

    fn answer(&self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        refuse_signals_beyond(query, self.table.schema.width())?;
        let Some(ask) = Ask::of(query, &self.all_signals) else { return Ok(NOTHING_BY_CLIENT) };
        let found = self.with_value(&ask)?;
        let ask = Ask { devices: found.as_deref().map_or(ask.devices, Asked::Some), ..ask };
        match (ask.what, ask.order, ask.predicate) {
            (What::Count, ..) => self.count_row(sink),
            (What::Figures(_) | What::Buckets(..), ..) => self.figures(&ask, sink),
            (What::Top(aggregate), ..) => match function(aggregate) {
                Some(function) => self.top(&ask, function, sink),
                None => Ok(NOTHING_BY_CLIENT),
            },
            (What::Consecutive(what), ..) => self.between(&ask, what, sink),
            (What::Greatest, ..) => self.greatest(&ask, sink),
            (What::FirstOfEach, ..) => self.range(&ask, sink),
            (_, Order::Least, _) => self.minimum(&ask, sink),
            (_, Order::Stretch, Some(predicate)) => self.filter(&ask, predicate, sink),
            (.., Some(predicate)) => self.nearest(&ask, predicate, sink),
            (_, order, _) if order.is_descending() => self.newest(&ask, sink),
            _ => self.range(&ask, sink),
        }
    }

    /// The devices with the value of a tag that are asked for, by the table of devices: their series are read one after the
    /// other, as SQLite itself joins tables. `None`: something else is asked for, or one statement finds them itself.
    fn with_value(&self, ask: &Ask<'_>) -> Result<Option<Vec<u32>>, Error> {
        let is_joined = matches!(ask.what, What::Top(_)) && self.table.has_device_column();
        let Some((tag, value)) = ask.devices.tagged(self.table.schema.tags()).filter(|_| !is_joined) else {
            return Ok(None);
        };
        let sql = devices::with_value_sql(&self.table, tag);
        devices::with_value(&self.connection, &sql, value).map(Some).map_err(|e| classify(&e))
    }

    /// Calls `each` for every device asked for, ascending; for more than one, in one snapshot of the database.
    fn for_devices(&self, devices: Asked<'_>, mut each: impl FnMut(u32) -> Result<(), Error>) -> Result<(), Error> {
        let listed: &[u32] = match devices.list() {
            _ if !self.table.has_device_column() => {
                if devices.contains(0) {
                    &[0]
                } else {
                    &[]
                }
            }
            Some(list) => list,
            None => {
                let _snapshot = self.snapshot(usize::MAX)?;
                let mut next = self.device_from(i64::MIN)?;
                while let Some(device) = next {
                    each(device)?;
                    next = self.device_from(i64::from(device) + 1)?;
                }
                return Ok(());
            }
        };
        let _snapshot = self.snapshot(listed.len())?;
        listed.iter().try_for_each(|&device| each(device))
    }

    /// One state of the database for the queries that follow, where there is more than one device to ask for.
    fn snapshot(&self, devices: usize) -> Result<Option<Transaction<'_>>, Error> {
        let transaction = (devices > 1).then(|| self.connection.unchecked_transaction()).transpose();
        transaction.map_err(|e| classify(&e))
    }

    /// The first stored device from a number on: one look at the index.
    fn device_from(&self, least: i64) -> Result<Option<u32>, Error> {
        let sql = format!("SELECT min(device) FROM {} WHERE device >= ?1", self.table.name);
        let found = self.connection.prepare_cached(&sql).and_then(|mut s| s.query_row([least], |row| row.get(0)));
        found.optional().map(Option::flatten).map_err(|e| classify(&e))
    }

    fn of_device<'a>(&'a self, device: u32, ask: &'a Ask<'a>) -> OfDevice<'a> {
        OfDevice { connection: &self.connection, device, ask }
    }

    fn range(&self, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, types(&self.table.schema, ask.signals));
        let sql = self.shape.sql(ask);
        let (mut bytes, mut left) = (0, ask.limit);
        self.for_devices(ask.devices, |device| {
            if ask.what == What::FirstOfEach {
                left = ask.limit;
            }
            let mut statement = self.connection.prepare_cached(&sql).map_err(|e| classify(&e))?;
            bind(&mut statement, device, ask).map_err(|e| classify(&e))?;
            let mut points = self.shape.points(statement.raw_query(), ask);
            while left > 0
                && let Some(time) = points.next()?
            {
                answer.row(device, time, |columns| points.values(columns))?;
                left -= 1;
            }
            bytes += points.bytes();
            Ok(())
        })?;
        answer.finish(bytes, self.shape.computed_by())
    }

    /// The same with a condition that no value falls through which meets it: what SQL compares may be a decimal form.
    fn widened<'a>(&self, ask: &Ask<'a>, predicate: Predicate) -> Ask<'a> {
        let is_decimal_f32 =
            self.table.layout == Layout::Document && types(&self.table.schema, &[ask.signal]) == [ValueType::F32];
        Ask { predicate: Some(if is_decimal_f32 { widened(predicate) } else { predicate }), ..*ask }
    }

    /// Every value of a stretch that meets a condition, or its record. Where each value is a row, no condition on rows finds
    /// those beside it.
    fn filter(&self, ask: &Ask<'_>, predicate: Predicate, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut filter = Filter::new(ask, &self.table.schema, sink);
        if self.table.layout == Layout::Narrow && ask.is_of_records() {
            let reply = self.range(&ask.of_any_value(), &mut filter)?;
            return filter.finish(reply, ComputedBy::Client);
        }
        let reply = self.range(&self.widened(ask, predicate), &mut filter)?;
        filter.finish(reply, self.shape.computed_by())
    }

    fn nearest(&self, ask: &Ask<'_>, predicate: Predicate, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.one_point(
            &self.widened(ask, predicate),
            |point, found| {
                let number = point.columns[0].get(0).and_then(|v| v.as_f64());
                if number.is_some_and(|number| predicate.holds(number)) {
                    *found = Some(std::mem::replace(point, Chunk::new([])));
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            },
            sink,
        )
    }

    fn minimum(&self, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.one_point(
            ask,
            |point, least| {
                if is_less(point, least.as_ref()) {
                    let replaced = least.take().unwrap_or_else(|| Chunk::new(types(&self.table.schema, ask.signals)));
                    *least = Some(std::mem::replace(point, replaced));
                }
                ControlFlow::Continue(())
            },
            sink,
        )
    }

    /// Answers with the one datapoint that `choose` leaves.
    fn one_point(
        &self,
        ask: &Ask<'_>,
        mut choose: impl FnMut(&mut Chunk, &mut Option<Chunk>) -> ControlFlow<()>,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let (mut bytes, mut chosen) = (0, None);
        self.for_devices(ask.devices, |device| {
            for_each(&*self.shape, self.of_device(device, ask), &mut bytes, |point| Ok(choose(point, &mut chosen)))
        })?;
        if let Some(point) = &chosen {
            sink.push(point)?;
        }
        Ok(Reply { rows: chosen.is_some().into(), bytes, computed_by: self.shape.computed_by() })
    }

    /// The newest datapoints: the descending ones of each device, merged.
    fn newest(&self, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, types(&self.table.schema, ask.signals));
        let mut asked = Vec::new();
        self.for_devices(ask.devices, |device| {
            asked.push(device);
            Ok(())
        })?;
        let _snapshot = self.snapshot(asked.len())?;
        let sql = self.shape.sql(ask);
        let prepare = |&device: &u32| -> rusqlite::Result<CachedStatement<'_>> {
            let mut statement = self.connection.prepare_cached(&sql)?;
            bind(&mut statement, device, ask)?;
            Ok(statement)
        };
        let mut statements =
            asked.iter().map(prepare).collect::<rusqlite::Result<Vec<_>>>().map_err(|e| classify(&e))?;
        let mut series: Vec<Box<dyn Points + '_>> =
            statements.iter_mut().map(|s| self.shape.points(s.raw_query(), ask)).collect();
        let mut heads = BinaryHeap::with_capacity(series.len());
        for (place, points) in series.iter_mut().enumerate() {
            heads.extend(points.next()?.map(|time| (time, Reverse(place))));
        }
        for _ in 0..ask.limit {
            let Some((time, Reverse(place))) = heads.pop() else { break };
            answer.row(asked[place], time, |columns| series[place].values(columns))?;
            heads.extend(series[place].next()?.map(|time| (time, Reverse(place))));
        }
        let bytes = series.iter().map(|points| points.bytes()).sum();
        answer.finish(bytes, self.shape.computed_by())
    }

    fn greatest(&self, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, [ValueType::F64]);
        let mut bytes = 0;
        self.for_devices(ask.devices, |device| {
            match self.shape.greatest(self.of_device(device, ask), &mut bytes)? {
                Some(max) => answer.figures(device, [Some(max)]),
                None => Ok(()),
            }
        })?;
        answer.finish(bytes, self.shape.computed_by())
    }

    /// Figures by SQL where it groups the layout's rows, else over what it sends.
    fn figures(&self, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let Some(grouping) = Grouping::of(ask.what).filter(|_| self.shape.computed_by() == ComputedBy::Server) else {
            let mut fold = Fold::new(ask, sink);
            let reply = self.range(&ask.datapoints(), &mut fold)?;
            return fold.finish(reply);
        };
        let mut answer = Answer::new(sink, vec![ValueType::F64; ask.signals.len()]);
        let mut bytes = 0;
        self.for_devices(ask.devices, |device| {
            let (of, mut figures) = (self.of_device(device, ask), Collected::default());
            if grouping.functions().next().is_some() {
                self.shape.grouped(of, &grouping, &mut figures, &mut bytes)?;
            }
            for (place, &aggregate) in grouping.aggregates().iter().enumerate() {
                let order = match aggregate {
                    Aggregate::First => Order::Oldest,
                    Aggregate::Last => Order::Newest,
                    _ => continue,
                };
                let width = ask.signals.len() * grouping.aggregates().len();
                for (signal, number) in self.numbers_of_first(of, order, &mut bytes)?.into_iter().enumerate() {
                    figures.set((device, 0), place * ask.signals.len() + signal, width, number);
                }
            }
            figures.hand_over(ask.signals.len(), &mut answer)
        })?;
        answer.finish(bytes, self.shape.computed_by())
    }

    /// Whether SQL has a question for it; else the client makes the answer of others.
    fn is_native(&self, query: &Query) -> bool {
        let has_columns = self.shape.computed_by() == ComputedBy::Server;
        match query {
            Query::TopDevices { aggregate, .. } => has_columns && function(*aggregate).is_some(),
            Query::Consecutive { .. } => has_columns,
            Query::TotalBuckets { .. } | Query::TagFigures { .. } | Query::Having { .. } | Query::Filled { .. } => {
                false
            }
            // Rows that meet a condition are looked at again here, in the order of a stretch.
            Query::Descending { of } => descending::is_of_one(query) && matches!(**of, Query::Range { .. }),
            Query::Where { .. } | Query::Rollup { .. } => false,
            _ => true,
        }
    }

    fn top(&self, ask: &Ask<'_>, function: &str, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, [ValueType::F64]);
        let Some(devices) = ask.devices.in_table(&self.table) else { return answer.finish(0, ComputedBy::Server) };
        let sql = self.shape.top(&Ask { devices, ..*ask }, function)?;
        let mut bytes = 0;
        let mut statement = self.connection.prepare_cached(&sql).map_err(|e| classify(&e))?;
        bind(&mut statement, ask.device(), ask).map_err(|e| classify(&e))?;
        if let Some((_, value)) = devices.tagged(self.table.schema.tags()) {
            let place = statement.parameter_index(":value").map_err(|e| classify(&e))?.unwrap_or_default();
            statement.raw_bind_parameter(place, devices::argument(value)).map_err(|e| classify(&e))?;
        }
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|e| classify(&e))? {
            let cells = row.get(0).and_then(|device| Ok((device, row.get(1)?)));
            let (device, figure) = cells.map_err(|e| classify(&e))?;
            answer.figures(device, [figure])?;
            bytes += 12;
        }
        answer.finish(bytes, ComputedBy::Server)
    }

    /// The numbers of the first datapoint of a stretch in this order; none where there is no datapoint.
    fn numbers_of_first(&self, of: OfDevice<'_>, order: Order, bytes: &mut u64) -> Result<Vec<Option<f64>>, Error> {
        let mut numbers = Vec::new();
        let first = of.ask.datapoints().first(1, order);
        for_each(&*self.shape, OfDevice { ask: &first, ..of }, bytes, |point| {
            numbers = point.columns.iter().map(|column| column.get(0).and_then(|v| v.as_f64())).collect();
            Ok(ControlFlow::Break(()))
        })?;
        Ok(numbers)
    }

    fn count_row(&self, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let counts = self.count()?;
        counts_row(counts, 16, self.shape.computed_by(), sink)
    }

    /// Counts what is stored: by SQLite where a record is a datapoint and a column a value, else by reading it.
    pub(crate) fn count(&self) -> Result<Counts, Error> {
        if self.table.layout == Layout::Wide {
            return record::count_wide(&self.connection, &self.table).map_err(|e| classify(&e));
        }
        let (mut counts, mut bytes) = (Counts::default(), 0);
        let ask = Ask::stretch(Asked::All, &self.all_signals, Span::ALL);
        self.for_devices(ask.devices, |device| {
            for_each(&*self.shape, self.of_device(device, &ask), &mut bytes, |point| {
                counts.points += 1;
                counts.values += point.columns.iter().filter(|column| column.get(0).is_some()).count() as u64;
                Ok(ControlFlow::Continue(()))
            })
        })?;
        Ok(counts)
    }
}

/// Whether a point's only value is less than that of another, or there is no other.
fn is_less(point: &Chunk, other: Option<&Chunk>) -> bool {
    let value = |chunk: &Chunk| chunk.columns[0].get(0).map(|v| v.as_f64());
    match (point.columns[0].get(0), other.and_then(|other| other.columns[0].get(0))) {
        (Some(Value::I64(a)), Some(Value::I64(b))) => a < b,
        (None, _) => false,
        (Some(_), None) => true,
        (Some(_), Some(_)) => value(point) < other.and_then(value),
    }
}

#[async_trait]
impl Reader for SqliteReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        if !self.is_native(query)
            && let Some(answer) = by_client::answer(self, query, &table.schema, sink).await
        {
            return answer;
        }
        self.interruption.begin_call();
        self.answer(query, sink)
    }

    async fn statement(&mut self, call: &StatementCall<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.interruption.begin_call();
        self.answer_statement(call, sink)
    }

    async fn tags(&mut self, of: Range<u32>, take: &mut TakeTags<'_>) -> Result<TagsKept, Error> {
        self.interruption.begin_call();
        devices::read(&self.connection, &self.table, &of, take)?;
        Ok(TagsKept::WithDevices)
    }

    fn interrupt(&self) -> Option<Arc<dyn Interrupt>> {
        Some(self.interruption.handle(&self.connection))
    }
}
