//! Reads layout bulk: the records of one second are united and put in order. What SQLite cannot index is worked out
//! here.

use super::{
    points::{OfDevice, Points, Shape, for_each},
    record::{present, text_of},
    selection::of_device,
};
use crate::sqlite::error::classify;
use iotbench_backend_kit::{
    answer::types, ask::Ask, assemble::Second, figures::Collected, json::read_second, second::join, sql::Grouping,
};
use iotbench_core::{Cause, Chunk, ComputedBy, Consecutive, Error, ReplyColumn, Schema, SignalId, TableSpec};
use rusqlite::{Rows, fallible_streaming_iterator::FallibleStreamingIterator};
use std::{ops::ControlFlow, sync::Arc};

/// One row a device, second and send.
pub(crate) struct BulkShape {
    table: Arc<TableSpec>,
}

impl BulkShape {
    pub(crate) fn new(table: Arc<TableSpec>) -> Self {
        Self { table }
    }
}

impl Shape for BulkShape {
    fn schema(&self) -> &Schema {
        &self.table.schema
    }

    fn computed_by(&self) -> ComputedBy {
        ComputedBy::Client
    }

    fn sql(&self, ask: &Ask<'_>) -> String {
        let direction = if ask.order.is_descending() { " DESC" } else { "" };
        format!(
            "SELECT second, measurements FROM {} WHERE {}second BETWEEN :first_second AND :last_second \
             ORDER BY second{direction}, _rowid_{direction}",
            self.table.name,
            of_device(&self.table)
        )
    }

    fn points<'r>(&self, rows: Rows<'r>, ask: &Ask<'_>) -> Box<dyn Points + 'r> {
        let types = types(&self.table.schema, ask.signals);
        Box::new(BulkPoints {
            rows,
            is_started: false,
            signals: ask.signals.to_vec(),
            united: Second::new(types, ask.span, ask.order.is_descending()),
            bytes: 0,
        })
    }

    fn grouped(&self, _: OfDevice<'_>, _: &Grouping<'_>, _: &mut Collected, _: &mut u64) -> Result<(), Error> {
        Err(Error::new(Cause::Client, "SQLite does not look into the records of layout bulk"))
    }

    fn top(&self, _: &Ask<'_>, _: &str) -> Result<String, Error> {
        Err(Error::new(Cause::Client, "SQLite does not look into the records of layout bulk"))
    }

    fn between(&self, _: &Ask<'_>, _: Consecutive) -> Result<String, Error> {
        Err(Error::new(Cause::Client, "SQLite does not look into the records of layout bulk"))
    }

    fn greatest(&self, of: OfDevice<'_>, bytes: &mut u64) -> Result<Option<f64>, Error> {
        let (mut max, mut left) = (None::<f64>, of.ask.limit);
        for_each(self, of, bytes, |point| {
            if left == 0 {
                return Ok(ControlFlow::Break(()));
            }
            left -= 1;
            if let Some(number) = point.columns[0].get(0).and_then(|v| v.as_f64()) {
                max = Some(max.map_or(number, |max| max.max(number)));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(max)
    }
}

struct BulkPoints<'r> {
    rows: Rows<'r>,
    /// The first row was reached; from then on the present row is the first of the next second.
    is_started: bool,
    signals: Vec<SignalId>,
    united: Second,
    bytes: u64,
}

impl BulkPoints<'_> {
    /// Reads all records of the next second; false when there is none.
    fn unite(&mut self) -> Result<bool, Error> {
        let failed = |e: rusqlite::Error| classify(&e);
        self.united.clear();
        if !self.is_started {
            self.rows.advance().map_err(failed)?;
            self.is_started = true;
        }
        let mut present_second = None;
        while self.rows.get().is_some() {
            let row = present(&self.rows)?;
            let second: i64 = row.get(0).map_err(failed)?;
            if *present_second.get_or_insert(second) != second {
                break;
            }
            let text = text_of(row, 1)?;
            self.bytes += 8 + text.len() as u64;
            let read = |united: &mut Chunk| {
                read_second(text, &self.signals, united).map_err(|e| Error::new(Cause::Protocol, e))
            };
            self.united.record(read, |nanosecond| {
                join(second, nanosecond).ok_or_else(|| Error::new(Cause::Protocol, "a stored second is out of range"))
            })?;
            self.rows.advance().map_err(failed)?;
        }
        self.united.put_in_order();
        Ok(present_second.is_some())
    }
}

impl Points for BulkPoints<'_> {
    fn next(&mut self) -> Result<Option<i64>, Error> {
        loop {
            if let Some(time) = self.united.next_time() {
                return Ok(Some(time));
            }
            if !self.unite()? {
                return Ok(None);
            }
        }
    }

    fn values(&mut self, columns: &mut [ReplyColumn]) -> Result<(), Error> {
        self.united.values(columns)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
