//! One connection that reads: every query.

mod bulk;
mod figures;
mod narrow;
mod newest;
mod pager;
#[cfg(test)]
mod plans;
mod points;
mod record;
mod selection;
mod stream;

use super::{
    error::classify,
    layout::{index_name, qualified, quoted},
    server::execute,
};
use async_trait::async_trait;
use bulk::BulkShape;
use iotbench_backend_kit::{
    answer::{Answer, NOTHING_BY_CLIENT, counts_row, types},
    refuse::refuse_signals_beyond,
    span::Span,
};
use iotbench_core::{
    Chunk, ComputedBy, Counts, Devices, Direction, Error, Layout, Predicate, Query, Reader, Reply, SignalId, Sink,
    TableSpec, Value,
};
use narrow::NarrowShape;
use pager::Pager;
use points::{Shape, Values, cell};
use record::RecordShape;
use selection::{Order, Selection};
use sqlx::MySqlConnection;
use std::{ops::ControlFlow, slice::from_ref, sync::Arc};
use stream::{Take, each};

/// Devices in one statement.
const DEVICES_AT_ONCE: usize = 1000;
/// Rows of the first page where nobody knows how many datapoints a row holds.
const FIRST_ROWS: u64 = 4;

/// The table that is read.
pub(crate) struct Place {
    pub(crate) table: Arc<TableSpec>,
    /// Its name in the database.
    pub(crate) name: String,
    /// Its name and, where there is one, the index: its order is that of the answers, equal times as they were stored.
    pub(crate) from: String,
}

impl Place {
    pub(crate) fn new(database: &str, table: Arc<TableSpec>, has_index: bool) -> Self {
        let name = qualified(database, &table);
        let from = match has_index {
            true => format!("{name} FORCE INDEX ({})", quoted(&index_name(&table))),
            false => name.clone(),
        };
        Self { table, name, from }
    }

    pub(crate) fn has_device(&self) -> bool {
        self.table.has_device_column()
    }
}

/// A connection that answers queries.
pub(crate) struct MariaDbReader {
    connection: MySqlConnection,
    place: Arc<Place>,
    shape: Box<dyn Shape>,
    all_signals: Arc<[SignalId]>,
}

impl MariaDbReader {
    pub(crate) fn new(connection: MySqlConnection, place: Place) -> Self {
        let place = Arc::new(place);
        let shape: Box<dyn Shape> = match place.table.layout {
            Layout::Wide | Layout::Document => Box::new(RecordShape::new(Arc::clone(&place))),
            Layout::Narrow => Box::new(NarrowShape::new(Arc::clone(&place))),
            Layout::Bulk => Box::new(BulkShape::new(Arc::clone(&place))),
        };
        let all_signals = (0..).take(place.table.schema.width()).collect();
        Self { connection, place, shape, all_signals }
    }

    async fn answer(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        refuse_signals_beyond(query, self.place.table.schema.width())?;
        let all_signals = Arc::clone(&self.all_signals);
        match query {
            Query::Range { devices, signals, range } => match Span::of(*range) {
                Some(span) => self.range(devices, signals, span, sink).await,
                None => Ok(NOTHING_BY_CLIENT),
            },
            Query::Scan => self.range(&Devices::All, &all_signals, Span::ALL, sink).await,
            Query::Records { device, from_ns, limit } => self.records(*device, *from_ns, *limit, sink).await,
            Query::Nearest { device, signal, predicate, direction } => {
                self.nearest(*device, *signal, *predicate, *direction, sink).await
            }
            Query::Minimum { device, signal, range } => match Span::of(*range) {
                Some(span) => self.minimum(*device, *signal, span, sink).await,
                None => Ok(NOTHING_BY_CLIENT),
            },
            Query::Newest { devices, limit } => self.newest(devices, &all_signals, *limit, sink).await,
            Query::NewestVisible { device, signal } => {
                self.newest(&Devices::Some(vec![*device]), from_ref(signal), 1, sink).await
            }
            Query::MaxOfFirst { device, signal, from_ns, limit } => {
                self.max_of_first(*device, *signal, *from_ns, *limit, sink).await
            }
            Query::Aggregates { devices, signals, aggregates, range } => match Span::of(*range) {
                Some(span) => self.aggregates(devices, signals, aggregates, span, sink).await,
                None => Ok(NOTHING_BY_CLIENT),
            },
            Query::Count => self.count_row(sink).await,
        }
    }

    /// Whether a device may be stored in this table.
    fn may_hold(&self, device: u32) -> bool {
        self.place.has_device() || device == 0
    }

    /// The devices asked for, ascending; all means those that are stored.
    async fn devices(&mut self, devices: &Devices) -> Result<Vec<u32>, Error> {
        match devices {
            Devices::Some(list) => Ok(list.iter().copied().filter(|&device| self.may_hold(device)).collect()),
            Devices::All if !self.place.has_device() => Ok(vec![0]),
            Devices::All => {
                let sql = format!("SELECT DISTINCT `device` FROM {} ORDER BY `device`", self.place.from);
                let rows = sqlx::query(&sql).fetch_all(&mut self.connection).await.map_err(|e| classify(&e))?;
                rows.iter().map(|row| cell(row, 0)).collect()
            }
        }
    }

    async fn range(
        &mut self,
        devices: &Devices,
        signals: &[SignalId],
        span: Span,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, types(&self.place.table.schema, signals));
        let listed: Vec<Option<&[u32]>> = match devices {
            Devices::All => vec![None],
            Devices::Some(list) if self.place.has_device() => list.chunks(DEVICES_AT_ONCE).map(Some).collect(),
            Devices::Some(list) => list.contains(&0).then_some(None).into_iter().collect(),
        };
        let mut bytes = 0;
        for devices in listed {
            let selection =
                Selection { devices, span, signals, order: Order::Ascending, filter: None, most_rows: None };
            let mut take = |device, time, point: &mut dyn Values| {
                answer.row(device, time, |columns| point.values(columns))?;
                Ok(ControlFlow::Continue(()))
            };
            each(&mut self.connection, &*self.shape, &selection, &mut bytes, &mut take).await?;
        }
        answer.finish(bytes, ComputedBy::Server)
    }

    async fn records(&mut self, device: u32, from_ns: i64, limit: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let all_signals = Arc::clone(&self.all_signals);
        let mut answer = Answer::new(sink, types(&self.place.table.schema, &all_signals));
        let mut bytes = 0;
        let selection =
            Selection { order: Order::Ascending, ..self.of_device(&device, Span::from(from_ns), &all_signals) };
        self.first_points(&selection, limit, &mut bytes, &mut |device, time, point| {
            answer.row(device, time, |columns| point.values(columns))?;
            Ok(ControlFlow::Continue(()))
        })
        .await?;
        answer.finish(bytes, self.shape.computed_by())
    }

    fn of_device<'a>(&self, device: &'a u32, span: Span, signals: &'a [SignalId]) -> Selection<'a> {
        let devices = Some(from_ref(device));
        Selection { devices, span, signals, order: Order::Ascending, filter: None, most_rows: None }
    }

    /// Gives at most `limit` datapoints of one device to `take`, until that breaks: by one statement where a number of
    /// rows means a number of datapoints, else page by page.
    async fn first_points(
        &mut self,
        selection: &Selection<'_>,
        limit: u64,
        bytes: &mut u64,
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        let device = selection.devices.and_then(<[u32]>::first).copied().unwrap_or(0);
        if limit == 0 || !self.may_hold(device) {
            return Ok(());
        }
        let mut left = limit;
        if let Some(rows) = self.shape.rows_of(limit, selection.signals) {
            let selection = Selection { most_rows: Some(rows), ..*selection };
            let mut counted = |device, time, point: &mut dyn Values| {
                left -= 1;
                let flow = take(device, time, point)?;
                Ok(if left == 0 { ControlFlow::Break(()) } else { flow })
            };
            return each(&mut self.connection, &*self.shape, &selection, bytes, &mut counted).await;
        }
        let schema = &self.place.table.schema;
        let mut pager = Pager::new(schema, device, selection.span, selection.signals, selection.order, FIRST_ROWS);
        while left > 0
            && let Some(time) = pager.next(&mut self.connection, &*self.shape).await?
        {
            left -= 1;
            if take(device, time, &mut pager.values())?.is_break() {
                break;
            }
        }
        *bytes += pager.bytes();
        Ok(())
    }

    async fn nearest(
        &mut self,
        device: u32,
        signal: SignalId,
        predicate: Predicate,
        direction: Direction,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let (order, span) = match direction {
            Direction::FirstAfter(time) => (Order::Ascending, time.checked_add(1).map(Span::from)),
            Direction::LastBefore(time) => {
                (Order::Descending, time.checked_sub(1).map(|last| Span { last, ..Span::ALL }))
            }
        };
        let Some(span) = span else { return Ok(NOTHING_BY_CLIENT) };
        let signals = [signal];
        let is_tested_by_server = self.shape.computed_by() == ComputedBy::Server;
        let limit = if is_tested_by_server { 1 } else { u64::MAX };
        let filter = is_tested_by_server.then_some((signal, predicate));
        let selection = Selection { order, filter, ..self.of_device(&device, span, &signals) };
        let mut found = self.no_point(&signals);
        let mut bytes = 0;
        self.first_points(&selection, limit, &mut bytes, &mut |device, time, point| {
            take_point(&mut found, device, time, point)?;
            let holds = number_of(&found).is_some_and(|number| predicate.holds(number));
            Ok(if holds || is_tested_by_server { ControlFlow::Break(()) } else { clear(&mut found) })
        })
        .await?;
        self.one_point(&found, bytes, sink)
    }

    async fn minimum(
        &mut self,
        device: u32,
        signal: SignalId,
        span: Span,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        if !self.may_hold(device) {
            return Ok(NOTHING_BY_CLIENT);
        }
        let signals = [signal];
        let selection = Selection {
            order: Order::LeastFirst(signal),
            most_rows: self.shape.rows_of(1, &signals),
            ..self.of_device(&device, span, &signals)
        };
        let (mut least, mut point) = (self.no_point(&signals), self.no_point(&signals));
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
            let sql = format!("SELECT COUNT(*) FROM {}", self.place.name);
            let row = sqlx::query(&sql).fetch_one(&mut self.connection).await.map_err(|e| classify(&e))?;
            let points = u64::try_from(cell::<i64>(&row, 0)?).unwrap_or_default();
            return Ok(Counts { points, values: points * self.place.table.schema.width() as u64 });
        }
        let all_signals = Arc::clone(&self.all_signals);
        let selection = Selection { devices: None, ..self.of_device(&0, Span::ALL, &all_signals) };
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

    /// Whether a query is answered by several statements, which must see one state of the database.
    fn needs_snapshot(&self, query: &Query) -> bool {
        let is_one = |devices: &Devices| matches!(devices, Devices::Some(list) if list.len() <= 1);
        match query {
            Query::Range { devices: Devices::Some(list), .. } => list.len() > DEVICES_AT_ONCE,
            Query::Aggregates { devices, .. } | Query::Newest { devices, .. } => {
                self.place.has_device() && !is_one(devices)
            }
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
        if !self.needs_snapshot(query) {
            return self.answer(query, sink).await;
        }
        execute(&mut self.connection, "START TRANSACTION READ ONLY").await?;
        let reply = self.answer(query, sink).await;
        let ended = execute(&mut self.connection, "COMMIT").await;
        reply.and_then(|reply| ended.map(|()| reply))
    }
}
