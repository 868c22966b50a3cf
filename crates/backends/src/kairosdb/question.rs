//! Questions in the server's JSON. Pure.

use iotbench_backend_kit::{
    ask,
    metrics::{DEVICE, Millis, metric},
};
use iotbench_core::{Predicate, SignalId, TableSpec, Tags};
use serde_json::{Value, json};

/// All times that we write: from 1970 to the end of 2199.
pub(crate) const ALL: Millis = Millis { first: 0, last: 7_258_118_399_999 };
/// One stretch that holds all of that, so that a figure is over all that was asked for.
const ONE_STRETCH: (i64, &str) = (300, "years");

/// The metric of one signal as it is asked about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked(Value);

impl Asked {
    /// All values of a signal, device by device.
    pub(crate) fn new(table: &TableSpec, signal: SignalId) -> Self {
        Self(json!({ "name": metric(table, signal), "group_by": [{ "name": "tag", "tags": [DEVICE] }] }))
    }

    /// Of these devices alone, where not all are meant; an empty list is the caller's.
    pub(crate) fn of(mut self, devices: ask::Asked<'_>, tags: &Tags) -> Self {
        if let Some((name, value)) = devices.tagged(tags) {
            self.0["tags"] = json!({ name: [value.to_string()] });
        } else if let Some(list) = devices.list() {
            let list: Vec<_> = list.iter().map(ToString::to_string).collect();
            self.0["tags"] = json!({ DEVICE: list });
        }
        self
    }

    /// At most so many of each series, counted before any figure is worked out.
    pub(crate) fn limit(mut self, limit: u64) -> Self {
        // The server takes 32 bits, and no series has as many.
        if let Ok(limit @ 1..) = i32::try_from(limit) {
            self.0["limit"] = json!(limit);
        }
        self
    }

    /// The latest first.
    pub(crate) fn latest_first(mut self) -> Self {
        self.0["order"] = json!("desc");
        self
    }

    /// A figure over what is left.
    pub(crate) fn figure(self, name: &str) -> Self {
        let (value, unit) = ONE_STRETCH;
        self.aggregator(json!({ "name": name, "sampling": { "value": value, "unit": unit } }))
    }

    /// Leaves the values that meet a condition.
    pub(crate) fn that(self, predicate: Predicate) -> Self {
        // The server takes out what meets its own.
        let (operation, limit) = match predicate {
            Predicate::Above(limit) => ("lte", limit),
            Predicate::Below(limit) => ("gte", limit),
        };
        self.aggregator(json!({ "name": "filter", "filter_op": operation, "threshold": limit }))
    }

    /// Leaves the values that equal a number.
    pub(crate) fn equal_to(self, number: f64) -> Self {
        self.aggregator(json!({ "name": "filter", "filter_op": "ne", "threshold": number }))
    }

    fn aggregator(mut self, aggregator: Value) -> Self {
        match self.0["aggregators"].as_array_mut() {
            Some(aggregators) => aggregators.push(aggregator),
            None => self.0["aggregators"] = json!([aggregator]),
        }
        self
    }
}

/// The question about several metrics over one stretch of time.
pub(crate) fn question(span: Millis, asked: &[Asked]) -> String {
    let metrics: Vec<_> = asked.iter().map(|asked| &asked.0).collect();
    json!({ "start_absolute": span.first, "end_absolute": span.last, "metrics": metrics }).to_string()
}

/// The question about all values of a metric that is not a signal's.
pub(crate) fn question_about(metric: &str) -> String {
    json!({ "start_absolute": ALL.first, "end_absolute": ALL.last, "metrics": [{ "name": metric }] }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::with_tags::{in_the_west, with_tags};
    use iotbench_core::{Layout, Marker, Name, Schema, Signal, ValueType};

    fn table() -> TableSpec {
        let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::F32, max_text_bytes: 0 };
        TableSpec {
            name: Name::new("t").unwrap(),
            layout: Layout::Wide,
            schema: Schema::new(vec![signal("a"), signal("b")]).unwrap(),
            devices: 3,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        }
    }

    #[test]
    fn a_question_says_all_that_was_asked() {
        let asked = Asked::new(&table(), 1)
            .of(ask::Asked::Some(&[0, 2]), &Tags::default())
            .limit(5)
            .latest_first()
            .that(Predicate::Above(1.5))
            .figure("first");
        let text = question(Millis { first: 1, last: 2 }, &[asked]);
        let expected = json!({"start_absolute": 1, "end_absolute": 2, "metrics": [{
            "name": "iotbench_t.b",
            "group_by": [{"name": "tag", "tags": ["device"]}],
            "tags": {"device": ["0", "2"]},
            "limit": 5,
            "order": "desc",
            "aggregators": [
                {"name": "filter", "filter_op": "lte", "threshold": 1.5},
                {"name": "first", "sampling": {"value": 300, "unit": "years"}},
            ],
        }]});
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
        let (tagged, west) = (with_tags(table()), in_the_west());
        let by_tag = Asked::new(&tagged, 1).of(ask::Asked::Tagged(&west), tagged.schema.tags());
        assert_eq!(by_tag.0["tags"], json!({ "site": ["west"] }));
        assert_eq!(Asked::new(&table(), 0).limit(u64::MAX), Asked::new(&table(), 0));
    }
}
