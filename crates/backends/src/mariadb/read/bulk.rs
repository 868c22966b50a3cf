//! Reads layout bulk: the records of one second are united and put in order. What the server cannot index is worked
//! out in the client.

use super::{
    Place,
    points::{Figures, Points, Shape, Stretch, Values, cell, out_of_range},
    selection::{Order, Selection, Statement},
};
use iotbench_backend_kit::{answer::types, span::Span};
use iotbench_backend_kit::{
    json::read_second,
    second::{SECOND_NS, join, split},
};
use iotbench_core::{Cause, Chunk, ComputedBy, Error, ReplyColumn, SignalId};
use sqlx::mysql::MySqlRow;
use std::sync::Arc;

/// One row a device, second and send.
pub(crate) struct BulkShape {
    place: Arc<Place>,
}

impl BulkShape {
    pub(crate) fn new(place: Arc<Place>) -> Self {
        Self { place }
    }
}

impl Shape for BulkShape {
    fn computed_by(&self) -> ComputedBy {
        ComputedBy::Client
    }

    fn select(&self, selection: &Selection<'_>) -> Result<Statement, Error> {
        let has_device = self.place.has_device();
        let device = if has_device { ", `device`" } else { "" };
        let mut statement =
            Statement::new(format!("SELECT `second`, `measurements`{device} FROM {} WHERE ", self.place.from));
        statement.of_devices(has_device, selection.devices)?;
        statement.bind("`second` BETWEEN ?", split(selection.span.first).0)?;
        statement.bind(" AND ?", split(selection.span.last).0)?;
        let order = if selection.order == Order::Descending { Order::Descending } else { Order::Ascending };
        statement.in_order(has_device, &["`second`"], order, |_| String::new());
        statement.limited(selection.most_rows)?;
        Ok(statement)
    }

    fn points(&self, selection: &Selection<'_>) -> Box<dyn Points> {
        let united = Chunk::new(types(&self.place.table.schema, selection.signals));
        Box::new(BulkPoints {
            has_device: self.place.has_device(),
            signals: selection.signals.to_vec(),
            descending: selection.order == Order::Descending,
            span: selection.span,
            first_of_next: None,
            at: None,
            rank: 0,
            united,
            order: Vec::new(),
            next: 0,
            is_whole: false,
            bytes: 0,
        })
    }

    fn rows_of(&self, _points: u64, _signals: &[SignalId]) -> Option<u64> {
        None
    }

    fn figures(&self, _of: Stretch, _signals: &[SignalId]) -> Result<Option<Statement>, Error> {
        Ok(None)
    }

    fn take_figures(&self, _row: &MySqlRow, _signals: &[SignalId], _figures: &mut [Figures]) -> Result<bool, Error> {
        Ok(false)
    }

    fn max_of_first(&self, _of: Stretch, _signal: SignalId, _points: u64) -> Result<Option<Statement>, Error> {
        Ok(None)
    }
}

struct BulkPoints {
    has_device: bool,
    signals: Vec<SignalId>,
    descending: bool,
    span: Span,
    /// The first row of the next second, once it has come.
    first_of_next: Option<MySqlRow>,
    /// Device and second of the records united so far.
    at: Option<(u32, i64)>,
    /// The place of the next record in the order of storing.
    rank: i64,
    /// The datapoints of one device and second, record by record.
    united: Chunk,
    /// Time, rank of the record, and row of those that are wanted.
    order: Vec<(i64, i64, usize)>,
    next: usize,
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
        let first = self.united.timestamps_ns.len();
        read_second(text, &self.signals, &mut self.united).map_err(|e| Error::new(Cause::Protocol, e))?;
        for row in first..self.united.timestamps_ns.len() {
            let time = join(second, self.united.timestamps_ns[row]).ok_or_else(out_of_range)?;
            if self.span.contains(time) {
                self.order.push((time, self.rank, row));
            }
        }
        self.rank += if self.descending { -1 } else { 1 };
        Ok(())
    }

    fn whole(&mut self) {
        self.is_whole = true;
        self.next = 0;
        self.order.sort_unstable();
        if self.descending {
            self.order.reverse();
        }
    }

    /// Begins the next second with its first row.
    fn begin_next(&mut self) -> Result<(), Error> {
        self.united.clear();
        self.order.clear();
        (self.rank, self.is_whole, self.at) = (0, false, None);
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
        let &(time, ..) = self.order.get(self.next).filter(|_| self.is_whole)?;
        self.next += 1;
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
        let row = self.order[self.next - 1].2;
        columns.iter_mut().zip(&self.united.columns).try_for_each(|(to, from)| to.push(from.get(row)))
    }
}
