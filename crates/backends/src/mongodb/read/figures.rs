//! Figures over many datapoints, device by device.

use super::{
    decode::{device, element, number},
    shape::Shape,
};
use iotbench_backend_kit::{ask::Asked, figures::Streamed, span::Span};
use iotbench_core::{Aggregate, Cause, Error, Layout, SignalId};
use mongodb::bson::{Bson, Document, RawBsonRef, RawDocument, doc};

/// What is asked for.
pub(crate) struct Figures<'a> {
    pub(crate) devices: Asked<'a>,
    pub(crate) signals: &'a [SignalId],
    pub(crate) aggregates: &'a [Aggregate],
    pub(crate) span: Span,
}

impl Figures<'_> {
    /// The stages that give a document a device, by device; in layout narrow one a device and signal.
    pub(crate) fn stages(&self, shape: &Shape) -> Vec<Document> {
        let mut stages = shape.all_of(self.devices, self.span, self.signals);
        if self.aggregates.contains(&Aggregate::Last) {
            stages.push(doc! { "$sort": self.by_time(shape) });
        }
        // Version 6.0 takes the least and greatest of a time series from its buckets, where texts are not compared as numbers.
        let read_first = shape.layout() == Layout::Wide;
        if read_first {
            let numbers = self.signals.iter().map(|&signal| (format!("n{signal}"), shape.number(signal)));
            stages.push(doc! { "$project": numbers.chain([("device".into(), 1.into())]).collect::<Document>() });
        }
        let is_narrow = shape.layout() == Layout::Narrow;
        // A server of version 6.0 gives a document of the device alone as the device, where it is a time series.
        let id: Bson = match (shape.has_device(), is_narrow) {
            (true, true) => doc! { "device": "$device", "number": "$number" }.into(),
            (false, true) => doc! { "number": "$number" }.into(),
            (true, false) => "$device".into(),
            (false, false) => Bson::Null,
        };
        let mut group = doc! { "_id": id };
        for (place, &aggregate) in self.aggregates.iter().enumerate() {
            // In layout narrow a signal is a document of its own.
            for &signal in if is_narrow { self.signals.get(..1).unwrap_or_default() } else { self.signals } {
                let field = if is_narrow { format!("f{place}") } else { format!("f{place}_{signal}") };
                let number = if read_first { format!("$n{signal}").into() } else { shape.number(signal) };
                group.insert(field, doc! { operator(aggregate): number });
            }
        }
        stages.extend([doc! { "$group": group }, doc! { "$sort": { "_id": 1 } }]);
        stages
    }

    /// The fields of such a document: by aggregate, then signal.
    pub(crate) fn fields(&self) -> Vec<String> {
        let of_aggregate = |place| self.signals.iter().map(move |signal| format!("f{place}_{signal}"));
        (0..self.aggregates.len()).flat_map(of_aggregate).collect()
    }

    /// Takes such a document.
    pub(crate) fn take(
        &self,
        document: &RawDocument,
        fields: &[String],
        figures: &mut Streamed<'_>,
    ) -> Result<(), Error> {
        let (device, signal) = group_of(document)?;
        figures.begin(device)?;
        if let Some(signal) = signal {
            let Ok(column) = self.signals.binary_search(&signal) else { return Ok(()) };
            for aggregate in 0..self.aggregates.len() {
                figures.set(aggregate, column, number(document, &format!("f{aggregate}"))?);
            }
            return Ok(());
        }
        for (place, field) in fields.iter().enumerate() {
            figures.set(place / self.signals.len(), place % self.signals.len(), number(document, field)?);
        }
        Ok(())
    }

    fn by_time(&self, shape: &Shape) -> Document {
        // The index has each device's documents in order.
        let mut sort = match self.devices {
            Asked::One(_) => doc! {},
            _ if !shape.has_device() => doc! {},
            _ => doc! { "device": 1 },
        };
        sort.extend(shape.by_time(1));
        sort
    }
}

fn operator(aggregate: Aggregate) -> &'static str {
    match aggregate {
        Aggregate::Last => "$last",
        Aggregate::Min => "$min",
        Aggregate::Mean => "$avg",
        Aggregate::Max => "$max",
    }
}

/// The device of a group, and in layout narrow its signal.
fn group_of(document: &RawDocument) -> Result<(u32, Option<SignalId>), Error> {
    let wrong = |id: &dyn std::fmt::Debug| Error::new(Cause::Protocol, format!("a group is of {id:?}"));
    match element(document, "_id")? {
        None => Ok((0, None)),
        Some(RawBsonRef::Int32(device)) => Ok((u32::try_from(device).map_err(|_| wrong(&device))?, None)),
        Some(RawBsonRef::Document(id)) => {
            let signal = match element(id, "number")? {
                Some(RawBsonRef::Int32(signal)) => SignalId::try_from(signal).ok(),
                _ => None,
            };
            Ok((device(id)?, Some(signal.ok_or_else(|| wrong(&id))?)))
        }
        Some(other) => Err(wrong(&other)),
    }
}
