//! Reads layout bulk: the records of one second are united and put in order. What the server cannot index is worked
//! out in the client.

use super::{
    ReadTable,
    points::{Points, Shape, Values, cell, out_of_range},
    selection::{Selection, Statement},
};
use iotbench_backend_kit::{
    answer::types,
    ask::{Ask, Order},
    assemble::Second,
    figures::Collected,
    json::read_second,
    second::{SECOND_NS, join, split},
    span::Span,
    sql::Grouping,
};
use iotbench_core::{Cause, Chunk, ComputedBy, Error, ReplyColumn, SignalId};
use sqlx::mysql::MySqlRow;
use std::sync::Arc;

/// One row a device, second and send.
pub(crate) struct BulkShape {
    place: Arc<ReadTable>,
}

impl BulkShape {
    pub(crate) fn new(place: Arc<ReadTable>) -> Self {
        Self { place }
    }
}

impl Shape for BulkShape {
    fn computed_by(&self) -> ComputedBy {
        ComputedBy::Client
    }

    fn select(&self, &Selection { ask, most_rows }: &Selection<'_>) -> Result<Statement, Error> {
        let has_device = self.place.has_device();
        let device = if has_device { ", `device`" } else { "" };
        let mut statement =
            Statement::new(format!("SELECT `second`, `measurements`{device} FROM {} WHERE ", self.place.from));
        self.place.of_devices(&mut statement, ask.devices)?;
        statement.bind("`second` BETWEEN ?", split(ask.span.first).0)?;
        statement.bind(" AND ?", split(ask.span.last).0)?;
        // The least value is no column of a record.
        let order = if ask.order == Order::Least { Order::Stretch } else { ask.order };
        statement.in_order(has_device, &["`second`"], order, String::new);
        statement.limited(most_rows)?;
        Ok(statement)
    }

    fn points(&self, Selection { ask, .. }: &Selection<'_>) -> Box<dyn Points> {
        let types = types(&self.place.table.schema, ask.signals);
        Box::new(BulkPoints {
            has_device: self.place.has_device(),
            signals: ask.signals.to_vec(),
            first_of_next: None,
            at: None,
            united: Second::new(types, ask.span, ask.order.is_descending()),
            is_whole: false,
            bytes: 0,
        })
    }

    fn rows_of(&self, _points: u64, _signals: &[SignalId]) -> Option<u64> {
        None
    }

    fn grouped(&self, _of: &Ask<'_>, _grouping: &Grouping<'_>) -> Result<Statement, Error> {
        Err(Error::new(Cause::Client, "the server does not look into the records of layout bulk"))
    }

    fn take_group(
        &self,
        _row: &MySqlRow,
        _of: &Ask<'_>,
        _grouping: &Grouping<'_>,
        _figures: &mut Collected,
    ) -> Result<u64, Error> {
        Ok(0)
    }

    fn top(&self, _of: &Ask<'_>, _function: &str) -> Result<Statement, Error> {
        Err(Error::new(Cause::Client, "the server does not look into the records of layout bulk"))
    }

    fn greatest(&self, _of: &Ask<'_>) -> Result<Option<Statement>, Error> {
        Ok(None)
    }
}

struct BulkPoints {
    has_device: bool,
    signals: Vec<SignalId>,
    /// The first row of the next second, once it has come.
    first_of_next: Option<MySqlRow>,
    /// Device and second of the records united so far.
    at: Option<(u32, i64)>,
    united: Second,
    is_whole: bool,
    bytes: u64,
}

impl BulkPoints {
    fn at_of(&self, row: &MySqlRow) -> Result<(u32, i64), Error> {
        Ok((if self.has_device { cell(row, 2)? } else { 0 }, cell(row, 0)?))
    }

    fn unite(&mut self, row: &MySqlRow) -> Result<(), Error> {
        let (device, second) = self.at_of(row)?;
        self.at = Some((device, second));
        let text: &[u8] = cell(row, 1)?;
        self.bytes += 8 + text.len() as u64;
        let read =
            |united: &mut Chunk| read_second(text, &self.signals, united).map_err(|e| Error::new(Cause::Protocol, e));
        self.united.record(read, |nanosecond| join(second, nanosecond).ok_or_else(out_of_range))
    }

    fn whole(&mut self) {
        self.is_whole = true;
        self.united.put_in_order();
    }

    /// Begins the next second with its first row.
    fn begin_next(&mut self) -> Result<(), Error> {
        self.united.clear();
        (self.is_whole, self.at) = (false, None);
        match self.first_of_next.take() {
            Some(row) => self.unite(&row),
            None => Ok(()),
        }
    }
}

impl Points for BulkPoints {
    fn push(&mut self, row: Option<MySqlRow>) -> Result<(), Error> {
        if self.is_whole {
            self.begin_next()?;
        }
        let Some(row) = row else {
            self.whole();
            return Ok(());
        };
        let at = self.at_of(&row)?;
        if self.at.is_none_or(|present| present == at) {
            return self.unite(&row);
        }
        self.first_of_next = Some(row);
        self.whole();
        Ok(())
    }

    fn next(&mut self) -> Option<(u32, i64)> {
        let time = if self.is_whole { self.united.next_time()? } else { return None };
        self.at.map(|(device, _)| (device, time))
    }

    fn open_times(&self) -> Option<Span> {
        let (_, second) = match &self.first_of_next {
            Some(row) => self.at_of(row).ok()?,
            None => self.at?,
        };
        let first = join(second, 0).unwrap_or(i64::MIN);
        Some(Span { first, last: first.saturating_add(SECOND_NS - 1) })
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Values for BulkPoints {
    fn values(&mut self, columns: &mut [ReplyColumn]) -> Result<(), Error> {
        self.united.values(columns)
    }
}
