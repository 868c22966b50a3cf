//! Datapoints out of the documents of an answer.

use super::{
    decode::{device, element, value},
    shape::Shape,
};
use crate::mongodb::time::TimeFields;
use iotbench_backend_kit::{answer::Answer, assemble::ByValue};
use iotbench_core::{Cause, Error, SignalId};
use mongodb::bson::{RawBsonRef, RawDocument};

/// How documents become datapoints.
pub(crate) trait Points: Send {
    /// Takes a document, and pushes the datapoints that it completes.
    fn take(&mut self, document: &RawDocument, answer: &mut Answer<'_>) -> Result<(), Error>;

    /// Pushes the last datapoint, where it could not be known to be complete.
    fn finish(&mut self, answer: &mut Answer<'_>) -> Result<(), Error>;
}

/// The time of a document.
pub(crate) fn time(fields: TimeFields, document: &RawDocument) -> Result<i64, Error> {
    fields.read(document).ok_or_else(|| Error::new(Cause::Protocol, "a stored time is none, or out of range"))
}

/// Documents that are a datapoint each.
pub(crate) struct RowPoints {
    time: TimeFields,
    /// The fields of the signals asked for.
    names: Vec<String>,
}

impl RowPoints {
    pub(crate) fn new(shape: &Shape, signals: &[SignalId]) -> Self {
        Self { time: shape.time(), names: signals.iter().map(|&signal| shape.answer_field(signal)).collect() }
    }
}

impl Points for RowPoints {
    fn take(&mut self, document: &RawDocument, answer: &mut Answer<'_>) -> Result<(), Error> {
        let protocol = |e: mongodb::bson::error::Error| Error::new(Cause::Protocol, e);
        answer.row(device(document)?, time(self.time, document)?, |columns| {
            // Fields lie in the order of the signals, as a rule: each is looked for behind the one before.
            let mut rest = document.iter_elements();
            for (column, name) in columns.iter_mut().zip(&self.names) {
                let mut found = None;
                for element in rest.by_ref() {
                    let element = element.map_err(protocol)?;
                    if element.key().as_str() == name {
                        found = Some(element.value().map_err(protocol)?);
                        break;
                    }
                }
                if found.is_none() {
                    rest = document.iter_elements();
                    found = element(document, name)?;
                }
                column.push(match found {
                    Some(found) => value(found, column.value_type())?,
                    None => None,
                })?;
            }
            Ok(())
        })
    }

    fn finish(&mut self, _answer: &mut Answer<'_>) -> Result<(), Error> {
        Ok(())
    }
}

/// Documents that are a value each.
pub(crate) struct NarrowPoints {
    time: TimeFields,
    values: ByValue,
}

impl NarrowPoints {
    pub(crate) fn new(shape: &Shape, signals: &[SignalId], limit: u64) -> Self {
        Self { time: shape.time(), values: ByValue::new(shape.schema(), signals, limit) }
    }
}

impl Points for NarrowPoints {
    fn take(&mut self, document: &RawDocument, answer: &mut Answer<'_>) -> Result<(), Error> {
        let at = (device(document)?, time(self.time, document)?);
        let number = match element(document, "number")? {
            Some(RawBsonRef::Int32(number)) => SignalId::try_from(number).ok(),
            _ => None,
        };
        let read = |value_type| match element(document, "measurement")? {
            Some(found) => value(found, value_type),
            None => Ok(None),
        };
        self.values.take(at, number, read, answer)
    }

    fn finish(&mut self, answer: &mut Answer<'_>) -> Result<(), Error> {
        self.values.finish(answer)
    }
}
