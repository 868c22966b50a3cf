//! The datapoints of one device, some rows of the table at a time: for what ends nobody knows how soon, since a
//! statement that is not read to its end must be all the same before the connection does anything else.

use super::{points::Shape, selection::Selection, stream::ChunkRow};
use crate::mariadb::error::classify;
use futures_util::TryStreamExt;
use iotbench_backend_kit::{answer::types, ask::Ask, span::Span};
use iotbench_core::{Chunk, Error, Schema};
use sqlx::MySqlConnection;

/// Pages grow from a few rows to this many.
const MAX_ROWS: u64 = 256;

/// A place in the datapoints of one device, with some of them at hand.
pub(crate) struct Pager<'s> {
    ask: Ask<'s>,
    rows: u64,
    /// The times that no page has held.
    left: Option<Span>,
    page: Chunk,
    /// The datapoints of the page that are whole, and the next of them.
    whole: usize,
    next: usize,
    bytes: u64,
}

impl<'s> Pager<'s> {
    /// All datapoints of one device in a span, in ascending or descending order; the first page has so many rows.
    pub(crate) fn new(schema: &Schema, ask: Ask<'s>, rows: u64) -> Self {
        let page = Chunk::new(types(schema, ask.signals));
        Self { ask, rows: rows.max(2), left: Some(ask.span), page, whole: 0, next: 0, bytes: 0 }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn device(&self) -> u32 {
        self.ask.device()
    }

    /// Goes to the next datapoint and says its time.
    pub(crate) async fn next(
        &mut self,
        connection: &mut MySqlConnection,
        shape: &dyn Shape,
    ) -> Result<Option<i64>, Error> {
        while self.next == self.whole {
            let Some(span) = self.left else { return Ok(None) };
            self.turn(connection, shape, span).await?;
        }
        self.next += 1;
        Ok(Some(self.page.timestamps_ns[self.next - 1]))
    }

    /// The values of the present datapoint.
    pub(crate) fn values(&self) -> ChunkRow<'_> {
        ChunkRow { chunk: &self.page, row: self.next - 1 }
    }

    /// Reads the next page. Of one that is full the last times are left to the page after it: their rows may be missing.
    async fn turn(&mut self, connection: &mut MySqlConnection, shape: &dyn Shape, span: Span) -> Result<(), Error> {
        let selection = Selection { ask: Ask { span, ..self.ask }, most_rows: Some(self.rows) };
        let statement = shape.select(&selection)?;
        let mut points = shape.points(&selection);
        self.page.clear();
        let mut count = 0;
        let mut rows = sqlx::query_with(&statement.sql, statement.arguments).fetch(connection);
        loop {
            let row = rows.try_next().await.map_err(|e| classify(&e))?;
            let is_end = row.is_none();
            if is_end && count == self.rows {
                break;
            }
            points.push(row)?;
            while let Some((device, time)) = points.next() {
                self.page.devices.push(device);
                self.page.timestamps_ns.push(time);
                points.values(&mut self.page.columns)?;
            }
            if is_end {
                break;
            }
            count += 1;
        }
        let open = points.open_times().filter(|_| count == self.rows);
        self.bytes += points.bytes();
        self.end_page(span, open);
        Ok(())
    }

    fn end_page(&mut self, span: Span, open: Option<Span>) {
        let times = &self.page.timestamps_ns;
        let is_open = |time: &&i64| open.is_some_and(|open| open.contains(**time));
        self.next = 0;
        self.whole = times.len() - times.iter().rev().take_while(is_open).count();
        self.left = open.map(|open| match self.ask.order.is_descending() {
            true => Span { last: open.last.min(span.last), ..span },
            false => Span { first: open.first.max(span.first), ..span },
        });
        if self.whole == 0 || self.rows < MAX_ROWS {
            self.rows *= 2;
        }
    }
}
