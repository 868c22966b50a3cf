//! Figures of signals, device by device: worked out by the server, and by us where texts are read as numbers.

use super::points::{number, points};
use crate::{
    answer::Answer,
    kairosdb::{
        client::Client,
        document::Document,
        error::improper,
        question::{Asked, Span, name_of, question},
    },
    series::Series,
};
use iotbench_core::{Aggregate, ComputedBy, Devices, Error, Reply, SignalId, Sink, TableSpec, Value, ValueType};
use std::collections::BTreeMap;

/// Which figures are wanted.
pub(crate) struct Wish<'a> {
    pub(crate) signals: &'a [SignalId],
    pub(crate) aggregates: &'a [Aggregate],
    pub(crate) devices: &'a Devices,
    pub(crate) span: Span,
}

/// For each device the figure of each aggregate and signal, in that order.
type Figures = BTreeMap<u32, Vec<Option<f64>>>;

impl Wish<'_> {
    pub(crate) async fn answer(
        &self,
        client: &mut Client,
        table: &TableSpec,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let is_text = |&signal: &SignalId| table.schema.signals()[usize::from(signal)].value_type == ValueType::Text;
        let all = || self.signals.iter().map(|&signal| Asked::new(table, signal).of(self.devices));
        let ((figures, bytes), computed_by) = if self.signals.iter().any(is_text) {
            let asked: Vec<_> = all().collect();
            let worked_out = client.ask(question(self.span, &asked), |document| self.work_out(document)).await?;
            (worked_out, ComputedBy::Client)
        } else {
            let names = self.aggregates.iter().map(|&aggregate| name_of(aggregate));
            let asked: Vec<_> = names.flat_map(|name| all().map(move |asked| asked.figure(name))).collect();
            (client.ask(question(self.span, &asked), figures_of).await?, ComputedBy::Server)
        };
        let mut answer = Answer::new(sink, self.signals.iter().map(|_| ValueType::F64));
        for (device, figures) in figures {
            for row in figures.chunks_exact(self.signals.len()) {
                answer.row(device, 0, |columns| {
                    let figures = columns.iter_mut().zip(row);
                    figures.into_iter().try_for_each(|(column, figure)| column.push(figure.map(Value::F64)))
                })?;
            }
        }
        answer.finish(bytes, computed_by)
    }

    fn work_out(&self, document: &Document<'_>) -> Result<Figures, Error> {
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
        let figures = |of_device: Vec<Series>| {
            let rows = self.aggregates.iter();
            rows.flat_map(|&aggregate| of_device.iter().map(move |series| series.figure(aggregate))).collect()
        };
        Ok(series.into_iter().map(|(device, of_device)| (device, figures(of_device))).collect())
    }
}

/// The figures that the server worked out: one value a metric and device.
fn figures_of(document: &Document<'_>) -> Result<Figures, Error> {
    let mut figures = Figures::new();
    let width = document.queries.len();
    for (place, metric) in document.queries.iter().enumerate() {
        for group in metric.results.iter().filter(|group| !group.values.is_empty()) {
            let [value] = &group.values[..] else { return Err(improper("a figure is one value")) };
            let device = super::points::device_of(group)?;
            figures.entry(device).or_insert_with(|| vec![None; width])[place] = number(&value.cell);
        }
    }
    Ok(figures)
}
