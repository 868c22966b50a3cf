//! One signal of one device: the first or last that meets a predicate, the least, the greatest, the newest.

use super::decode::time;
use crate::influxdb::{
    client::Client,
    influxql::{Select, Span, condition, devices_condition, field, signals_condition},
};
use iotbench_backend_kit::cell::{Cell, number, value};
use iotbench_core::{Devices, Direction, Error, Predicate, SignalId, TableSpec, TimeRange, ValueType};
use std::{ops::Bound, slice::from_ref};

/// Rows in the first page of a search in the client; each page after it is larger.
const FIRST_PAGE_ROWS: u64 = 256;
const LARGEST_PAGE_ROWS: u64 = 65_536;

/// A datapoint that was found.
pub(crate) type Found = Option<(i64, Cell<'static>)>;

/// One signal of one device.
pub(crate) struct OneSignal<'a> {
    table: &'a TableSpec,
    signal: SignalId,
    device: String,
}

impl<'a> OneSignal<'a> {
    /// `None` when the table cannot hold that device.
    pub(crate) fn new(table: &'a TableSpec, device: u32, signal: SignalId) -> Option<Self> {
        let device = devices_condition(table, &Devices::Some(vec![device]))?;
        Some(Self { table, signal, device })
    }

    fn field(&self) -> String {
        field(self.table, self.signal)
    }

    /// InfluxQL neither compares texts by their numbers nor casts them.
    pub(crate) fn is_text(&self) -> bool {
        self.value_type() == ValueType::Text
    }

    /// The type of its values.
    pub(crate) fn value_type(&self) -> ValueType {
        self.table.schema.signals()[usize::from(self.signal)].value_type
    }

    fn select(&self, what: &str, span: Span) -> Select {
        Select::new(what, self.table)
            .filter(&self.device)
            .filter(&signals_condition(self.table, from_ref(&self.signal)))
            .during(span)
    }

    /// The newest datapoint.
    pub(crate) async fn newest(&self, client: &mut Client) -> Result<(Found, u64), Error> {
        let statement = self.select(&self.field(), Span::ALL).latest_first().limit(1).into_text();
        one(client, &statement).await
    }

    /// The first or last datapoint that meets a predicate.
    pub(crate) async fn nearest(
        &self,
        client: &mut Client,
        predicate: Predicate,
        direction: Direction,
    ) -> Result<(Found, u64), Error> {
        let (range, is_backward) = match direction {
            Direction::FirstAfter(time) => (TimeRange { from: Bound::Excluded(time), to: Bound::Unbounded }, false),
            Direction::LastBefore(time) => (TimeRange { from: Bound::Unbounded, to: Bound::Excluded(time) }, true),
        };
        let Some(span) = Span::of(range) else { return Ok((None, 0)) };
        if self.is_text() {
            return self.search(client, predicate, range, is_backward).await;
        }
        let select = self.select(&self.field(), span).filter(&condition(&self.field(), predicate));
        let select = if is_backward { select.latest_first() } else { select };
        one(client, &select.limit(1).into_text()).await
    }

    /// The same for texts, page by page: no page is left half read.
    async fn search(
        &self,
        client: &mut Client,
        predicate: Predicate,
        mut range: TimeRange,
        is_backward: bool,
    ) -> Result<(Found, u64), Error> {
        let (mut bytes, mut page_rows) = (0, FIRST_PAGE_ROWS);
        while let Some(span) = Span::of(range) {
            let select = self.select(&self.field(), span);
            let select = if is_backward { select.latest_first() } else { select }.limit(page_rows);
            let (mut found, mut rows, mut last) = (None, 0, 0);
            bytes += for_rows(client, &select.into_text(), |at, cell| {
                (rows, last) = (rows + 1, at);
                let number = value(cell, ValueType::Text)?.and_then(|text| text.as_f64());
                if found.is_none() && number.is_some_and(|number| predicate.holds(number)) {
                    found = Some((at, cell.clone().into_owned()));
                }
                Ok(())
            })
            .await?;
            if found.is_some() || rows < page_rows {
                return Ok((found, bytes));
            }
            if is_backward {
                range.to = Bound::Excluded(last);
            } else {
                range.from = Bound::Excluded(last);
            }
            page_rows = (page_rows * 4).min(LARGEST_PAGE_ROWS);
        }
        Ok((None, bytes))
    }

    /// The datapoint with the least value, the earliest of equals.
    pub(crate) async fn minimum(&self, client: &mut Client, span: Span) -> Result<(Found, u64), Error> {
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

    /// The greatest number among the first `limit` datapoints of a stretch; `limit` is not 0.
    pub(crate) async fn max_of_first(
        &self,
        client: &mut Client,
        span: Span,
        limit: u64,
    ) -> Result<(Option<f64>, u64), Error> {
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
