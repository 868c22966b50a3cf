//! Questions about one signal of one device. The server compares numbers; texts are compared here.

use super::points::points;
use crate::kairosdb::{
    client::Client,
    document::Document,
    error::improper,
    question::{Asked, question},
};
use iotbench_backend_kit::{
    ask::{Ask, Order},
    metrics::{Found, Millis, ns, number},
};
use iotbench_core::{Error, Predicate, TableSpec, ValueType};

/// One signal of one device.
pub(crate) struct OneSignal<'t> {
    pub(crate) table: &'t TableSpec,
    pub(crate) ask: Ask<'t>,
    pub(crate) span: Millis,
}

impl OneSignal<'_> {
    pub(crate) fn value_type(&self) -> ValueType {
        self.table.schema.signals()[usize::from(self.ask.signal)].value_type
    }

    pub(crate) fn is_text(&self) -> bool {
        self.value_type() == ValueType::Text
    }

    fn asked(&self) -> Asked {
        Asked::new(self.table, self.ask.signal).of(self.ask.devices, self.table.schema.tags())
    }

    /// The first or the last that meets a predicate.
    pub(crate) async fn nearest(&self, client: &mut Client, predicate: Predicate) -> Result<Found, Error> {
        let is_first = self.ask.order == Order::After;
        if !self.is_text() {
            let which = if is_first { "first" } else { "last" };
            return self.ask_one(client, self.asked().that(predicate).figure(which)).await;
        }
        self.choose(client, self.asked(), |kept, number| !(is_first && kept.is_some()) && predicate.holds(number)).await
    }

    /// The server's least value has the time of the first one: a second question finds its own.
    pub(crate) async fn minimum(&self, client: &mut Client) -> Result<Found, Error> {
        if self.is_text() {
            return self.choose(client, self.asked(), |kept, number| kept.is_none_or(|least| number < least)).await;
        }
        let (least, bytes) = self.ask_one(client, self.asked().figure("min")).await?;
        let Some(least) = least.and_then(|(_, cell)| number(&cell)) else { return Ok((None, bytes)) };
        let (found, more) = self.ask_one(client, self.asked().equal_to(least).figure("first")).await?;
        Ok((found, bytes + more))
    }

    /// The greatest of the first so many.
    pub(crate) async fn greatest(&self, client: &mut Client) -> Result<Found, Error> {
        let asked = self.asked().limit(self.ask.limit);
        if !self.is_text() {
            return self.ask_one(client, asked.figure("max")).await;
        }
        self.choose(client, asked, |kept, number| kept.is_none_or(|greatest| number > greatest)).await
    }

    pub(crate) async fn newest(&self, client: &mut Client) -> Result<Found, Error> {
        self.ask_one(client, self.asked().latest_first().limit(1)).await
    }

    /// Goes through all values and keeps the one that `takes` takes last, given the one kept so far.
    async fn choose(
        &self,
        client: &mut Client,
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
        client.ask(question(self.span, &[asked]), choose).await
    }

    /// The one value that is answered, if any.
    async fn ask_one(&self, client: &mut Client, asked: Asked) -> Result<Found, Error> {
        let first = |document: &Document<'_>| {
            let mut values = document.queries.iter().flat_map(|m| &m.results).flat_map(|group| &group.values);
            Ok(values.next().map(|value| (ns(value.ms), value.cell.clone().into_owned())))
        };
        client.ask(question(self.span, &[asked]), first).await
    }
}
