//! Questions in the server's JSON. Pure.

use super::names::{DEVICE, metric};
use iotbench_core::{Aggregate, Devices, Predicate, SignalId, TableSpec, TimeRange};
use serde_json::{Value, json};
use std::ops::Bound;

const NS_PER_MS: i64 = 1_000_000;
/// The earliest and the latest time that we write: from 1970 to the end of 2199.
pub(crate) const EARLIEST_MS: i64 = 0;
/// See [`EARLIEST_MS`].
pub(crate) const LATEST_MS: i64 = 7_258_118_399_999;
/// One stretch that holds all of that, so that a figure is over all that was asked for.
const ONE_STRETCH: (i64, &str) = (300, "years");

/// All times from `first` to `last`, in milliseconds, both within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl Span {
    pub(crate) const ALL: Self = Self { first: EARLIEST_MS, last: LATEST_MS };

    /// The whole milliseconds of a range that can hold a datapoint of ours; `None` when there is none.
    pub(crate) fn of(range: TimeRange) -> Option<Self> {
        let first_ns = match range.from {
            Bound::Included(time) => time,
            Bound::Excluded(time) => time.checked_add(1)?,
            Bound::Unbounded => i64::MIN,
        };
        let last_ns = match range.to {
            Bound::Included(time) => time,
            Bound::Excluded(time) => time.checked_sub(1)?,
            Bound::Unbounded => i64::MAX,
        };
        // Rounded up: the first whole millisecond within.
        let first = first_ns.div_euclid(NS_PER_MS) + i64::from(first_ns.rem_euclid(NS_PER_MS) > 0);
        let span = Self { first: first.max(EARLIEST_MS), last: last_ns.div_euclid(NS_PER_MS).min(LATEST_MS) };
        (span.first <= span.last).then_some(span)
    }

    /// From a time on.
    pub(crate) fn from(first_ns: i64) -> Option<Self> {
        Self::of(TimeRange { from: Bound::Included(first_ns), to: Bound::Unbounded })
    }
}

/// A time of ours.
pub(crate) fn ns(ms: i64) -> i64 {
    ms.saturating_mul(NS_PER_MS)
}

/// The metric of one signal as it is asked about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked(Value);

impl Asked {
    /// All values of a signal, device by device.
    pub(crate) fn new(table: &TableSpec, signal: SignalId) -> Self {
        Self(json!({ "name": metric(table, signal), "group_by": [{ "name": "tag", "tags": [DEVICE] }] }))
    }

    /// Of these devices alone; an empty list is the caller's.
    pub(crate) fn of(mut self, devices: &Devices) -> Self {
        if let Devices::Some(list) = devices {
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

/// The server's name of a figure.
pub(crate) fn name_of(aggregate: Aggregate) -> &'static str {
    match aggregate {
        Aggregate::Last => "last",
        Aggregate::Min => "min",
        Aggregate::Mean => "avg",
        Aggregate::Max => "max",
    }
}

/// The question about several metrics over one stretch of time.
pub(crate) fn question(span: Span, asked: &[Asked]) -> String {
    let metrics: Vec<_> = asked.iter().map(|asked| &asked.0).collect();
    json!({ "start_absolute": span.first, "end_absolute": span.last, "metrics": metrics }).to_string()
}

/// The question about all values of a metric that is not a signal's.
pub(crate) fn question_about(metric: &str) -> String {
    json!({ "start_absolute": EARLIEST_MS, "end_absolute": LATEST_MS, "metrics": [{ "name": metric }] }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Layout, Marker, Name, Schema, Signal, ValueType};
    use proptest::prelude::*;

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
            .of(&Devices::Some(vec![0, 2]))
            .limit(5)
            .latest_first()
            .that(Predicate::Above(1.5))
            .figure("first");
        let text = question(Span { first: 1, last: 2 }, &[asked]);
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
        assert_eq!(Asked::new(&table(), 0).limit(u64::MAX), Asked::new(&table(), 0));
    }

    proptest! {
        #[test]
        fn a_span_holds_the_whole_milliseconds_of_a_range(from in any::<i64>(), length in 0_i64..5_000_000, ms in 0..LATEST_MS) {
            let range = TimeRange::half_open(from, from.saturating_add(length));
            let near = from.div_euclid(NS_PER_MS).clamp(EARLIEST_MS, LATEST_MS);
            for ms in [ms, near, near + 1, near + 4] {
                let within = Span::of(range).is_some_and(|span| (span.first..=span.last).contains(&ms));
                let meant = ms <= LATEST_MS && ms.checked_mul(NS_PER_MS).is_some_and(|time| range.contains(time));
                prop_assert_eq!(within, meant, "{}", ms);
            }
        }
    }
}
