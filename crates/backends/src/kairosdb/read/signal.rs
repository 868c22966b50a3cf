//! Questions about one signal of one device. The server compares numbers; texts are compared here.

use super::points::points;
use crate::kairosdb::{
    client::Client,
    document::Document,
    error::improper,
    question::{ALL, Asked, question},
};
use iotbench_backend_kit::metrics::{Found, Span, ns, number};
use iotbench_core::{Devices, Direction, Error, Predicate, SignalId, TableSpec, TimeRange, ValueType};
use std::ops::Bound;

/// One signal of one device.
pub(crate) struct OneSignal<'t> {
    pub(crate) table: &'t TableSpec,
    pub(crate) device: u32,
    pub(crate) signal: SignalId,
}

impl OneSignal<'_> {
    pub(crate) fn value_type(&self) -> ValueType {
        self.table.schema.signals()[usize::from(self.signal)].value_type
    }

    pub(crate) fn is_text(&self) -> bool {
        self.value_type() == ValueType::Text
    }

    fn asked(&self) -> Asked {
        Asked::new(self.table, self.signal).of(&Devices::Some(vec![self.device]))
    }

    pub(crate) async fn nearest(
        &self,
        client: &mut Client,
        predicate: Predicate,
        direction: Direction,
    ) -> Result<Found, Error> {
        let range = match direction {
            Direction::FirstAfter(time) => TimeRange { from: Bound::Excluded(time), to: Bound::Unbounded },
            Direction::LastBefore(time) => TimeRange { from: Bound::Unbounded, to: Bound::Excluded(time) },
        };
        let Some(span) = ALL.within(range) else { return Ok((None, 0)) };
        if !self.is_text() {
            let which = match direction {
                Direction::FirstAfter(_) => "first",
                Direction::LastBefore(_) => "last",
            };
            return ask_one(client, span, self.asked().that(predicate).figure(which)).await;
        }
        let is_wanted = |_: Option<f64>, number: f64| predicate.holds(number);
        match direction {
            Direction::FirstAfter(_) => {
                self.choose(client, span, |found, n| found.is_none() && is_wanted(found, n)).await
            }
            Direction::LastBefore(_) => self.choose(client, span, is_wanted).await,
        }
    }

    /// The server's least value has the time of the first one: a second question finds its own.
    pub(crate) async fn minimum(&self, client: &mut Client, span: Span) -> Result<Found, Error> {
        if self.is_text() {
            return self.choose(client, span, |found, number| found.is_none_or(|least| number < least)).await;
        }
        let (least, bytes) = ask_one(client, span, self.asked().figure("min")).await?;
        let Some(least) = least.and_then(|(_, cell)| number(&cell)) else { return Ok((None, bytes)) };
        let (found, more) = ask_one(client, span, self.asked().equal_to(least).figure("first")).await?;
        Ok((found, bytes + more))
    }

    pub(crate) async fn max_of_first(&self, client: &mut Client, span: Span, limit: u64) -> Result<Found, Error> {
        let asked = self.asked().limit(limit);
        if !self.is_text() {
            return ask_one(client, span, asked.figure("max")).await;
        }
        self.choose_of(client, span, asked, |found, number| found.is_none_or(|greatest| number > greatest)).await
    }

    pub(crate) async fn newest(&self, client: &mut Client) -> Result<Found, Error> {
        ask_one(client, ALL, self.asked().latest_first().limit(1)).await
    }

    async fn choose(
        &self,
        client: &mut Client,
        span: Span,
        takes: impl Fn(Option<f64>, f64) -> bool,
    ) -> Result<Found, Error> {
        self.choose_of(client, span, self.asked(), takes).await
    }

    /// Goes through all values and keeps the one that `takes` takes last, given the one kept so far.
    async fn choose_of(
        &self,
        client: &mut Client,
        span: Span,
        asked: Asked,
        takes: impl Fn(Option<f64>, f64) -> bool,
    ) -> Result<Found, Error> {
        let choose = |document: &Document<'_>| {
            let mut found = None;
            let mut kept = None;
            points(document, &mut |_, time, cells| {
                let Some(&Some(cell)) = cells.first() else { return Ok(()) };
                let number = number(cell).ok_or_else(|| improper(format!("{cell:?} reads as no number")))?;
                if takes(kept, number) {
                    kept = Some(number);
                    found = Some((time, cell.clone().into_owned()));
                }
                Ok(())
            })?;
            Ok(found)
        };
        client.ask(question(span, &[asked]), choose).await
    }
}

/// The one value that is answered, if any.
async fn ask_one(client: &mut Client, span: Span, asked: Asked) -> Result<Found, Error> {
    let first = |document: &Document<'_>| {
        let mut values = document.queries.iter().flat_map(|m| &m.results).flat_map(|group| &group.values);
        Ok(values.next().map(|value| (ns(value.ms), value.cell.clone().into_owned())))
    };
    client.ask(question(span, &[asked]), first).await
}
