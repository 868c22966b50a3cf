//! Reads the layouts with one row a datapoint: wide and document.

use super::{
    points::{OfDevice, Points, Shape, decode, order_by},
    selection::{bind, condition, of_device, of_devices, top_columns},
};
use crate::sqlite::{error::classify, layout::quoted};
use iotbench_backend_kit::{
    ask::Ask,
    figures::Collected,
    json::read_object,
    sql::{Grouping, Values, greatest_first},
};
use iotbench_core::{
    Cause, ComputedBy, Consecutive, Counts, Error, Layout, ReplyColumn, Schema, SignalId, TableSpec, ValueType,
};
use rusqlite::{Connection, Row, Rows, types::ValueRef};
use std::sync::Arc;

/// Figures in one query: with the columns beside them they stay below SQLite's limit of 2000.
const FIGURES_AT_ONCE: usize = 1800;

/// One row a datapoint.
pub(crate) struct RecordShape {
    table: Arc<TableSpec>,
}

impl RecordShape {
    pub(crate) fn new(table: Arc<TableSpec>) -> Self {
        Self { table }
    }

    fn signal(&self, signal: SignalId) -> (&str, ValueType) {
        let signal = &self.table.schema.signals()[usize::from(signal)];
        (&signal.name, signal.value_type)
    }

    /// The value of a signal as SQL.
    fn value(&self, signal: SignalId) -> String {
        let (name, _) = self.signal(signal);
        if self.table.layout == Layout::Document { format!("json_extract(doc, '$.{name}')") } else { quoted(name) }
    }

    /// The value of a signal as a number that is compared as [`iotbench_core::Value::as_f64`] says.
    fn number(&self, signal: SignalId) -> String {
        let value = self.value(signal);
        match self.signal(signal).1 {
            ValueType::F32 | ValueType::F64 | ValueType::U16 => value,
            ValueType::I64 | ValueType::Text => format!("CAST({value} AS REAL)"),
        }
    }

    /// The value of a signal as what its values are ordered by.
    fn rank(&self, signal: SignalId) -> String {
        if self.signal(signal).1 == ValueType::Text { self.number(signal) } else { self.value(signal) }
    }

    fn rows_sql(&self) -> String {
        self.rows_of(of_device(&self.table))
    }

    /// The rows of devices, by the condition on them.
    fn rows_of(&self, devices: &str) -> String {
        format!("FROM {} WHERE {devices}ts BETWEEN :first AND :last", self.table.name)
    }
}

impl Shape for RecordShape {
    fn schema(&self) -> &Schema {
        &self.table.schema
    }

    fn computed_by(&self) -> ComputedBy {
        ComputedBy::Server
    }

    fn sql(&self, ask: &Ask<'_>) -> String {
        let payload = match self.table.layout {
            Layout::Document => "doc".into(),
            _ => ask.signals.iter().map(|&s| self.value(s)).collect::<Vec<_>>().join(", "),
        };
        let filter = ask.predicate.map(|predicate| condition(&self.number(ask.signal), predicate));
        let order = order_by(ask, &["ts"], |signal| self.rank(signal));
        format!("SELECT ts, {payload} {}{}{order}", self.rows_sql(), filter.unwrap_or_default())
    }

    fn points<'r>(&self, rows: Rows<'r>, ask: &Ask<'_>) -> Box<dyn Points + 'r> {
        if self.table.layout == Layout::Document {
            let names = ask.signals.iter().map(|&s| self.signal(s).0.to_owned()).collect();
            Box::new(DocumentPoints { rows, names, bytes: 0 })
        } else {
            Box::new(WidePoints { rows, bytes: 0 })
        }
    }

    fn grouped(
        &self,
        of: OfDevice<'_>,
        grouping: &Grouping<'_>,
        figures: &mut Collected,
        bytes: &mut u64,
    ) -> Result<(), Error> {
        let (signals, start) = (of.ask.signals, grouping.start_of("ts"));
        let (at_once, width) = (grouping.functions().count(), grouping.aggregates().len() * signals.len());
        let at_once = FIGURES_AT_ONCE / at_once.max(1);
        for (chunk, of_chunk) in signals.chunks(at_once).enumerate() {
            let columns: String = of_chunk.iter().map(|&signal| grouping.columns(&self.number(signal))).collect();
            let groups = if grouping.has_buckets() { " GROUP BY 1 ORDER BY 1" } else { "" };
            let sql = format!("SELECT {start}, count(*){columns} {}{groups}", self.rows_sql());
            query_each(of, &sql, |row| {
                if row.get::<_, i64>(1)? == 0 {
                    return Ok(());
                }
                let (group, mut cell) = ((of.device, row.get(0)?), 2);
                *bytes += 16;
                for signal in (chunk * at_once..).take(of_chunk.len()) {
                    for (aggregate, _) in grouping.functions() {
                        figures.set(group, aggregate * signals.len() + signal, width, row.get(cell)?);
                        (cell, *bytes) = (cell + 1, *bytes + 8);
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn top(&self, ask: &Ask<'_>, function: &str) -> Result<String, Error> {
        let number = self.number(ask.signal);
        let columns = top_columns(&self.table, function, &number);
        let rows = self.rows_of(&of_devices(&self.table, ask.devices));
        Ok(format!("SELECT {columns} {rows}{}", greatest_first(&number, ask.limit)))
    }

    fn between(&self, ask: &Ask<'_>, what: Consecutive) -> Result<String, Error> {
        let rows = format!("{} AND {} IS NOT NULL", self.rows_sql(), self.value(ask.signal));
        let (order, number) = ("ts, _rowid_", &*self.number(ask.signal));
        let values = Values { device: None, rows: &rows, time: "ts", order, number, one: "1e0" };
        Ok(values.between(what))
    }

    fn greatest(&self, of: OfDevice<'_>, bytes: &mut u64) -> Result<Option<f64>, Error> {
        let limit = i64::try_from(of.ask.limit).unwrap_or(i64::MAX);
        let (number, order) = (self.number(of.ask.signal), order_by(of.ask, &["ts"], |_| String::new()));
        let sql = format!("SELECT max(v) FROM (SELECT {number} AS v {}{order} LIMIT {limit})", self.rows_sql());
        *bytes += 8;
        query_one(of, &sql, |row| row.get(0))
    }
}

/// The one row of a query with parameters of [`bind`].
pub(crate) fn query_one<T>(
    of: OfDevice<'_>,
    sql: &str,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<T, Error> {
    let run = || {
        let mut statement = of.connection.prepare_cached(sql)?;
        bind(&mut statement, of.device, of.ask)?;
        let mut rows = statement.raw_query();
        rows.next()?.map_or(Err(rusqlite::Error::QueryReturnedNoRows), read)
    };
    run().map_err(|e| classify(&e))
}

/// Each row of a query with parameters of [`bind`].
pub(crate) fn query_each(
    of: OfDevice<'_>,
    sql: &str,
    mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> Result<(), Error> {
    let mut run = || {
        let mut statement = of.connection.prepare_cached(sql)?;
        bind(&mut statement, of.device, of.ask)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            read(row)?;
        }
        Ok(())
    };
    run().map_err(|e| classify(&e))
}

struct WidePoints<'r> {
    rows: Rows<'r>,
    bytes: u64,
}

impl Points for WidePoints<'_> {
    fn next(&mut self) -> Result<Option<i64>, Error> {
        next_time(&mut self.rows)
    }

    fn values(&mut self, columns: &mut [ReplyColumn]) -> Result<(), Error> {
        let row = present(&self.rows)?;
        self.bytes += 8;
        for (place, column) in (1..).zip(columns) {
            let cell = row.get_ref(place).map_err(|e| classify(&e))?;
            column.push(decode(cell, column.value_type(), &mut self.bytes)?)?;
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

struct DocumentPoints<'r> {
    rows: Rows<'r>,
    names: Vec<String>,
    bytes: u64,
}

impl Points for DocumentPoints<'_> {
    fn next(&mut self) -> Result<Option<i64>, Error> {
        next_time(&mut self.rows)
    }

    fn values(&mut self, columns: &mut [ReplyColumn]) -> Result<(), Error> {
        let row = present(&self.rows)?;
        let text = text_of(row, 1)?;
        self.bytes += 8 + text.len() as u64;
        read_object(text, &self.names, columns).map_err(|e| Error::new(Cause::Protocol, e))
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

fn next_time(rows: &mut Rows<'_>) -> Result<Option<i64>, Error> {
    rows.next().and_then(|row| row.map(|row| row.get(0)).transpose()).map_err(|e| classify(&e))
}

/// The row that the last step led to.
pub(crate) fn present<'a, 'r>(rows: &'a Rows<'r>) -> Result<&'a Row<'r>, Error> {
    use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator;
    rows.get().ok_or_else(|| Error::new(Cause::Client, "a datapoint was read before or after the rows"))
}

/// A cell that holds text.
pub(crate) fn text_of<'a>(row: &'a Row<'_>, place: usize) -> Result<&'a [u8], Error> {
    match row.get_ref(place).map_err(|e| classify(&e))? {
        ValueRef::Text(text) => Ok(text),
        other => Err(Error::new(Cause::Protocol, format!("a JSON cell holds {other:?}"))),
    }
}

/// Counts rows, and in each column the values.
pub(crate) fn count_wide(connection: &Connection, table: &TableSpec) -> rusqlite::Result<Counts> {
    let has_added = has_added(connection, table)?;
    let signals = if has_added { table.schema.signals() } else { table.schema.first_signals() };
    let values: Vec<_> = signals.iter().map(|s| format!("count({})", quoted(&s.name))).collect();
    let sql = format!("SELECT count(*), {} FROM {}", values.join(", "), table.name);
    connection.query_row(&sql, [], |row| {
        let values = (1..=signals.len()).map(|place| row.get::<_, u64>(place));
        Ok(Counts { points: row.get(0)?, values: values.sum::<rusqlite::Result<u64>>()? })
    })
}

/// Whether the table has the columns of the signals that are added.
pub(crate) fn has_added(connection: &Connection, table: &TableSpec) -> rusqlite::Result<bool> {
    let mut find = connection.prepare_cached("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2")?;
    let mut added = table.schema.added_signals().iter();
    added.try_fold(true, |all, signal| Ok(all && find.exists([table.name.as_str(), &signal.name])?))
}
