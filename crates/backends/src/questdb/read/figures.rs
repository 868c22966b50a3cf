//! Counts, and last, least, mean and greatest of signals, device by device.

use super::device_of;
use crate::questdb::{
    client::Client,
    rows::improper,
    sql::{self, Select, signal_name},
};
use iotbench_backend_kit::{
    answer::Answer,
    cell::{Cell, number},
};
use iotbench_core::{Aggregate, ComputedBy, Counts, Error, Layout, Reply, SignalId, Sink, TableSpec, Value, ValueType};

/// Datapoints and values, and the bytes of the answer.
pub(crate) async fn count(client: &mut Client, table: &TableSpec) -> Result<(Counts, u64), Error> {
    let mut counts = Counts::default();
    let whole = |cell: &Cell<'_>| match cell {
        Cell::Null => Ok(0),
        Cell::Integer(count) if *count >= 0 => Ok(count.unsigned_abs()),
        other => Err(improper(&format!("{other:?} stands where a count should"))),
    };
    let note = |row: &[Cell<'_>]| {
        let [points, values] = row else { return Err(improper(&"a count of other columns")) };
        counts = Counts { points: whole(points)?, values: whole(values)? };
        Ok(())
    };
    let bytes = client.ask(&sql::count(table), note).await?;
    Ok((counts, bytes))
}

/// Answers with a row a device and aggregate.
pub(crate) async fn answer(
    client: &mut Client,
    table: &TableSpec,
    select: Select<'_>,
    (signals, aggregates): (&[SignalId], &[Aggregate]),
    sink: &mut dyn Sink,
) -> Result<Reply, Error> {
    let mut figures = Figures {
        answer: Answer::new(sink, vec![ValueType::F64; signals.len()]),
        signals: signals.len(),
        aggregates: aggregates.len(),
        device: None,
        of_device: vec![None; signals.len() * aggregates.len()],
    };
    let place_of = |signal: &Cell<'_>| match (table.layout, signal.text()) {
        (Layout::Narrow, name) => signals.iter().position(|&s| name == Some(signal_name(table, s))),
        _ => Some(0),
    };
    let note = |row: &[Cell<'_>]| {
        let [device, signal, count, cells @ ..] = row else { return Err(improper(&"figures without their device")) };
        // Without a device column there is a row also of no datapoints.
        let (Some(place), false) = (place_of(signal), *count == Cell::Integer(0)) else { return Ok(()) };
        figures.push(device_of(device)?, place, cells)
    };
    let bytes = client.ask(&select.figures(signals, aggregates), note).await?;
    figures.flush()?;
    figures.answer.finish(bytes, ComputedBy::Server)
}

/// The figures of one device after the other.
struct Figures<'a> {
    answer: Answer<'a>,
    signals: usize,
    aggregates: usize,
    device: Option<u32>,
    /// Aggregate by aggregate, a figure a signal.
    of_device: Vec<Option<f64>>,
}

impl Figures<'_> {
    /// Takes the figures of one or more signals from this one on.
    fn push(&mut self, device: u32, first: usize, cells: &[Cell<'_>]) -> Result<(), Error> {
        if self.device != Some(device) {
            self.flush()?;
            self.device = Some(device);
        }
        for (place, cell) in cells.iter().enumerate() {
            let (signal, aggregate) = (first + place / self.aggregates, place % self.aggregates);
            let figure = self.of_device.get_mut(aggregate * self.signals + signal);
            *figure.ok_or_else(|| improper(&"more figures than were asked for"))? = number(cell)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        let Some(device) = self.device.take() else { return Ok(()) };
        for row in self.of_device.chunks_exact(self.signals) {
            self.answer.row(device, 0, |columns| {
                let mut cells = columns.iter_mut().zip(row);
                cells.try_for_each(|(column, figure)| column.push(figure.map(Value::F64)))
            })?;
        }
        self.of_device.fill(None);
        Ok(())
    }
}
