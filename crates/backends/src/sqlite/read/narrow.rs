//! Reads layout narrow: rows of values put together to datapoints.

use super::{
    points::{OfDevice, Points, Shape, decode, order_by},
    record::{query_each, query_one},
    selection::{condition, of_device, of_devices, top_columns},
};
use crate::sqlite::error::classify;
use iotbench_backend_kit::{
    ask::Ask,
    figures::Collected,
    second::join,
    sql::{Grouping, Values, greatest_first},
};
use iotbench_core::{Cause, ComputedBy, Consecutive, Error, ReplyColumn, Schema, SignalId, TableSpec, ValueType};
use rusqlite::{Row, Rows, fallible_streaming_iterator::FallibleStreamingIterator, types};
use std::sync::Arc;

/// One row a value.
pub(crate) struct NarrowShape {
    table: Arc<TableSpec>,
}

impl NarrowShape {
    pub(crate) fn new(table: Arc<TableSpec>) -> Self {
        Self { table }
    }

    fn number(&self, signal: SignalId) -> &'static str {
        match self.table.schema.signals()[usize::from(signal)].value_type {
            ValueType::F32 | ValueType::F64 | ValueType::U16 => "measurement",
            ValueType::I64 | ValueType::Text => "CAST(measurement AS REAL)",
        }
    }

    fn rank(&self, signal: SignalId) -> &'static str {
        match self.table.schema.signals()[usize::from(signal)].value_type {
            ValueType::Text => self.number(signal),
            _ => "measurement",
        }
    }

    fn rows_sql(&self, signals: &[SignalId]) -> String {
        self.rows_of(of_device(&self.table), signals)
    }

    /// The rows of devices, by the condition on them.
    fn rows_of(&self, devices: &str, signals: &[SignalId]) -> String {
        let numbers = if signals.len() < self.table.schema.width() {
            let numbers: Vec<_> = signals.iter().map(ToString::to_string).collect();
            format!(" AND number IN ({})", numbers.join(", "))
        } else {
            String::new()
        };
        format!(
            "FROM {} WHERE {devices}(second, nanosecond) >= (:first_second, :first_nanosecond) \
             AND (second, nanosecond) <= (:last_second, :last_nanosecond){numbers}",
            self.table.name
        )
    }
}

const TIME: [&str; 2] = ["second", "nanosecond"];

impl Shape for NarrowShape {
    fn schema(&self) -> &Schema {
        &self.table.schema
    }

    fn computed_by(&self) -> ComputedBy {
        ComputedBy::Server
    }

    fn sql(&self, ask: &Ask<'_>) -> String {
        let filter = ask.predicate.map(|predicate| condition(self.number(ask.signal), predicate));
        format!(
            "SELECT second, nanosecond, number, measurement {}{}{}",
            self.rows_sql(ask.signals),
            filter.unwrap_or_default(),
            order_by(ask, &TIME, |signal| self.rank(signal).into())
        )
    }

    fn points<'r>(&self, rows: Rows<'r>, ask: &Ask<'_>) -> Box<dyn Points + 'r> {
        let slots = vec![None; ask.signals.len()];
        Box::new(NarrowPoints { rows, signals: ask.signals.to_vec(), slots, is_started: false, bytes: 0 })
    }

    fn grouped(
        &self,
        of: OfDevice<'_>,
        grouping: &Grouping<'_>,
        figures: &mut Collected,
        bytes: &mut u64,
    ) -> Result<(), Error> {
        let signals = of.ask.signals;
        let number = signals.first().map_or("measurement", |&signal| self.number(signal));
        let (start, columns) = (grouping.start_of("(second * 1000000000 + nanosecond)"), grouping.columns(number));
        let rows = self.rows_sql(signals);
        let sql = format!("SELECT {start} AS start, number{columns} {rows} GROUP BY 1, 2");
        let width = grouping.aggregates().len() * signals.len();
        query_each(of, &sql, |row| {
            let (group, number): (_, i64) = ((of.device, row.get(0)?), row.get(1)?);
            *bytes += 16;
            let Some(signal) = signals.iter().position(|&signal| i64::from(signal) == number) else { return Ok(()) };
            for (cell, (aggregate, _)) in (2..).zip(grouping.functions()) {
                figures.set(group, aggregate * signals.len() + signal, width, row.get(cell)?);
                *bytes += 8;
            }
            Ok(())
        })
    }

    fn top(&self, ask: &Ask<'_>, function: &str) -> Result<String, Error> {
        let number = self.number(ask.signal);
        let columns = top_columns(&self.table, function, number);
        let rows = self.rows_of(&of_devices(&self.table, ask.devices), ask.signals);
        Ok(format!("SELECT {columns} {rows}{}", greatest_first(number, ask.limit)))
    }

    fn between(&self, ask: &Ask<'_>, what: Consecutive) -> Result<String, Error> {
        let rows = format!("{} AND measurement IS NOT NULL", self.rows_sql(ask.signals));
        let (time, order) = ("(second * 1000000000 + nanosecond)", "second, nanosecond, _rowid_");
        let number = self.number(ask.signal);
        Ok(Values { device: None, rows: &rows, time, order, number, one: "1e0" }.between(what))
    }

    fn greatest(&self, of: OfDevice<'_>, bytes: &mut u64) -> Result<Option<f64>, Error> {
        let limit = i64::try_from(of.ask.limit).unwrap_or(i64::MAX);
        let (number, order) = (self.number(of.ask.signal), order_by(of.ask, &TIME, |_| String::new()));
        let rows = self.rows_sql(of.ask.signals);
        let sql = format!("SELECT max(v) FROM (SELECT {number} AS v {rows}{order} LIMIT {limit})");
        *bytes += 8;
        query_one(of, &sql, |row| row.get(0))
    }
}

/// Puts rows of one time together; a number that comes twice begins another datapoint of that time.
struct NarrowPoints<'r> {
    rows: Rows<'r>,
    signals: Vec<SignalId>,
    slots: Vec<Option<types::Value>>,
    /// The first row was reached; from then on the present row is the first of the next datapoint.
    is_started: bool,
    bytes: u64,
}

impl NarrowPoints<'_> {
    /// The present row's second and nanosecond.
    fn time(&self) -> rusqlite::Result<Option<(i64, i64)>> {
        self.rows.get().map(|row| Ok((row.get(0)?, row.get(1)?))).transpose()
    }

    /// The place of the present row's number among the signals.
    fn place(&self, row: &Row<'_>) -> rusqlite::Result<Option<usize>> {
        let number: i64 = row.get(2)?;
        Ok(self.signals.iter().position(|&signal| i64::from(signal) == number))
    }

    fn gather(&mut self) -> rusqlite::Result<Option<(i64, i64)>> {
        if !self.is_started {
            self.rows.advance()?;
            self.is_started = true;
        }
        self.slots.fill(None);
        let time = self.time()?;
        while let Some(row) = self.rows.get() {
            let place = self.place(row)?;
            if self.time()? != time || place.is_some_and(|place| self.slots[place].is_some()) {
                break;
            }
            if let Some(place) = place {
                self.slots[place] = Some(row.get(3)?);
            }
            self.bytes += 24;
            self.rows.advance()?;
        }
        Ok(time)
    }
}

impl Points for NarrowPoints<'_> {
    fn next(&mut self) -> Result<Option<i64>, Error> {
        let time = self.gather().map_err(|e| classify(&e))?;
        let out_of_range = || Error::new(Cause::Protocol, "a stored second is out of range");
        time.map(|(second, nanosecond)| join(second, nanosecond).ok_or_else(out_of_range)).transpose()
    }

    fn values(&mut self, columns: &mut [ReplyColumn]) -> Result<(), Error> {
        for (column, slot) in columns.iter_mut().zip(&self.slots) {
            let value = match slot {
                Some(value) => decode(value.into(), column.value_type(), &mut self.bytes)?,
                None => None,
            };
            column.push(value)?;
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
