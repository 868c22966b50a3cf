//! Figures of signals, device by device: worked out by the server, and by us where texts are read as numbers.

use super::points::points;
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
    series::Series,
};
use iotbench_core::{Aggregate, ComputedBy, Error, Reply, SignalId, Sink, TableSpec, ValueType};
use std::collections::BTreeMap;

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
        let is_text = |&signal: &SignalId| table.schema.signals()[usize::from(signal)].value_type == ValueType::Text;
        let all = || self.ask.signals.iter().map(|&signal| Asked::new(table, signal).of(self.ask.devices.list()));
        let ((figures, bytes), computed_by) = if self.ask.signals.iter().any(is_text) {
            let asked: Vec<_> = all().collect();
            let worked_out = client.ask(question(self.span, &asked), |document| self.work_out(document)).await?;
            (worked_out, ComputedBy::Client)
        } else {
            let names = self.aggregates.iter().map(|&aggregate| name_of(aggregate));
            let asked: Vec<_> = names.flat_map(|name| all().map(move |asked| asked.figure(name))).collect();
            (client.ask(question(self.span, &asked), figures_of).await?, ComputedBy::Server)
        };
        figures.answer(self.ask.signals.len(), bytes, computed_by, sink)
    }

    fn work_out(&self, document: &Document<'_>) -> Result<Collected, Error> {
        let mut series: BTreeMap<u32, Vec<Series>> = BTreeMap::new();
        points(document, &mut |device, _, cells| {
            let of_device = series.entry(device).or_insert_with(|| vec![Series::default(); cells.len()]);
            for (series, cell) in of_device.iter_mut().zip(cells) {
                if let Some(cell) = cell {
                    series.take(number(cell).ok_or_else(|| improper(format!("{cell:?} reads as no number")))?);
                }
            }
            Ok(())
        })?;
        let (mut figures, width) = (Collected::default(), self.aggregates.len() * self.ask.signals.len());
        for (device, of_device) in series {
            let rows = self.aggregates.iter();
            let all = rows.flat_map(|&aggregate| of_device.iter().map(move |series| series.figure(aggregate)));
            all.enumerate().for_each(|(place, figure)| figures.set(device, place, width, figure));
        }
        Ok(figures)
    }
}

/// The figures that the server worked out: one value a metric and device.
fn figures_of(document: &Document<'_>) -> Result<Collected, Error> {
    let mut figures = Collected::default();
    let width = document.queries.len();
    for (place, metric) in document.queries.iter().enumerate() {
        for group in metric.results.iter().filter(|group| !group.values.is_empty()) {
            let [value] = &group.values[..] else { return Err(improper("a figure is one value")) };
            figures.set(super::points::device_of(group)?, place, width, number(&value.cell));
        }
    }
    Ok(figures)
}
