//! Figures of signals, device by device: worked out by the server.

use crate::kairosdb::{
    client::Client,
    document::Document,
    error::improper,
    question::{Asked, question},
};
use iotbench_backend_kit::{
    ask::Ask,
    figures::Collected,
    metrics::{Millis, name_of, number},
};
use iotbench_core::{Aggregate, ComputedBy, Error, Reply, Sink, TableSpec};

/// Which figures are wanted.
pub(crate) struct Wish<'a> {
    pub(crate) ask: Ask<'a>,
    pub(crate) aggregates: &'a [Aggregate],
    pub(crate) span: Millis,
}

impl Wish<'_> {
    pub(crate) async fn answer(
        &self,
        client: &mut Client,
        table: &TableSpec,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let all = || {
            self.ask.signals.iter().map(|&signal| Asked::new(table, signal).of(self.ask.devices, table.schema.tags()))
        };
        let names: Vec<_> = self.aggregates.iter().map(|&aggregate| name_of(aggregate)).collect::<Result<_, _>>()?;
        let asked: Vec<_> = names.iter().flat_map(|name| all().map(move |asked| asked.figure(name))).collect();
        let (figures, bytes) = client.ask(question(self.span, &asked), figures_of).await?;
        figures.answer(self.ask.signals.len(), bytes, ComputedBy::Server, sink)
    }
}

/// The figures that the server worked out: one value a metric and device.
fn figures_of(document: &Document<'_>) -> Result<Collected, Error> {
    let mut figures = Collected::default();
    let width = document.queries.len();
    for (place, metric) in document.queries.iter().enumerate() {
        for group in metric.results.iter().filter(|group| !group.values.is_empty()) {
            let [value] = &group.values[..] else { return Err(improper("a figure is one value")) };
            figures.set((super::points::device_of(group)?, 0), place, width, number(&value.cell));
        }
    }
    Ok(figures)
}
