//! Datapoints out of whole records of layout bulk: those of one second are united and put in order here.

use super::{
    decode::{device, value},
    points::{Points, time},
    shape::Shape,
};
use crate::mongodb::time::TimeFields;
use iotbench_backend_kit::{answer::Answer, span::Span};
use iotbench_core::{Cause, Chunk, Error, SignalId};
use mongodb::bson::RawDocument;

/// Documents that are a record each, by device and second.
pub(crate) struct BulkPoints {
    time: TimeFields,
    span: Span,
    /// Device and second of the records that are being united.
    present: Option<(u32, i64)>,
    /// Their datapoints in the order of storing.
    united: Chunk,
    /// Time and row of those that are wanted.
    order: Vec<(i64, usize)>,
}

impl BulkPoints {
    pub(crate) fn new(shape: &Shape, signals: &[SignalId], span: Span) -> Self {
        let united = Chunk::new(signals.iter().map(|&signal| shape.value_type(signal)));
        Self { time: shape.time(), span, present: None, united, order: Vec::new() }
    }

    fn unite(&mut self, point: &RawDocument) -> Result<(), Error> {
        let at = time(self.time, point)?;
        if !self.span.contains(at) {
            return Ok(());
        }
        self.order.push((at, self.united.len()));
        self.united.timestamps_ns.push(at);
        let sensors = point.get_array("sensors").map_err(protocol)?;
        let mut sensors = sensors.into_iter();
        for column in &mut self.united.columns {
            let found = sensors.next().transpose().map_err(protocol)?;
            column.push(found.map(|found| value(found, column.value_type())).transpose()?.flatten())?;
        }
        Ok(())
    }
}

fn protocol(error: impl std::fmt::Display) -> Error {
    Error::new(Cause::Protocol, error)
}

impl Points for BulkPoints {
    fn take(&mut self, document: &RawDocument, answer: &mut Answer<'_>) -> Result<(), Error> {
        let second = time(TimeFields::WholeSecond, document)?;
        let present = (device(document)?, second);
        if self.present != Some(present) {
            self.finish(answer)?;
            self.present = Some(present);
        }
        for point in document.get_array("measurements").map_err(protocol)? {
            let point = point.map_err(protocol)?;
            self.unite(point.as_document().ok_or_else(|| protocol("a stored measurement is no document"))?)?;
        }
        Ok(())
    }

    fn finish(&mut self, answer: &mut Answer<'_>) -> Result<(), Error> {
        if let Some((device, _)) = self.present.take() {
            self.order.sort_unstable();
            for &(time, row) in &self.order {
                let united = &self.united.columns;
                answer.row(device, time, |columns| {
                    columns.iter_mut().zip(united).try_for_each(|(to, from)| to.push(from.get(row)))
                })?;
            }
        }
        self.order.clear();
        self.united.clear();
        Ok(())
    }
}
