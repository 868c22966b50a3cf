//! Reads layout narrow: rows of values put together to datapoints.

use super::{
    ReadTable,
    points::{
        Points, Shape, Values, cell, decode, figures_sql, number_sql, out_of_range, rank_sql, take_figures, top_sql,
    },
    selection::{Selection, Statement},
};
use iotbench_backend_kit::{
    ask::Ask,
    figures::Collected,
    second::join,
    span::Span,
    sql::{Grouping, greatest_first},
};
use iotbench_core::{ComputedBy, Error, ReplyColumn, SignalId, ValueType};
use sqlx::mysql::MySqlRow;
use std::sync::Arc;

/// One row a value.
pub(crate) struct NarrowShape {
    place: Arc<ReadTable>,
    value_type: ValueType,
}

const TIME: [&str; 2] = ["`second`", "`nanosecond`"];
const MEASUREMENT: &str = "`measurement`";

impl NarrowShape {
    pub(crate) fn new(place: Arc<ReadTable>) -> Self {
        let value_type = place.table.schema.uniform_type().unwrap_or(ValueType::Text);
        Self { place, value_type }
    }

    /// The rows asked for, up to the condition on values.
    fn rows(&self, columns: &str, ask: &Ask<'_>) -> Result<Statement, Error> {
        let mut statement = Statement::new(format!("SELECT {columns} FROM {} WHERE ", self.place.from));
        self.place.of_devices(&mut statement, ask.devices)?;
        statement.of_span_in_two(ask.span)?;
        if ask.signals.len() < self.place.table.schema.width() {
            let numbers: Vec<_> = ask.signals.iter().map(ToString::to_string).collect();
            statement.push(&format!(" AND `number` IN ({})", numbers.join(", ")));
        }
        Ok(statement)
    }
}

impl Shape for NarrowShape {
    fn computed_by(&self) -> ComputedBy {
        ComputedBy::Server
    }

    fn select(&self, &Selection { ask, most_rows }: &Selection<'_>) -> Result<Statement, Error> {
        let has_device = self.place.has_device();
        let device = if has_device { ", `device`" } else { "" };
        let columns = format!("`second`, `nanosecond`, `number`, {MEASUREMENT}{device}");
        let mut statement = self.rows(&columns, &ask)?;
        if let Some(predicate) = ask.predicate {
            statement.of_filter(&number_sql(MEASUREMENT, self.value_type), predicate)?;
        }
        statement.in_order(has_device, &TIME, ask.order, || rank_sql(MEASUREMENT, self.value_type));
        statement.limited(most_rows)?;
        Ok(statement)
    }

    fn points(&self, selection: &Selection<'_>) -> Box<dyn Points> {
        let signals = selection.ask.signals;
        let empty = || signals.iter().map(|_| None).collect();
        Box::new(NarrowPoints {
            has_device: self.place.has_device(),
            value_type: self.value_type,
            signals: signals.to_vec(),
            open: Gathered { at: None, rows: empty() },
            whole: Gathered { at: None, rows: empty() },
            is_new: false,
            bytes: 0,
        })
    }

    fn rows_of(&self, points: u64, signals: &[SignalId]) -> Option<u64> {
        Some(points.saturating_mul(signals.len() as u64))
    }

    fn grouped(&self, of: &Ask<'_>, grouping: &Grouping<'_>) -> Result<Statement, Error> {
        let start = grouping.start_of("(`second` * 1000000000 + `nanosecond`)");
        let figures = figures_sql(&number_sql(MEASUREMENT, self.value_type), grouping);
        let mut statement = self.rows(&format!("{start} AS start, `number`{figures}"), of)?;
        statement.push(" GROUP BY 1, 2");
        Ok(statement)
    }

    fn take_group(
        &self,
        row: &MySqlRow,
        of: &Ask<'_>,
        grouping: &Grouping<'_>,
        figures: &mut Collected,
    ) -> Result<u64, Error> {
        let (group, number): (_, u16) = ((of.device(), cell(row, 0)?), cell(row, 1)?);
        let Some(signal) = of.signals.iter().position(|&signal| signal == number) else { return Ok(16) };
        Ok(16 + take_figures(row, 2, (group, signal, of.signals.len()), grouping, figures)?)
    }

    fn top(&self, of: &Ask<'_>, function: &str) -> Result<Statement, Error> {
        let number = number_sql(MEASUREMENT, self.value_type);
        let mut statement = self.rows(&top_sql(self.place.has_device(), function, &number), of)?;
        statement.push(&greatest_first(&number, of.limit));
        Ok(statement)
    }

    fn greatest(&self, of: &Ask<'_>) -> Result<Option<Statement>, Error> {
        let columns = format!("{} AS v", number_sql(MEASUREMENT, self.value_type));
        let mut statement = self.rows(&columns, of)?;
        statement.in_order(self.place.has_device(), &TIME, of.order, String::new);
        statement.limited(Some(of.limit))?;
        statement.sql = format!("SELECT MAX(v + 0e0) FROM ({}) AS first_points", statement.sql);
        Ok(Some(statement))
    }
}

/// The rows of one datapoint, by the place of their signal.
struct Gathered {
    at: Option<(u32, i64)>,
    rows: Vec<Option<MySqlRow>>,
}

/// Puts rows of one time together; a number that comes twice begins another datapoint of that time.
struct NarrowPoints {
    has_device: bool,
    value_type: ValueType,
    signals: Vec<SignalId>,
    open: Gathered,
    whole: Gathered,
    is_new: bool,
    bytes: u64,
}

impl NarrowPoints {
    fn close(&mut self) {
        std::mem::swap(&mut self.open, &mut self.whole);
        self.is_new = self.whole.at.is_some();
        self.open.at = None;
        self.open.rows.fill_with(|| None);
    }
}

impl Points for NarrowPoints {
    fn push(&mut self, row: Option<MySqlRow>) -> Result<(), Error> {
        let Some(row) = row else {
            self.close();
            return Ok(());
        };
        let time = join(cell(&row, 0)?, cell::<i32>(&row, 1)?).ok_or_else(out_of_range)?;
        let at = Some((if self.has_device { cell(&row, 4)? } else { 0 }, time));
        let number: u16 = cell(&row, 2)?;
        let place = self.signals.iter().position(|&signal| signal == number);
        if self.open.at != at || place.is_some_and(|place| self.open.rows[place].is_some()) {
            self.close();
            self.open.at = at;
        }
        if let Some(place) = place {
            self.open.rows[place] = Some(row);
        }
        self.bytes += 14;
        Ok(())
    }

    fn next(&mut self) -> Option<(u32, i64)> {
        if std::mem::take(&mut self.is_new) { self.whole.at } else { None }
    }

    fn open_times(&self) -> Option<Span> {
        self.open.at.map(|(_, time)| Span { first: time, last: time })
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Values for NarrowPoints {
    fn values(&mut self, columns: &mut [ReplyColumn]) -> Result<(), Error> {
        for (column, row) in columns.iter_mut().zip(&self.whole.rows) {
            let value = match row {
                Some(row) => decode(row, 3, self.value_type, &mut self.bytes)?,
                None => None,
            };
            column.push(value)?;
        }
        Ok(())
    }
}
