//! One connection that reads: every query.

mod bulk;
mod figures;
mod narrow;
mod newest;
mod own_statement;
mod pager;
#[cfg(test)]
mod plans;
mod points;
mod record;
mod selection;
mod stream;

use super::{
    devices::{self, with_value_sql},
    error::classify,
    layout::{index_name, qualified, quoted},
    marker::has_added,
    server::execute,
};
use async_trait::async_trait;
use bulk::BulkShape;
use iotbench_backend_kit::{
    answer::{Answer, NOTHING_BY_CLIENT, counts_row, types},
    ask::{Ask, Asked, Order, What},
    by_client, descending,
    filter::Filter,
    refuse::refuse_signals_beyond,
    span::Span,
    sql::function,
};
use iotbench_core::{
    Chunk, ComputedBy, Counts, Error, Layout, Predicate, Query, Reader, Reply, SignalId, Sink, StatementCall,
    TableSpec, TagsKept, TakeTags, TypedTag, Value,
};
use narrow::NarrowShape;
use pager::Pager;
use points::{Shape, Values, cell};
use record::RecordShape;
use selection::{Selection, Statement};
use sqlx::MySqlConnection;
use std::{
    ops::{ControlFlow, Range},
    sync::Arc,
};
use stream::{Take, each};

/// Devices in one statement.
const DEVICES_AT_ONCE: usize = 1000;
/// Rows of the first page where nobody knows how many datapoints a row holds.
const FIRST_ROWS: u64 = 4;

/// The table that is read.
pub(crate) struct ReadTable {
    pub(crate) table: Arc<TableSpec>,
    /// Its name in the database.
    pub(crate) name: String,
    database: String,
    /// Its name and, where there is one, the index: its order is that of the answers, equal times as they were stored.
    pub(crate) from: String,
}

impl ReadTable {
    pub(crate) fn new(database: &str, table: Arc<TableSpec>, has_index: bool) -> Self {
        let name = qualified(database, &table);
        let from = match has_index {
            true => format!("{name} FORCE INDEX ({})", quoted(&index_name(&table))),
            false => name.clone(),
        };
        Self { table, name, database: database.into(), from }
    }

    pub(crate) fn has_device(&self) -> bool {
        self.table.has_device_column()
    }

    /// The devices asked for, as a condition that others follow.
    pub(crate) fn of_devices(&self, statement: &mut Statement, devices: Asked<'_>) -> Result<(), Error> {
        match devices.tagged(self.table.schema.tags()) {
            Some((tag, value)) if self.has_device() => {
                let found = with_value_sql(&self.database, &self.table, tag);
                let condition = format!("`device` IN ({found}");
                match value {
                    TypedTag::Text(value) => statement.bind(&condition, value.to_string())?,
                    TypedTag::Integer(value) => statement.bind(&condition, value)?,
                    TypedTag::Number(value) => statement.bind(&condition, value)?,
                    TypedTag::Truth(value) => statement.bind(&condition, value)?,
                }
                statement.push(") AND ");
                Ok(())
            }
            _ => statement.of_devices(self.has_device(), devices),
        }
    }
}

/// A connection that answers queries.
pub(crate) struct MariaDbReader {
    connection: MySqlConnection,
    place: Arc<ReadTable>,
    shape: Box<dyn Shape>,
    all_signals: Arc<[SignalId]>,
    /// Whether the server lets this connection change nothing.
    is_read_only: bool,
    /// Whether users' statements may change the table.
    may_change: bool,
}

impl MariaDbReader {
    pub(crate) fn new(connection: MySqlConnection, place: ReadTable) -> Self {
        let place = Arc::new(place);
        let shape: Box<dyn Shape> = match place.table.layout {
            Layout::Wide | Layout::Document => Box::new(RecordShape::new(Arc::clone(&place))),
            Layout::Narrow => Box::new(NarrowShape::new(Arc::clone(&place))),
            Layout::Bulk => Box::new(BulkShape::new(Arc::clone(&place))),
        };
        let all_signals = (0..).take(place.table.schema.width()).collect();
        Self { connection, place, shape, all_signals, is_read_only: false, may_change: false }
    }

    /// One whose statements may change the table.
    pub(crate) fn that_changes(self) -> Self {
        Self { may_change: true, ..self }
    }

    async fn answer(&mut self, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        match (ask.what, ask.order, ask.predicate) {
            (What::Count, ..) => self.count_row(sink).await,
            (What::Figures(_) | What::Buckets(..), ..) => self.figures(ask, sink).await,
            (What::Top(aggregate), ..) => match function(aggregate) {
                Some(function) => self.top(ask, function, sink).await,
                None => Ok(NOTHING_BY_CLIENT),
            },
            (What::Greatest, ..) => self.greatest(ask, sink).await,
            (What::FirstOfEach, ..) => self.first_of_each(ask, sink).await,
            (_, Order::Least, _) => self.minimum(ask, sink).await,
            (_, Order::Stretch, Some(_)) => self.filter(ask, sink).await,
            (.., Some(predicate)) => self.nearest(ask, predicate, sink).await,
            (_, Order::Newest | Order::Before, _) => self.newest(ask, sink).await,
            (_, Order::Oldest, _) => self.records(ask, sink).await,
            _ => self.range(ask, sink).await,
        }
    }

    /// The devices with the value of a tag that are asked for, by the table of devices, which nothing changes. A join would sort
    /// what it finds, as no index is in the order of both tables, and so forget in which order equal times were stored; and what
    /// is asked of one device after the other needs their list. `None`: something else is asked for, or one statement that joins,
    /// as it groups and keeps no order.
    async fn with_value(&mut self, ask: &Ask<'_>) -> Result<Option<Vec<u32>>, Error> {
        let place = Arc::clone(&self.place);
        let is_joined = matches!(ask.what, What::Top(_)) && place.has_device();
        let Some((tag, value)) = ask.devices.tagged(place.table.schema.tags()).filter(|_| !is_joined) else {
            return Ok(None);
        };
        let sql = format!("{} ORDER BY `device`", with_value_sql(&place.database, &place.table, tag));
        let query = sqlx::query(&sql);
        let query = match value {
            TypedTag::Text(value) => query.bind(value.to_string()),
            TypedTag::Integer(value) => query.bind(value),
            TypedTag::Number(value) => query.bind(value),
            TypedTag::Truth(value) => query.bind(value),
        };
        let rows = query.fetch_all(&mut self.connection).await;
        rows.map_err(|e| classify(&e))?.iter().map(|row| cell(row, 0)).collect::<Result<_, _>>().map(Some)
    }

    /// Whether a device may be stored in this table.
    fn may_hold(&self, device: u32) -> bool {
        self.place.has_device() || device == 0
    }

    /// The devices asked for, ascending; all means those that are stored.
    async fn devices(&mut self, devices: Asked<'_>) -> Result<Vec<u32>, Error> {
        match devices.list() {
            Some(list) => Ok(list.iter().copied().filter(|&device| self.may_hold(device)).collect()),
            None if !self.place.has_device() => Ok(vec![0]),
            None => {
                let sql = format!("SELECT DISTINCT `device` FROM {} ORDER BY `device`", self.place.from);
                let rows = sqlx::query(&sql).fetch_all(&mut self.connection).await.map_err(|e| classify(&e))?;
                rows.iter().map(|row| cell(row, 0)).collect()
            }
        }
    }

    async fn range(&mut self, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, types(&self.place.table.schema, ask.signals));
        let devices = ask.devices.in_table(&self.place.table);
        let at_once: Vec<Asked<'_>> = match devices.as_ref().map(Asked::list) {
            None => Vec::new(),
            Some(None) => vec![Asked::All],
            Some(Some(list)) => list.chunks(DEVICES_AT_ONCE).map(Asked::Some).collect(),
        };
        let mut bytes = 0;
        for devices in at_once {
            let selection = Selection { ask: Ask { devices, ..*ask }, most_rows: None };
            let mut take = |device, time, point: &mut dyn Values| {
                answer.row(device, time, |columns| point.values(columns))?;
                Ok(ControlFlow::Continue(()))
            };
            each(&mut self.connection, &*self.shape, &selection, &mut bytes, &mut take).await?;
        }
        answer.finish(bytes, ComputedBy::Server)
    }

    /// Tested here too. Where each value is a row, no condition on rows finds those beside it.
    async fn filter(&mut self, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let place = Arc::clone(&self.place);
        let mut filter = Filter::new(ask, &place.table.schema, sink);
        if place.table.layout == Layout::Narrow && ask.is_of_records() {
            let reply = self.range(&ask.of_any_value(), &mut filter).await?;
            return filter.finish(reply, ComputedBy::Client);
        }
        let reply = self.range(ask, &mut filter).await?;
        filter.finish(reply, self.shape.computed_by())
    }

    async fn first_of_each(&mut self, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut all = NOTHING_BY_CLIENT;
        for device in self.devices(ask.devices).await? {
            let Reply { rows, bytes, computed_by } = self.newest(&ask.of_one(device), sink).await?;
            all = Reply { rows: all.rows + rows, bytes: all.bytes + bytes, computed_by };
        }
        Ok(all)
    }

    async fn records(&mut self, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, types(&self.place.table.schema, ask.signals));
        let mut bytes = 0;
        self.first_points(ask, &mut bytes, &mut |device, time, point| {
            answer.row(device, time, |columns| point.values(columns))?;
            Ok(ControlFlow::Continue(()))
        })
        .await?;
        answer.finish(bytes, self.shape.computed_by())
    }

    /// Gives the first datapoints of one device to `take`, until that breaks: by one statement where a number of
    /// rows means a number of datapoints, else page by page.
    async fn first_points(&mut self, ask: &Ask<'_>, bytes: &mut u64, take: &mut Take<'_>) -> Result<(), Error> {
        if ask.limit == 0 || !self.may_hold(ask.device()) {
            return Ok(());
        }
        let mut left = ask.limit;
        if let Some(rows) = self.shape.rows_of(ask.limit, ask.signals) {
            let selection = Selection { ask: *ask, most_rows: Some(rows) };
            let mut counted = |device, time, point: &mut dyn Values| {
                left -= 1;
                let flow = take(device, time, point)?;
                Ok(if left == 0 { ControlFlow::Break(()) } else { flow })
            };
            return each(&mut self.connection, &*self.shape, &selection, bytes, &mut counted).await;
        }
        let mut pager = Pager::new(&self.place.table.schema, *ask, FIRST_ROWS);
        while left > 0
            && let Some(time) = pager.next(&mut self.connection, &*self.shape).await?
        {
            left -= 1;
            if take(ask.device(), time, &mut pager.values())?.is_break() {
                break;
            }
        }
        *bytes += pager.bytes();
        Ok(())
    }

    async fn nearest(&mut self, ask: &Ask<'_>, predicate: Predicate, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let is_tested_by_server = self.shape.computed_by() == ComputedBy::Server;
        let ask = if is_tested_by_server { *ask } else { Ask { predicate: None, limit: u64::MAX, ..*ask } };
        let mut found = self.no_point(ask.signals);
        let mut bytes = 0;
        self.first_points(&ask, &mut bytes, &mut |device, time, point| {
            take_point(&mut found, device, time, point)?;
            let holds = number_of(&found).is_some_and(|number| predicate.holds(number));
            Ok(if holds || is_tested_by_server { ControlFlow::Break(()) } else { clear(&mut found) })
        })
        .await?;
        self.one_point(&found, bytes, sink)
    }

    async fn minimum(&mut self, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        if !self.may_hold(ask.device()) {
            return Ok(NOTHING_BY_CLIENT);
        }
        let selection = Selection { ask: *ask, most_rows: self.shape.rows_of(1, ask.signals) };
        let (mut least, mut point) = (self.no_point(ask.signals), self.no_point(ask.signals));
        let mut bytes = 0;
        let mut take = |device, time, values: &mut dyn Values| {
            take_point(&mut point, device, time, values)?;
            if is_less(&point, &least) {
                std::mem::swap(&mut point, &mut least);
            }
            Ok(ControlFlow::Continue(()))
        };
        each(&mut self.connection, &*self.shape, &selection, &mut bytes, &mut take).await?;
        self.one_point(&least, bytes, sink)
    }

    fn no_point(&self, signals: &[SignalId]) -> Chunk {
        Chunk::new(types(&self.place.table.schema, signals))
    }

    /// Answers with the one datapoint of a chunk, if there is one.
    fn one_point(&self, point: &Chunk, bytes: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
        if !point.is_empty() {
            sink.push(point)?;
        }
        Ok(Reply { rows: point.len() as u64, bytes, computed_by: self.shape.computed_by() })
    }

    async fn count_row(&mut self, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let counts = self.count().await?;
        let is_server = self.place.table.layout == Layout::Wide;
        counts_row(counts, 16, if is_server { ComputedBy::Server } else { ComputedBy::Client }, sink)
    }

    /// Counts what is stored: by the server where a record is a datapoint and no column can be empty, else by reading
    /// it.
    pub(crate) async fn count(&mut self) -> Result<Counts, Error> {
        if self.place.table.layout == Layout::Wide {
            return self.count_wide().await;
        }
        let all_signals = Arc::clone(&self.all_signals);
        let ask = Ask::stretch(Asked::All, &all_signals, Span::ALL);
        let selection = Selection { ask, most_rows: None };
        let (mut counts, mut bytes, mut point) = (Counts::default(), 0, self.no_point(&all_signals));
        let mut take = |device, time, values: &mut dyn Values| {
            take_point(&mut point, device, time, values)?;
            counts.points += 1;
            counts.values += point.columns.iter().filter(|column| column.get(0).is_some()).count() as u64;
            Ok(ControlFlow::Continue(()))
        };
        each(&mut self.connection, &*self.shape, &selection, &mut bytes, &mut take).await?;
        Ok(counts)
    }

    /// Only the columns of signals that are added can be empty.
    async fn count_wide(&mut self) -> Result<Counts, Error> {
        let schema = &self.place.table.schema;
        let mut counted = "COUNT(*)".to_owned();
        let mut added = &[][..];
        if schema.added() > 0 && has_added(&mut self.connection, &self.place.database, &self.place.table).await? {
            added = schema.added_signals();
        }
        added.iter().for_each(|signal| counted.push_str(&format!(", COUNT({})", quoted(&signal.name))));
        let sql = format!("SELECT {counted} FROM {}", self.place.name);
        let row = sqlx::query(&sql).fetch_one(&mut self.connection).await.map_err(|e| classify(&e))?;
        let count = |place| Ok::<_, Error>(u64::try_from(cell::<i64>(&row, place)?).unwrap_or_default());
        let points = count(0)?;
        let of_added = (1..=added.len()).map(count).sum::<Result<u64, Error>>()?;
        Ok(Counts { points, values: points * schema.first_signals().len() as u64 + of_added })
    }

    /// Whether SQL has a question for it; else the client makes the answer of others.
    fn is_native(&self, query: &Query) -> bool {
        let has_columns = self.shape.computed_by() == ComputedBy::Server;
        match query {
            Query::TopDevices { aggregate, .. } => has_columns && function(*aggregate).is_some(),
            // Rows that meet a condition are found in the order of a stretch.
            Query::Descending { of } => descending::is_of_one(query) && matches!(**of, Query::Range { .. }),
            Query::TotalBuckets { .. }
            | Query::TagFigures { .. }
            | Query::Having { .. }
            | Query::Filled { .. }
            | Query::Where { .. }
            | Query::Rollup { .. }
            | Query::Consecutive { .. } => false,
            _ => true,
        }
    }

    /// Whether a query is answered by several statements, which must see one state of the database.
    fn needs_snapshot(&self, ask: &Ask<'_>) -> bool {
        let devices = ask.devices.list().map_or(usize::MAX, <[u32]>::len);
        match (ask.what, ask.order) {
            (What::Figures(_) | What::Buckets(..) | What::FirstOfEach, _) | (_, Order::Newest) => {
                self.place.has_device() && devices > 1
            }
            (What::Datapoints, Order::Stretch) => ask.devices != Asked::All && devices > DEVICES_AT_ONCE,
            _ => false,
        }
    }
}

/// Puts a datapoint in the place of what a chunk holds.
fn take_point(chunk: &mut Chunk, device: u32, time: i64, point: &mut dyn Values) -> Result<(), Error> {
    chunk.clear();
    chunk.devices.push(device);
    chunk.timestamps_ns.push(time);
    point.values(&mut chunk.columns)
}

fn clear(chunk: &mut Chunk) -> ControlFlow<()> {
    chunk.clear();
    ControlFlow::Continue(())
}

/// The only value of a datapoint, as a number.
fn number_of(point: &Chunk) -> Option<f64> {
    point.columns[0].get(0).and_then(|value| value.as_f64())
}

/// Whether a datapoint's only value is less than that of another, or there is no other.
fn is_less(point: &Chunk, other: &Chunk) -> bool {
    match (point.columns[0].get(0), other.columns[0].get(0)) {
        (Some(Value::I64(a)), Some(Value::I64(b))) => a < b,
        (None, _) => false,
        (Some(_), None) => true,
        (Some(_), Some(_)) => number_of(point) < number_of(other),
    }
}

#[async_trait]
impl Reader for MariaDbReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let table = Arc::clone(&self.place.table);
        if !self.is_native(query)
            && let Some(answer) = by_client::answer(self, query, &table.schema, sink).await
        {
            return answer;
        }
        refuse_signals_beyond(query, self.place.table.schema.width())?;
        let all_signals = Arc::clone(&self.all_signals);
        let Some(ask) = Ask::of(query, &all_signals) else { return Ok(NOTHING_BY_CLIENT) };
        let found = self.with_value(&ask).await?;
        let ask = Ask { devices: found.as_deref().map_or(ask.devices, Asked::Some), ..ask };
        if !self.needs_snapshot(&ask) {
            return self.answer(&ask, sink).await;
        }
        execute(&mut self.connection, "START TRANSACTION READ ONLY").await?;
        let reply = self.answer(&ask, sink).await;
        let ended = execute(&mut self.connection, "COMMIT").await;
        reply.and_then(|reply| ended.map(|()| reply))
    }

    async fn statement(&mut self, call: &StatementCall<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.answer_statement(call, sink).await
    }

    async fn tags(&mut self, of: Range<u32>, take: &mut TakeTags<'_>) -> Result<TagsKept, Error> {
        let place = Arc::clone(&self.place);
        devices::read(&mut self.connection, &place.database, &place.table, &of, take).await?;
        Ok(TagsKept::WithDevices)
    }
}
