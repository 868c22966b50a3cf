//! Questions about one signal of one device. The server knows no conditions, and tells no time of a figure: values are compared
//! here.

use super::hours::{Hours, MAX_VALUES};
use crate::opentsdb::{client::Client, document::Document, error::improper, question::Asked};
use iotbench_backend_kit::{
    ask::{Ask, Order},
    metrics::{Cell, Found, Millis, ns, number},
    span::Span,
};
use iotbench_core::{Error, Predicate, TableSpec, ValueType};
use std::ops::ControlFlow;

/// One signal of one device.
pub(crate) struct OneSignal<'t> {
    pub(crate) table: &'t TableSpec,
    pub(crate) ask: Ask<'t>,
    pub(crate) span: Millis,
}

/// A value on its way: its time in milliseconds, its cell, and the number that it is.
type Candidate<'c> = (i64, &'c Cell<'c>, f64);

impl OneSignal<'_> {
    pub(crate) fn value_type(&self) -> ValueType {
        self.table.schema.signals()[usize::from(self.ask.signal)].value_type
    }

    /// The first or the last that meets a predicate.
    pub(crate) async fn nearest(&self, client: &mut Client, predicate: Predicate) -> Result<Found, Error> {
        let (span, is_first) = (self.span, self.ask.order == Order::After);
        let hours = Hours::ask(client, self.table, &self.ask, span).await?;
        let (mut pieces, mut bytes) = (hours.pieces(span, MAX_VALUES), hours.bytes);
        if !is_first {
            pieces.reverse();
        }
        for piece in pieces {
            let mut found = None;
            let more = self
                .each(client, piece.span, |(ms, cell, number)| {
                    if !predicate.holds(number) {
                        return ControlFlow::Continue(());
                    }
                    found = Some((ns(ms), cell.clone().into_owned()));
                    if is_first { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                })
                .await?;
            bytes += more;
            if found.is_some() {
                return Ok((found, bytes));
            }
        }
        Ok((None, bytes))
    }

    /// The earliest of the least values.
    pub(crate) async fn minimum(&self, client: &mut Client) -> Result<Found, Error> {
        let hours = Hours::ask(client, self.table, &self.ask, self.span).await?;
        let (mut found, mut least, mut bytes) = (None, f64::INFINITY, hours.bytes);
        for piece in hours.pieces(self.span, MAX_VALUES) {
            let more = self.each(client, piece.span, |(ms, cell, number)| {
                if number < least {
                    least = number;
                    found = Some((ns(ms), cell.clone().into_owned()));
                }
                ControlFlow::Continue(())
            });
            bytes += more.await?;
        }
        Ok((found, bytes))
    }

    /// The greatest of the first values of a span.
    pub(crate) async fn greatest(&self, client: &mut Client) -> Result<(Option<f64>, u64), Error> {
        let Ask { limit, .. } = self.ask;
        let hours = Hours::ask(client, self.table, &self.ask, self.span).await?;
        let (mut greatest, mut left, mut bytes) = (None::<f64>, limit, hours.bytes);
        for piece in hours.pieces(hours.first(self.span, limit), MAX_VALUES) {
            let more = self.each(client, piece.span, |(_, _, number)| {
                if left == 0 {
                    return ControlFlow::Break(());
                }
                left -= 1;
                greatest = Some(greatest.map_or(number, |greatest| greatest.max(number)));
                ControlFlow::Continue(())
            });
            bytes += more.await?;
        }
        Ok((greatest, bytes))
    }

    /// The newest value from a time on that is known not to be after it, or of all.
    pub(crate) async fn newest(&self, client: &mut Client, known: Option<i64>) -> Result<Found, Error> {
        let mut bytes = 0;
        if let Some(span) = known.and_then(|time| self.span.within(Span::from(time))) {
            let (found, more) = self.last(client, span).await?;
            bytes += more;
            if found.is_some() {
                return Ok((found, bytes));
            }
        }
        let hours = Hours::ask(client, self.table, &self.ask, self.span).await?;
        let (found, more) = self.last(client, hours.newest(self.span, 1)).await?;
        Ok((found, bytes + hours.bytes + more))
    }

    async fn last(&self, client: &mut Client, span: Millis) -> Result<Found, Error> {
        let mut found = None;
        let bytes = self
            .each(client, span, |(ms, cell, _)| {
                found = Some((ns(ms), cell.clone().into_owned()));
                ControlFlow::Continue(())
            })
            .await?;
        Ok((found, bytes))
    }

    /// Goes through the values of a span by time, until `take` has enough. Gives the bytes of the answer.
    async fn each(
        &self,
        client: &mut Client,
        span: Millis,
        mut take: impl FnMut(Candidate<'_>) -> ControlFlow<()>,
    ) -> Result<u64, Error> {
        let all = |document: &Document<'_>| {
            for value in document.series().flat_map(|series| series.values) {
                let number = number(&value.cell).ok_or_else(|| improper(format!("{:?} is no number", value.cell)))?;
                if take((value.ms, &value.cell, number)).is_break() {
                    break;
                }
            }
            Ok(())
        };
        let asked = [Asked::of(self.table, self.ask.signal)];
        Ok(client.ask(span, self.ask.devices.list(), &asked, all).await?.1)
    }
}
