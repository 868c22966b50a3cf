//! Figures as a request of OTLP in its JSON form: names in lowerCamelCase, 64-bit integers as texts, choices as numbers. Pure.
//! <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>

use super::super::{
    families::{Family, Figures, Labels, Number},
    tally::{Responses, bounds_s},
};
use serde_json::{Value, json};
use std::sync::Arc;

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u8 = 2;
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Figures of a run that are to be sent.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) run_id: Arc<str>,
    pub(super) families: Vec<Family>,
    pub(super) times: Times,
}

/// When sums began and when figures were taken, in nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) start_ns: u64,
    pub(super) now_ns: u64,
}

impl Message {
    /// The body of its request.
    pub(super) fn body(&self) -> Vec<u8> {
        let metrics: Vec<_> = self.families.iter().filter_map(|family| metric(family, self.times)).collect();
        let resource = json!({ "attributes": [
            attribute("service.name", "iotbench"),
            attribute("service.version", VERSION),
            attribute("service.instance.id", &self.run_id),
            attribute("iotbench.run.id", &self.run_id),
        ]});
        let scope = json!({ "name": "iotbench", "version": VERSION });
        let scoped = json!([{ "scope": scope, "metrics": metrics }]);
        json!({ "resourceMetrics": [{ "resource": resource, "scopeMetrics": scoped }] }).to_string().into_bytes()
    }
}

/// One without a figure is left out. The name is that of the series that Prometheus reads.
fn metric(Family { name, help, unit, figures }: &Family, times: Times) -> Option<Value> {
    let (name, kind, data) = match figures {
        Figures::Counter(counts) => {
            let points = each(counts, |(labels, count)| number_point(labels, *count, times, true))?;
            let sum = json!({ "aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points });
            (format!("{name}_total"), "sum", sum)
        }
        Figures::Gauge(figures) => {
            let points = each(figures, |(labels, figure)| number_point(labels, *figure, times, false))?;
            (name.clone().into_owned(), "gauge", json!({ "dataPoints": points }))
        }
        Figures::Histogram(all) => {
            let points = each(all, |(labels, responses)| histogram_point(labels, responses, times))?;
            let histogram = json!({ "aggregationTemporality": CUMULATIVE, "dataPoints": points });
            (name.clone().into_owned(), "histogram", histogram)
        }
    };
    Some(json!({ "name": name, "description": help, "unit": unit, kind: data }))
}

fn each<T>(figures: &[T], point: impl Fn(&T) -> Value) -> Option<Vec<Value>> {
    Some(figures.iter().map(point).collect::<Vec<_>>()).filter(|points| !points.is_empty())
}

fn number_point(labels: &Labels, number: Number, times: Times, is_sum: bool) -> Value {
    let mut point = point(labels, times, is_sum);
    match number {
        Number::Integer(value) => point["asInt"] = value.to_string().into(),
        Number::Float(value) => point["asDouble"] = value.into(),
    }
    point
}

/// Bounds are upper ones that are within, as those of Prometheus; here each bucket has its own count.
fn histogram_point(labels: &Labels, responses: &Responses, times: Times) -> Value {
    let mut point = point(labels, times, true);
    point["count"] = responses.count().to_string().into();
    point["sum"] = responses.sum_s.into();
    point["bucketCounts"] = responses.buckets.iter().map(u64::to_string).collect();
    point["explicitBounds"] = bounds_s().collect();
    point
}

fn point(labels: &Labels, Times { start_ns, now_ns }: Times, is_sum: bool) -> Value {
    let attributes: Vec<_> = labels.iter().map(|(name, value)| attribute(name, value)).collect();
    let mut point = json!({ "attributes": attributes, "timeUnixNano": now_ns.to_string() });
    if is_sum {
        point["startTimeUnixNano"] = start_ns.to_string().into();
    }
    point
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_form_of_their_kind_and_what_has_none_is_left_out() {
        let labels: Labels = vec![("outcome", "ok".into())];
        let family = |name: &'static str, figures| Family { name: name.into(), help: "h", unit: "s", figures };
        let families = vec![
            family("a", Figures::Counter(vec![(labels.clone(), Number::Integer(1 << 60))])),
            family("b", Figures::Gauge(vec![(labels, Number::Float(0.5))])),
            family("c", Figures::Gauge(Vec::new())),
        ];
        let message = Message { run_id: "r".into(), families, times: Times { start_ns: 1, now_ns: 2 } };
        let message: Value = serde_json::from_slice(&message.body()).unwrap();
        let attributes = json!([{ "key": "outcome", "value": { "stringValue": "ok" } }]);
        let count = json!({
            "attributes": attributes, "startTimeUnixNano": "1", "timeUnixNano": "2", "asInt": "1152921504606846976"
        });
        let sum = json!({ "aggregationTemporality": 2, "isMonotonic": true, "dataPoints": [count] });
        let figure = json!({ "attributes": attributes, "timeUnixNano": "2", "asDouble": 0.5 });
        let expected = json!([
            { "name": "a_total", "description": "h", "unit": "s", "sum": sum },
            { "name": "b", "description": "h", "unit": "s", "gauge": { "dataPoints": [figure] } },
        ]);
        assert_eq!(message["resourceMetrics"][0]["scopeMetrics"][0]["metrics"], expected);
    }
}
