//! What pipelines must know of a layout.

use super::seconds::whole_seconds;
use crate::mongodb::{
    layout::Table,
    time::TimeFields,
    write::{stored_tag, tag_path},
};
use iotbench_backend_kit::{
    ask::{Ask, Asked, Order},
    span::Span,
};
use iotbench_core::{BucketWidth, Layout, Predicate, Schema, SignalId, ValueType};
use mongodb::bson::{Bson, Document, doc};
use std::{ops::Range, sync::Arc};

/// The field that a value by which is sorted is put into.
const KEY: &str = "_key";
/// The place of a datapoint in its record.
const PLACE: &str = "_place";

/// A layout as documents that are found by device and time.
pub(crate) struct Shape {
    table: Arc<Table>,
}

impl Shape {
    pub(crate) fn new(table: Arc<Table>) -> Self {
        Self { table }
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    pub(crate) fn layout(&self) -> Layout {
        self.table.spec.layout
    }

    pub(crate) fn width(&self) -> usize {
        self.table.spec.schema.width()
    }

    pub(crate) fn has_device(&self) -> bool {
        self.table.spec.has_device_column()
    }

    /// The table, for whoever holds it longer.
    pub(crate) fn shared_table(&self) -> Arc<Table> {
        Arc::clone(&self.table)
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.table.spec.schema
    }

    pub(crate) fn value_type(&self, signal: SignalId) -> ValueType {
        self.table.spec.schema.signals()[usize::from(signal)].value_type
    }

    /// How many devices the table has.
    pub(crate) fn devices(&self) -> u32 {
        self.table.spec.devices
    }

    fn is_bulk(&self) -> bool {
        self.layout() == Layout::Bulk
    }

    /// The fields of a datapoint's time in an answer.
    pub(crate) fn time(&self) -> TimeFields {
        if self.is_bulk() { TimeFields::of(self.table.precision) } else { self.table.time() }
    }

    /// The field of an answer that holds a signal's value.
    pub(crate) fn answer_field(&self, signal: SignalId) -> String {
        if self.is_bulk() { format!("v{signal}") } else { self.name(signal).to_owned() }
    }

    pub(crate) fn name(&self, signal: SignalId) -> &str {
        &self.table.spec.schema.signals()[usize::from(signal)].name
    }

    /// Whether no document can hold any of these devices.
    pub(crate) fn has_none_of(&self, devices: Asked<'_>) -> bool {
        devices.in_table(&self.table.spec).is_none()
    }

    /// Whether every datapoint of a stretch of time is wanted, in order.
    pub(crate) fn is_whole_stretch(ask: &Ask<'_>) -> bool {
        matches!(ask.order, Order::Stretch | Order::Oldest) && ask.limit == u64::MAX
    }

    /// The beginning of the bucket that a datapoint is in, in nanoseconds, as an expression.
    pub(crate) fn bucket(&self, width: BucketWidth) -> Bson {
        let time = self.time().ns(if self.is_bulk() { "measurements." } else { "" });
        let width = width.as_ns();
        // Of a time before 1970 the remainder is negative.
        let rest = doc! { "$mod": [{ "$add": [{ "$mod": [time.clone(), width] }, width] }, width] };
        doc! { "$subtract": [time, rest] }.into()
    }

    /// The stages that give the datapoints wanted: a document each, in layout narrow one for each of their values.
    pub(crate) fn datapoints(&self, ask: &Ask<'_>) -> Vec<Document> {
        let mut stages = self.in_order(ask);
        stages.push(doc! { "$project": self.projection(ask.signals) });
        stages
    }

    /// The first datapoint of each device in the order wanted, by device; `None` where documents have no device, or a datapoint is
    /// none or several of them.
    pub(crate) fn first_of_each(&self, ask: &Ask<'_>) -> Option<Vec<Document>> {
        if !self.has_device() || matches!(self.layout(), Layout::Narrow | Layout::Bulk) {
            return None;
        }
        let mut stages = self.found(ask);
        // The index has each device's documents in order.
        let mut sort = doc! { "device": 1 };
        sort.extend(self.sort(ask));
        stages.extend([
            doc! { "$sort": sort },
            doc! { "$group": { "_id": "$device", "point": { "$first": "$$ROOT" } } },
            doc! { "$replaceRoot": { "newRoot": "$point" } },
            doc! { "$sort": { "device": 1 } },
            doc! { "$project": self.projection(ask.signals) },
        ]);
        Some(stages)
    }

    /// The one greatest number of a signal among the datapoints asked for.
    pub(crate) fn greatest(&self, ask: &Ask<'_>) -> Vec<Document> {
        let mut stages = self.in_order(ask);
        let greatest = ask.signals.iter().map(|&signal| self.number(signal)).next();
        stages.push(doc! { "$group": { "_id": Bson::Null, "greatest": { "$max": greatest } } });
        stages
    }

    fn in_order(&self, ask: &Ask<'_>) -> Vec<Document> {
        let mut stages = self.found(ask);
        if let (Order::Least, [signal, ..]) = (ask.order, ask.signals) {
            let signal = *signal;
            stages.push(doc! { "$set": { KEY: self.number(signal) } });
            // What is missing, or reads as no number, would be the least of all.
            stages.push(doc! { "$match": { KEY: { "$ne": Bson::Null } } });
        }
        stages.push(doc! { "$sort": self.sort(ask) });
        if ask.limit < u64::MAX {
            let rows = if self.layout() == Layout::Narrow { ask.signals.len() as u64 } else { 1 };
            let limit = i64::try_from(ask.limit.saturating_mul(rows)).unwrap_or(i64::MAX);
            stages.push(doc! { "$limit": limit });
        }
        stages
    }

    /// Every document of a device and a stretch of time: in layout bulk one for each datapoint.
    fn found(&self, ask: &Ask<'_>) -> Vec<Document> {
        let mut stages = self.all_of(ask.devices, ask.span, ask.signals);
        let of_stage = stages.last_mut().and_then(|stage| stage.get_document_mut("$match").ok());
        if let (Some(predicate), Some(conditions)) = (ask.predicate, of_stage) {
            let path = self.path(ask.signal);
            conditions.extend(self.holds(ask.signal, &path, predicate));
        }
        stages
    }

    /// The documents of devices, a stretch of time and signals: in layout bulk one for each datapoint. A `$match` is last.
    pub(crate) fn all_of(&self, devices: Asked<'_>, span: Span, signals: &[SignalId]) -> Vec<Document> {
        let mut conditions = self.of_devices(devices);
        if self.is_bulk() {
            conditions.extend(self.table.time().within("", whole_seconds(span)));
            let unwind = doc! { "path": "$measurements", "includeArrayIndex": PLACE };
            let within = self.time().within("measurements.", span);
            return vec![doc! { "$match": conditions }, doc! { "$unwind": unwind }, doc! { "$match": within }];
        }
        conditions.extend(self.table.time().within("", span));
        if self.layout() == Layout::Narrow && signals.len() < self.width() {
            let numbers: Vec<i32> = signals.iter().map(|&signal| signal.into()).collect();
            let number = if let [number] = numbers[..] {
                doc! { "$eq": number }
            } else {
                doc! { "$in": numbers }
            };
            conditions.insert("number", number);
        }
        vec![doc! { "$match": conditions }]
    }

    /// The stages that tell the tags beside what is stored of these devices, each combination once.
    pub(crate) fn tags(&self, devices: &Range<u32>) -> Vec<Document> {
        let between = doc! { "$gte": i64::from(devices.start), "$lt": i64::from(devices.end) };
        let of_devices = if self.has_device() {
            doc! { "device": between }
        } else {
            doc! {}
        };
        let mut of_each = if self.has_device() {
            doc! { "device": "$device" }
        } else {
            doc! {}
        };
        let tags = self.table.spec.schema.tags().as_slice().iter();
        of_each.extend(tags.map(|tag| (tag.name.clone(), format!("${}", tag_path(&tag.name)).into())));
        vec![doc! { "$match": of_devices }, doc! { "$group": { "_id": of_each } }, doc! { "$replaceWith": "$_id" }]
    }

    fn of_devices(&self, devices: Asked<'_>) -> Document {
        if let Some((name, value)) = devices.tagged(self.table.spec.schema.tags()) {
            return doc! { tag_path(name): stored_tag(value) };
        }
        match devices {
            _ if !self.has_device() => doc! {},
            Asked::All => doc! {},
            Asked::One(device) => doc! { "device": i64::from(device) },
            Asked::Some(list) => one_of(list),
            Asked::Tagged(tagged) => one_of(&tagged.devices),
        }
    }

    /// The whole records of layout bulk, with the signals wanted, in the order of device and second.
    pub(crate) fn records(&self, ask: &Ask<'_>) -> Vec<Document> {
        let mut conditions = self.of_devices(ask.devices);
        conditions.extend(self.table.time().within("", whole_seconds(ask.span)));
        let mut sort = self.by_device(ask.devices);
        sort.insert("time", 1);
        let mut projection = doc! { "_id": 0, "device": 1, "time": 1 };
        if ask.signals.len() == self.width() {
            projection.insert("measurements", 1);
        } else {
            let of_signal = |signal: &SignalId| doc! { "$arrayElemAt": ["$$this.sensors", i32::from(*signal)] };
            let sensors: Vec<_> = ask.signals.iter().map(of_signal).collect();
            let point = doc! { "time": "$$this.time", "ns": "$$this.ns", "sensors": sensors };
            projection.insert("measurements", doc! { "$map": { "input": "$measurements", "in": point } });
        }
        vec![doc! { "$match": conditions }, doc! { "$sort": sort }, doc! { "$project": projection }]
    }

    /// In layout bulk, the stages that tell the last second, in the order wanted, that has to be looked at for the first so
    /// many datapoints: as many records hold at least one each. `None`: all has to be looked at.
    pub(crate) fn bound(&self, ask: &Ask<'_>) -> Option<Vec<Document>> {
        let (direction, furthest) = match ask.order {
            _ if !self.is_bulk() || ask.limit == u64::MAX => return None,
            Order::Least => return None,
            order if order.is_descending() => (-1, "$min"),
            _ => (1, "$max"),
        };
        let mut of_point = self.time().within("", ask.span);
        if let (Some(predicate), signal) = (ask.predicate, ask.signal) {
            // Text is compared by an expression, which a condition on elements cannot hold.
            if self.value_type(signal) == ValueType::Text {
                return None;
            }
            of_point.extend(self.holds(signal, &format!("sensors.{signal}"), predicate));
        }
        let mut conditions = self.of_devices(ask.devices);
        conditions.extend(self.table.time().within("", whole_seconds(ask.span)));
        if !of_point.is_empty() {
            conditions.insert("measurements", doc! { "$elemMatch": of_point });
        }
        let limit = i64::try_from(ask.limit).unwrap_or(i64::MAX);
        Some(vec![
            doc! { "$match": conditions },
            doc! { "$sort": { "time": direction } },
            doc! { "$limit": limit },
            doc! { "$group": { "_id": Bson::Null, "bound": { furthest: "$time" } } },
        ])
    }

    /// Where one device is asked for, documents lie in the order of time.
    fn by_device(&self, devices: Asked<'_>) -> Document {
        match devices {
            Asked::One(_) => doc! {},
            _ if !self.has_device() => doc! {},
            Asked::All | Asked::Some(_) | Asked::Tagged(_) => doc! { "device": 1 },
        }
    }

    fn sort(&self, ask: &Ask<'_>) -> Document {
        let is_descending = ask.order.is_descending();
        let direction = if is_descending { -1 } else { 1 };
        let mut sort = match ask.order {
            Order::Least => doc! { KEY: 1 },
            _ if is_descending => doc! {},
            _ => self.by_device(ask.devices),
        };
        sort.extend(self.by_time(direction));
        // The values of a datapoint stand together, also where no index has them in order.
        if self.layout() == Layout::Narrow && is_descending {
            let of_device = self.by_device(ask.devices);
            if !of_device.is_empty() {
                sort.extend(of_device);
                sort.insert("_id", 1);
            }
        }
        sort
    }

    /// The order of time, after the last stage of [`all_of`](Self::all_of).
    pub(crate) fn by_time(&self, direction: i32) -> Document {
        let prefix = if self.is_bulk() { "measurements." } else { "" };
        let mut sort: Document =
            self.time().names().map(|name| (format!("{prefix}{name}"), direction.into())).collect();
        if self.is_bulk() {
            sort.extend([("_id".to_owned(), direction.into()), (PLACE.to_owned(), direction.into())]);
        }
        sort
    }

    fn projection(&self, signals: &[SignalId]) -> Document {
        let mut projection = doc! { "_id": 0, "device": 1 };
        if self.is_bulk() {
            projection
                .extend(self.time().names().map(|name| (name.to_owned(), format!("$measurements.{name}").into())));
            projection.extend(signals.iter().map(|&signal| (self.answer_field(signal), self.value(signal))));
            return projection;
        }
        projection.extend(self.time().names().map(|name| (name.to_owned(), 1.into())));
        match self.layout() {
            Layout::Narrow => projection.extend(["number", "measurement"].map(|name| (name.to_owned(), 1.into()))),
            _ => projection.extend(signals.iter().map(|&signal| (self.answer_field(signal), 1.into()))),
        }
        projection
    }

    /// The path of a signal's value in a condition, after the last stage of [`all_of`](Self::all_of).
    fn path(&self, signal: SignalId) -> String {
        match self.layout() {
            Layout::Document | Layout::Wide => self.name(signal).to_owned(),
            Layout::Narrow => "measurement".into(),
            Layout::Bulk => format!("measurements.sensors.{signal}"),
        }
    }

    /// A signal's value as an expression.
    pub(crate) fn value(&self, signal: SignalId) -> Bson {
        match self.layout() {
            Layout::Bulk => doc! { "$arrayElemAt": ["$measurements.sensors", i32::from(signal)] }.into(),
            _ => format!("${}", self.path(signal)).into(),
        }
    }

    /// A signal's value as what it is compared and ordered by: text as the number that it reads as.
    pub(crate) fn number(&self, signal: SignalId) -> Bson {
        let value = self.value(signal);
        if self.value_type(signal) != ValueType::Text {
            return value;
        }
        let input = doc! { "$trim": { "input": value } };
        doc! { "$convert": { "input": input, "to": "double", "onError": Bson::Null, "onNull": Bson::Null } }.into()
    }

    /// The condition that a predicate means for a signal of the documents of [`Self::all_of`].
    pub(crate) fn condition(&self, signal: SignalId, predicate: Predicate) -> Document {
        self.holds(signal, &self.path(signal), predicate)
    }

    /// The condition that a predicate means for the value at a path.
    fn holds(&self, signal: SignalId, path: &str, predicate: Predicate) -> Document {
        let (operator, limit) = match predicate {
            Predicate::Above(limit) => ("$gt", limit),
            Predicate::Below(limit) => ("$lt", limit),
        };
        if self.value_type(signal) != ValueType::Text {
            return doc! { path: { operator: limit } };
        }
        let number = self.number(signal);
        // What reads as no number is null, which is less than every number.
        let is_number = doc! { "$ne": [number.clone(), Bson::Null] };
        doc! { "$expr": { "$and": [is_number, { operator: [number, limit] }] } }
    }
}

fn one_of(devices: &[u32]) -> Document {
    doc! { "device": { "$in": devices.iter().map(|&device| i64::from(device)).collect::<Vec<_>>() } }
}
