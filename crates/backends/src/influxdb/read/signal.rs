//! One signal of one device: the first or last that meets a predicate, the least, the greatest, the newest.

use super::{decode::time, points::Wanted};
use crate::influxdb::{
    client::Client,
    influxql::{Select, condition, field, signals_condition},
};
use iotbench_backend_kit::{
    ask::{Ask, Order},
    cell::{Cell, number, value},
    span::Span,
};
use iotbench_core::{Error, Predicate, TableSpec, ValueType};

/// Rows in the first page of a search in the client; each page after it is larger.
const FIRST_PAGE_ROWS: u64 = 256;
const LARGEST_PAGE_ROWS: u64 = 65_536;

/// A datapoint that was found.
pub(crate) type Found = Option<(i64, Cell<'static>)>;

/// One signal of one device.
pub(crate) struct OneSignal<'a> {
    pub(crate) table: &'a TableSpec,
    pub(crate) wanted: Wanted<'a>,
}

impl OneSignal<'_> {
    fn field(&self) -> String {
        field(self.table, self.wanted.ask.signal)
    }

    /// InfluxQL neither compares texts by their numbers nor casts them.
    pub(crate) fn is_text(&self) -> bool {
        self.value_type() == ValueType::Text
    }

    /// The type of its values.
    pub(crate) fn value_type(&self) -> ValueType {
        self.table.schema.signals()[usize::from(self.wanted.ask.signal)].value_type
    }

    fn select(&self, what: &str, span: Span) -> Select {
        Select::new(what, self.table)
            .filter(self.wanted.devices)
            .filter(&signals_condition(self.table, self.wanted.ask.signals))
            .during(span)
    }

    /// The values of a span, the one wanted first.
    fn in_order(&self, span: Span, condition: &str) -> Select {
        let select = self.select(&self.field(), span).filter(condition);
        if self.wanted.ask.order == Order::Before { select.latest_first() } else { select }
    }

    /// The first or last datapoint, of those that meet the predicate.
    pub(crate) async fn nearest(&self, client: &mut Client) -> Result<(Found, u64), Error> {
        let Ask { span, predicate, .. } = self.wanted.ask;
        match predicate {
            Some(predicate) if self.is_text() => self.search(client, predicate, span).await,
            predicate => {
                let condition = predicate.map(|predicate| condition(&self.field(), predicate));
                let select = self.in_order(span, &condition.unwrap_or_default());
                one(client, &select.limit(1).into_text()).await
            }
        }
    }

    /// The same for texts, page by page: no page is left half read.
    async fn search(&self, client: &mut Client, predicate: Predicate, mut span: Span) -> Result<(Found, u64), Error> {
        let (mut bytes, mut page_rows) = (0, FIRST_PAGE_ROWS);
        loop {
            let (mut found, mut rows, mut last) = (None, 0, 0);
            bytes += for_rows(client, &self.in_order(span, "").limit(page_rows).into_text(), |at, cell| {
                (rows, last) = (rows + 1, at);
                let number = value(cell, ValueType::Text)?.and_then(|text| text.as_f64());
                if found.is_none() && number.is_some_and(|number| predicate.holds(number)) {
                    found = Some((at, cell.clone().into_owned()));
                }
                Ok(())
            })
            .await?;
            let rest = match self.wanted.ask.order {
                Order::Before => Span { last: last.saturating_sub(1), ..Span::ALL },
                _ => Span::from(last.saturating_add(1)),
            };
            match span.and(rest) {
                Some(rest) if found.is_none() && rows >= page_rows => span = rest,
                _ => return Ok((found, bytes)),
            }
            page_rows = (page_rows * 4).min(LARGEST_PAGE_ROWS);
        }
    }

    /// The datapoint with the least value, the earliest of equals.
    pub(crate) async fn minimum(&self, client: &mut Client) -> Result<(Found, u64), Error> {
        let span = self.wanted.ask.span;
        if !self.is_text() {
            return one(client, &self.select(&format!("min({})", self.field()), span).into_text()).await;
        }
        let (mut least, mut found) = (f64::INFINITY, None);
        let bytes = for_rows(client, &self.select(&self.field(), span).into_text(), |at, cell| {
            let number = value(cell, ValueType::Text)?.and_then(|text| text.as_f64());
            if let Some(number) = number.filter(|number| *number < least) {
                (least, found) = (number, Some((at, cell.clone().into_owned())));
            }
            Ok(())
        })
        .await?;
        Ok((found, bytes))
    }

    /// The greatest number among the first datapoints of a stretch.
    pub(crate) async fn greatest(&self, client: &mut Client) -> Result<(Option<f64>, u64), Error> {
        let Ask { span, limit, .. } = self.wanted.ask;
        let first = self.select(&self.field(), span).limit(limit).into_text();
        let mut greatest: Option<f64> = None;
        let mut note = |number: Option<f64>| {
            greatest = match (greatest, number) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            };
        };
        let bytes = if self.is_text() {
            for_rows(client, &first, |_, cell| {
                note(value(cell, ValueType::Text)?.and_then(|text| text.as_f64()));
                Ok(())
            })
            .await?
        } else {
            let statement = format!("SELECT max({}) FROM ({first})", self.field());
            for_rows(client, &statement, |_, cell| {
                note(number(cell)?);
                Ok(())
            })
            .await?
        };
        Ok((greatest, bytes))
    }
}

/// The one row of an answer.
async fn one(client: &mut Client, statement: &str) -> Result<(Found, u64), Error> {
    let mut found = None;
    let bytes = for_rows(client, statement, |at, cell| {
        found.get_or_insert_with(|| (at, cell.clone().into_owned()));
        Ok(())
    })
    .await?;
    Ok((found, bytes))
}

/// Gives the time and the value of each row to `take`.
async fn for_rows(
    client: &mut Client,
    statement: &str,
    mut take: impl FnMut(i64, &Cell<'_>) -> Result<(), Error> + Send,
) -> Result<u64, Error> {
    client
        .ask(statement, |series| {
            for row in series.rows() {
                take(time(row)?, row.get(1).unwrap_or(&Cell::Null))?;
            }
            Ok(())
        })
        .await
}
