//! Figures over many datapoints, device by device and of time buckets.

use super::{
    decode::{device, element, number},
    shape::Shape,
};
use crate::mongodb::write::{tag_path, tag_text};
use iotbench_backend_kit::{
    ask::{Ask, Asked, What},
    figures::Group,
    grouped_by::{GroupedBy, place_of},
    percentile::not_by_server,
    span::Span,
    total::known,
};
use iotbench_core::{Aggregate, BucketWidth, Cause, Error, Layout, Predicate, SignalId};
use mongodb::bson::{Bson, Document, RawBsonRef, RawDocument, doc};

/// The field of the bucket that a document is in.
const BUCKET: &str = "_bucket";

/// The field of the value of a tag that documents are put together by.
const VALUE: &str = "_value";

/// The field of how many values there are.
const COUNT: &str = "_count";

/// Takes a figure: of a group, an aggregate and a signal.
pub(crate) type Take<'t> = dyn FnMut(Group, usize, usize, Option<f64>) -> Result<(), Error> + Send + 't;

/// What is asked for.
pub(crate) struct Figures<'a> {
    pub(crate) devices: Asked<'a>,
    pub(crate) signals: &'a [SignalId],
    pub(crate) aggregates: &'a [Aggregate],
    pub(crate) span: Span,
    /// Only of those with such a value.
    pub(crate) holds: Option<(SignalId, Predicate)>,
    /// In buckets as long as this.
    pub(crate) width: Option<BucketWidth>,
    /// Of which datapoints together.
    pub(crate) by: GroupedBy,
    /// Of the buckets of all devices together only so many of the newest.
    pub(crate) newest: Option<u64>,
    /// Only of so many devices, those with the greatest figure.
    pub(crate) top: Option<u64>,
    /// Only those that meet a condition, where there is one figure.
    pub(crate) condition: Option<Predicate>,
}

impl<'a> Figures<'a> {
    /// Those that an ask wants.
    pub(crate) fn of(ask: &Ask<'a>, aggregates: &'a [Aggregate], width: Option<BucketWidth>) -> Self {
        let Ask { devices, signals, span, .. } = *ask;
        let by = GroupedBy::of(ask.what);
        let top = matches!(ask.what, What::Top(_)).then_some(ask.limit);
        Self {
            devices,
            signals,
            aggregates,
            span,
            holds: ask.predicate.map(|predicate| (ask.signal, predicate)),
            width,
            by,
            newest: ask.newest(),
            top,
            condition: ask.having.map(|having| having.predicate),
        }
    }

    /// The stages that give a document a device, by device, or a bucket of one; in layout narrow one of each signal.
    pub(crate) fn stages(&self, shape: &Shape) -> Result<Vec<Document>, Error> {
        let mut stages = shape.all_of(self.devices, self.span, self.signals);
        stages.extend(self.holds.map(|(signal, predicate)| doc! { "$match": shape.condition(signal, predicate) }));
        if self.aggregates.iter().any(|aggregate| matches!(aggregate, Aggregate::First | Aggregate::Last)) {
            stages.push(doc! { "$sort": self.by_time(shape) });
        }
        // Version 6.0 takes the least and greatest of a time series from its buckets, where texts are not compared as numbers.
        let read_first = shape.layout() == Layout::Wide;
        if read_first {
            let numbers = self.signals.iter().map(|&signal| (format!("n{signal}"), shape.number(signal)));
            let bucket = self.width.map(|width| (BUCKET.into(), shape.bucket(width)));
            let value = self.tag_of(shape).map(|path| (VALUE.into(), path.into()));
            let kept = [("device".into(), 1.into())].into_iter().chain(bucket).chain(value);
            stages.push(doc! { "$project": numbers.chain(kept).collect::<Document>() });
        } else {
            let bucket = self.width.map(|width| (BUCKET.into(), shape.bucket(width)));
            let value = self.tag_of(shape).map(|path| (VALUE.into(), path.into()));
            let set: Document = bucket.into_iter().chain(value).collect();
            stages.extend((!set.is_empty()).then(|| doc! { "$set": set }));
        }
        let is_narrow = shape.layout() == Layout::Narrow;
        // A server of version 6.0 gives a document of the device alone as the device, where it is a time series.
        let mut id = Document::new();
        match self.by {
            GroupedBy::Device => id.extend(shape.has_device().then(|| ("device".into(), "$device".into()))),
            GroupedBy::Nothing => {}
            GroupedBy::Tag(_) => id.extend([(VALUE.into(), format!("${VALUE}").into())]),
        }
        id.extend(self.width.map(|_| (BUCKET.into(), format!("${BUCKET}").into())));
        id.extend(is_narrow.then(|| ("number".into(), "$number".into())));
        let id: Bson = match (self.width, is_narrow) {
            (None, false) if !matches!(self.by, GroupedBy::Tag(_)) => id.remove("device").unwrap_or(Bson::Null),
            _ => id.into(),
        };
        let mut group = doc! { "_id": id };
        for (place, &aggregate) in self.aggregates.iter().enumerate() {
            // In layout narrow a signal is a document of its own.
            for &signal in if is_narrow { self.signals.get(..1).unwrap_or_default() } else { self.signals } {
                let field = if is_narrow { format!("f{place}") } else { format!("f{place}_{signal}") };
                let number = if read_first { format!("$n{signal}").into() } else { shape.number(signal) };
                group.insert(field, accumulator(aggregate, number)?);
            }
        }
        let figure = |signal| if is_narrow { "f0".to_owned() } else { format!("f0_{signal}") };
        if let (Some(limit), [signal, ..]) = (self.top, self.signals) {
            let figure = figure(signal);
            let number = if read_first { format!("$n{signal}").into() } else { shape.number(*signal) };
            group.insert(COUNT, accumulator(Aggregate::Count, number)?);
            stages.extend([
                doc! { "$group": group },
                doc! { "$match": { COUNT: { "$gt": 0 } } },
                doc! { "$sort": { figure: -1, "_id": 1 } },
            ]);
            stages.extend(i64::try_from(limit).map(|limit| doc! { "$limit": limit }));
            return Ok(stages);
        }
        let direction = if self.newest.is_some() { -1 } else { 1 };
        stages.push(doc! { "$group": group });
        if let (Some(condition), [signal, ..]) = (self.condition, self.signals) {
            let holds = match condition {
                Predicate::Above(limit) => doc! { "$gt": limit },
                Predicate::Below(limit) => doc! { "$lt": limit },
            };
            stages.push(doc! { "$match": { figure(signal): holds } });
        }
        stages.push(doc! { "$sort": { "_id": direction } });
        if let Some(newest) = self.newest {
            // In layout narrow a bucket has at most a document a signal: these hold the newest ones whole, and maybe others.
            let documents = newest.saturating_mul(if is_narrow { self.signals.len() as u64 } else { 1 });
            stages.push(doc! { "$limit": i64::try_from(documents).unwrap_or(i64::MAX) });
        }
        Ok(stages)
    }

    /// The fields of such a document: by aggregate, then signal.
    pub(crate) fn fields(&self) -> Vec<String> {
        let of_aggregate = |place| self.signals.iter().map(move |signal| format!("f{place}_{signal}"));
        (0..self.aggregates.len()).flat_map(of_aggregate).collect()
    }

    /// Gives the figures of such a document to `take`: the group, the place of the aggregate and that of the signal.
    pub(crate) fn take(
        &self,
        shape: &Shape,
        document: &RawDocument,
        fields: &[String],
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        let (group, signal) = self.group_of(shape, document)?;
        if let Some(signal) = signal {
            let Ok(column) = self.signals.binary_search(&signal) else { return Ok(()) };
            return (0..self.aggregates.len())
                .try_for_each(|aggregate| take(group, aggregate, column, number(document, &format!("f{aggregate}"))?));
        }
        let places = fields.iter().enumerate();
        let many = self.signals.len();
        places.into_iter().try_for_each(|(at, field)| take(group, at / many, at % many, number(document, field)?))
    }

    /// The device of a group, or the place of its tag's value, the beginning of its bucket, and in layout narrow its signal.
    fn group_of(&self, shape: &Shape, document: &RawDocument) -> Result<(Group, Option<SignalId>), Error> {
        let wrong = |id: &dyn std::fmt::Debug| Error::new(Cause::Protocol, format!("a group is of {id:?}"));
        match element(document, "_id")? {
            None => Ok(((0, 0), None)),
            Some(RawBsonRef::Int32(device)) => Ok(((u32::try_from(device).map_err(|_| wrong(&device))?, 0), None)),
            Some(RawBsonRef::Document(id)) => {
                let bucket = match element(id, BUCKET)? {
                    None if self.width.is_none() => 0,
                    Some(RawBsonRef::Int64(bucket)) => bucket,
                    _ => return Err(wrong(&id)),
                };
                let signal = match element(id, "number")? {
                    None => None,
                    Some(RawBsonRef::Int32(signal)) => Some(SignalId::try_from(signal).map_err(|_| wrong(&id))?),
                    Some(_) => return Err(wrong(&id)),
                };
                let of = match self.by {
                    GroupedBy::Tag(tag) => {
                        let tags = shape.schema().tags();
                        let tag_type = known(tags, tag)?.values.tag_type();
                        let value = element(id, VALUE)?.and_then(|stored| tag_text(stored, tag_type));
                        place_of(tags, tag, value.as_deref())?
                    }
                    GroupedBy::Device | GroupedBy::Nothing => device(id)?,
                };
                Ok(((of, bucket), signal))
            }
            Some(other) => Err(wrong(&other)),
        }
    }

    /// The path of the tag that documents are put together by.
    fn tag_of(&self, shape: &Shape) -> Option<String> {
        let tag = self.by.tag(shape.schema().tags()).ok().flatten()?;
        Some(format!("${}", tag_path(tag)))
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

fn accumulator(aggregate: Aggregate, number: Bson) -> Result<Document, Error> {
    let operator = match aggregate {
        Aggregate::First => "$first",
        Aggregate::Last => "$last",
        Aggregate::Min => "$min",
        Aggregate::Mean => "$avg",
        Aggregate::Max => "$max",
        Aggregate::Sum => "$sum",
        Aggregate::Count => {
            return Ok(doc! { "$sum": { "$cond": [{ "$isNumber": number }, 1, 0] } });
        }
        Aggregate::Percentile(percentile) => return Err(not_by_server(percentile)),
    };
    Ok(doc! { operator: number })
}
