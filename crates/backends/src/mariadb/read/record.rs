//! Reads the layouts with one row a datapoint: wide and document.

use super::{
    ReadTable,
    points::{Points, Shape, Values, cell, decode, figures_sql, number_sql, rank_sql, take_figures, top_sql},
    selection::{Selection, Statement},
};
use crate::mariadb::layout::quoted;
use iotbench_backend_kit::{
    ask::Ask,
    figures::Collected,
    json::read_object,
    span::Span,
    sql::{Grouping, greatest_first},
};
use iotbench_core::{Cause, ComputedBy, Error, Layout, ReplyColumn, SignalId, ValueType};
use sqlx::mysql::MySqlRow;
use std::sync::Arc;

/// One row a datapoint.
pub(crate) struct RecordShape {
    place: Arc<ReadTable>,
}

impl RecordShape {
    pub(crate) fn new(place: Arc<ReadTable>) -> Self {
        Self { place }
    }

    fn is_document(&self) -> bool {
        self.place.table.layout == Layout::Document
    }

    fn signal(&self, signal: SignalId) -> (&str, ValueType) {
        let signal = &self.place.table.schema.signals()[usize::from(signal)];
        (&signal.name, signal.value_type)
    }

    /// The value of a signal as SQL.
    fn value(&self, signal: SignalId) -> String {
        let (name, _) = self.signal(signal);
        if self.is_document() { format!("JSON_VALUE(`doc`, '$.{name}')") } else { quoted(name) }
    }

    fn number(&self, signal: SignalId) -> String {
        let (value, (_, value_type)) = (self.value(signal), self.signal(signal));
        match value_type {
            // The decimal form that was stored is that of the nearest 32-bit number.
            ValueType::F32 if self.is_document() => format!("CAST({value} AS FLOAT)"),
            _ if self.is_document() => format!("({value} + 0e0)"),
            _ => number_sql(&value, value_type),
        }
    }

    fn rank(&self, signal: SignalId) -> String {
        let (value, (_, value_type)) = (self.value(signal), self.signal(signal));
        match value_type {
            ValueType::I64 if self.is_document() => format!("CAST({value} AS SIGNED)"),
            _ if self.is_document() => self.number(signal),
            _ => rank_sql(&value, value_type),
        }
    }

    fn of_stretch(&self, columns: &str, of: &Ask<'_>) -> Result<Statement, Error> {
        let mut statement = Statement::new(format!("SELECT {columns} FROM {} WHERE ", self.place.from));
        self.place.of_devices(&mut statement, of.devices)?;
        statement.of_span(of.span)?;
        Ok(statement)
    }
}

impl Shape for RecordShape {
    fn computed_by(&self) -> ComputedBy {
        ComputedBy::Server
    }

    fn select(&self, &Selection { ask, most_rows }: &Selection<'_>) -> Result<Statement, Error> {
        let has_device = self.place.has_device();
        let mut columns = vec!["`ts`".to_owned()];
        columns.extend(has_device.then(|| "`device`".to_owned()));
        if self.is_document() {
            columns.push("`doc`".into());
        } else {
            columns.extend(ask.signals.iter().map(|&signal| self.value(signal)));
        }
        let mut statement = self.of_stretch(&columns.join(", "), &ask)?;
        if let Some(predicate) = ask.predicate {
            statement.of_filter(&self.number(ask.signal), predicate)?;
        }
        statement.in_order(has_device, &["`ts`"], ask.order, || self.rank(ask.signal));
        statement.limited(most_rows)?;
        Ok(statement)
    }

    fn points(&self, selection: &Selection<'_>) -> Box<dyn Points> {
        let names = selection.ask.signals.iter().map(|&s| self.signal(s).0.to_owned()).collect();
        Box::new(RecordPoints {
            has_device: self.place.has_device(),
            names: self.is_document().then_some(names),
            row: None,
            is_new: false,
            at: (0, 0),
            bytes: 0,
        })
    }

    fn rows_of(&self, points: u64, _signals: &[SignalId]) -> Option<u64> {
        Some(points)
    }

    fn grouped(&self, of: &Ask<'_>, grouping: &Grouping<'_>) -> Result<Statement, Error> {
        let figures = of.signals.iter().map(|&signal| figures_sql(&self.number(signal), grouping));
        let (start, figures) = (grouping.start_of("`ts`"), figures.collect::<String>());
        let mut statement = self.of_stretch(&format!("{start} AS start, COUNT(*){figures}"), of)?;
        if grouping.has_buckets() {
            statement.push(" GROUP BY 1 ORDER BY 1");
        }
        Ok(statement)
    }

    fn take_group(
        &self,
        row: &MySqlRow,
        of: &Ask<'_>,
        grouping: &Grouping<'_>,
        figures: &mut Collected,
    ) -> Result<u64, Error> {
        if cell::<i64>(row, 1)? == 0 {
            return Ok(0);
        }
        let (group, signals) = ((of.device(), cell(row, 0)?), of.signals.len());
        let of_signal = |signal| 2 + signal * grouping.functions().count();
        (0..signals).try_fold(16, |bytes, signal| {
            let of = (group, signal, signals);
            Ok(bytes + take_figures(row, of_signal(signal), of, grouping, figures)?)
        })
    }

    fn top(&self, of: &Ask<'_>, function: &str) -> Result<Statement, Error> {
        let number = self.number(of.signal);
        let mut statement = self.of_stretch(&top_sql(self.place.has_device(), function, &number), of)?;
        statement.push(&greatest_first(&number, of.limit));
        Ok(statement)
    }

    fn greatest(&self, of: &Ask<'_>) -> Result<Option<Statement>, Error> {
        let mut statement = self.of_stretch(&format!("{} AS v", self.number(of.signal)), of)?;
        statement.in_order(self.place.has_device(), &["`ts`"], of.order, String::new);
        statement.limited(Some(of.limit))?;
        statement.sql = format!("SELECT MAX(v + 0e0) FROM ({}) AS first_points", statement.sql);
        Ok(Some(statement))
    }
}

/// Each row is whole as it comes.
struct RecordPoints {
    has_device: bool,
    /// The names of the signals wanted, where a record is a document.
    names: Option<Vec<String>>,
    row: Option<MySqlRow>,
    is_new: bool,
    at: (u32, i64),
    bytes: u64,
}

impl Points for RecordPoints {
    fn push(&mut self, row: Option<MySqlRow>) -> Result<(), Error> {
        self.is_new = row.is_some();
        if let Some(row) = row {
            let device = if self.has_device { cell(&row, 1)? } else { 0 };
            self.at = (device, cell(&row, 0)?);
            self.row = Some(row);
            self.bytes += 8;
        }
        Ok(())
    }

    fn next(&mut self) -> Option<(u32, i64)> {
        std::mem::take(&mut self.is_new).then_some(self.at)
    }

    fn open_times(&self) -> Option<Span> {
        self.row.is_some().then_some(Span { first: self.at.1, last: self.at.1 })
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Values for RecordPoints {
    fn values(&mut self, columns: &mut [ReplyColumn]) -> Result<(), Error> {
        let missing = || Error::new(Cause::Client, "a datapoint was read before or after the rows");
        let row = self.row.as_ref().ok_or_else(missing)?;
        let first = 1 + usize::from(self.has_device);
        if let Some(names) = &self.names {
            let text: &[u8] = cell(row, first)?;
            self.bytes += text.len() as u64;
            return read_object(text, names, columns).map_err(|e| Error::new(Cause::Protocol, e));
        }
        for (place, column) in (first..).zip(columns) {
            column.push(decode(row, place, column.value_type(), &mut self.bytes)?)?;
        }
        Ok(())
    }
}
