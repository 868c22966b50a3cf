//! Datapoints out of whole records of layout bulk: those of one second are united and put in order here.

use super::{
    decode::{device, value},
    points::{Points, time},
    shape::Shape,
};
use crate::mongodb::time::TimeFields;
use iotbench_backend_kit::{
    answer::{Answer, types},
    assemble::Second,
    span::Span,
};
use iotbench_core::{Cause, Chunk, Error, SignalId};
use mongodb::bson::RawDocument;

/// Documents that are a record each, by device and second.
pub(crate) struct BulkPoints {
    time: TimeFields,
    /// Device and second of the records that are being united.
    present: Option<(u32, i64)>,
    united: Second,
}

impl BulkPoints {
    pub(crate) fn new(shape: &Shape, signals: &[SignalId], span: Span) -> Self {
        let united = Second::new(types(shape.schema(), signals), span, false);
        Self { time: shape.time(), present: None, united }
    }
}

/// Appends the datapoint of a measurement.
fn read(fields: TimeFields, point: &RawDocument, united: &mut Chunk) -> Result<(), Error> {
    united.timestamps_ns.push(time(fields, point)?);
    let sensors = point.get_array("sensors").map_err(protocol)?;
    let mut sensors = sensors.into_iter();
    for column in &mut united.columns {
        let found = sensors.next().transpose().map_err(protocol)?;
        column.push(found.map(|found| value(found, column.value_type())).transpose()?.flatten())?;
    }
    Ok(())
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
        let fields = self.time;
        let read_all = |united: &mut Chunk| {
            for point in document.get_array("measurements").map_err(protocol)? {
                let point = point.map_err(protocol)?;
                let point = point.as_document().ok_or_else(|| protocol("a stored measurement is no document"))?;
                read(fields, point, united)?;
            }
            Ok(())
        };
        self.united.record(read_all, Ok)
    }

    fn finish(&mut self, answer: &mut Answer<'_>) -> Result<(), Error> {
        if let Some((device, _)) = self.present.take() {
            self.united.hand_over(device, answer)?;
        }
        Ok(())
    }
}
