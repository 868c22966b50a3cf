//! Counts what is stored.

use super::shape::Shape;
use iotbench_core::{Layout, SignalId};
use mongodb::bson::{Bson, Document, doc};

/// The stages that give one document: datapoints and values.
pub(crate) fn count_stages(shape: &Shape) -> Vec<Document> {
    match shape.layout() {
        Layout::Document | Layout::Wide => of_documents(shape),
        Layout::Narrow => of_values(shape),
        Layout::Bulk => of_records(),
    }
}

fn of_documents(shape: &Shape) -> Vec<Document> {
    let is_there = |signal: SignalId| doc! { "$cond": [{ "$gt": [shape.value(signal), Bson::Null] }, 1, 0] };
    let signals = (0..).take(shape.width()).map(is_there).collect::<Vec<_>>();
    vec![doc! { "$group": { "_id": Bson::Null, "points": { "$sum": 1 }, "values": { "$sum": { "$add": signals } } } }]
}

/// Of one device and time there are as many datapoints as documents of its most frequent number.
///
/// Version 6.0.5 answers three `$group` in a row with a sum of 1; with another stage between the first two it adds up.
fn of_values(shape: &Shape) -> Vec<Document> {
    let mut of_number = doc! { "s": "$second", "n": "$nanosecond", "m": "$number" };
    let (mut apart, mut of_time) = (doc! { "s": "$_id.s", "n": "$_id.n", "count": 1 }, doc! { "s": "$s", "n": "$n" });
    if shape.has_device() {
        of_number.insert("d", "$device");
        apart.insert("d", "$_id.d");
        of_time.insert("d", "$d");
    }
    vec![
        doc! { "$match": { "measurement": { "$ne": Bson::Null } } },
        doc! { "$group": { "_id": of_number, "count": { "$sum": 1 } } },
        doc! { "$project": apart },
        doc! { "$group": { "_id": of_time, "points": { "$max": "$count" }, "values": { "$sum": "$count" } } },
        doc! { "$group": { "_id": Bson::Null, "points": { "$sum": "$points" }, "values": { "$sum": "$values" } } },
    ]
}

fn of_records() -> Vec<Document> {
    let stored = doc! { "$filter": { "input": "$$point.sensors", "cond": { "$ne": ["$$this", Bson::Null] } } };
    let of_points = doc! { "$map": { "input": "$measurements", "as": "point", "in": { "$size": stored } } };
    vec![doc! { "$group": {
        "_id": Bson::Null,
        "points": { "$sum": { "$size": "$measurements" } },
        "values": { "$sum": { "$sum": of_points } },
    } }]
}
