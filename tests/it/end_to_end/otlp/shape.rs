//! What OTLP's JSON form asks of a message, as strictly as <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding> and
//! the definitions of `opentelemetry/proto/metrics/v1/metrics.proto` have it.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A message that has the form.
#[derive(Debug)]
pub struct Checked {
    pub resource: BTreeMap<String, String>,
    /// Figures by the name of their metric with their attributes; of a histogram its count.
    pub figures: BTreeMap<(String, BTreeMap<String, String>), f64>,
    /// Those of them that only grow, with when they began.
    pub sums: BTreeMap<(String, BTreeMap<String, String>), u64>,
    pub units: BTreeMap<String, String>,
}

impl Checked {
    pub fn of(message: &Value) -> Self {
        let resource_metrics = only(&keys(message, &["resourceMetrics"])["resourceMetrics"]);
        keys(resource_metrics, &["resource", "scopeMetrics"]);
        let resource = attributes(&keys(&resource_metrics["resource"], &["attributes"])["attributes"]);
        let scoped = only(&resource_metrics["scopeMetrics"]);
        keys(scoped, &["scope", "metrics"]);
        assert_eq!(scoped["scope"]["name"], "iotbench");
        let (figures, sums, units) = Default::default();
        let mut checked = Self { resource, figures, sums, units };
        scoped["metrics"].as_array().unwrap().iter().for_each(|metric| checked.metric(metric));
        checked
    }

    fn metric(&mut self, metric: &Value) {
        let name = metric["name"].as_str().unwrap();
        assert!(!metric["description"].as_str().unwrap().is_empty(), "{name}");
        let known = self.units.insert(name.into(), metric["unit"].as_str().unwrap().into());
        assert!(known.is_none(), "{name} comes twice");
        let kinds: Vec<_> =
            ["sum", "gauge", "histogram"].into_iter().filter(|kind| metric.get(kind).is_some()).collect();
        let [kind] = kinds[..] else { panic!("{metric}") };
        keys(metric, &["name", "description", "unit", kind]);
        let data = &metric[kind];
        match kind {
            "sum" => {
                assert_eq!(keys(data, &["aggregationTemporality", "isMonotonic", "dataPoints"])["isMonotonic"], true);
            }
            "gauge" => drop(keys(data, &["dataPoints"])),
            _ => drop(keys(data, &["aggregationTemporality", "dataPoints"])),
        }
        // Cumulative.
        assert!(kind == "gauge" || data["aggregationTemporality"] == 2, "{metric}");
        let points = data["dataPoints"].as_array().unwrap();
        assert!(!points.is_empty(), "{name}");
        points.iter().for_each(|point| self.point(name, kind, point));
    }

    fn point(&mut self, name: &str, kind: &str, point: &Value) {
        let place = (name.to_owned(), attributes(&point["attributes"]));
        assert!(integer(&point["timeUnixNano"]) > 1_600_000_000_000_000_000, "{point}");
        if kind != "gauge" {
            let start = integer(&point["startTimeUnixNano"]);
            assert!(start > 0 && start <= integer(&point["timeUnixNano"]), "{point}");
            self.sums.insert(place.clone(), start);
        }
        let figure = if kind == "histogram" { histogram(point) } else { number(point) };
        assert!(self.figures.insert(place, figure).is_none(), "{name} has two of {point}");
    }

    /// The figure of a metric whose attributes have these, summed up.
    pub fn figure(&self, name: &str, attribute: Option<(&str, &str)>) -> f64 {
        let has = |of: &BTreeMap<String, String>| {
            attribute.is_none_or(|(key, value)| of.get(key).is_some_and(|v| v == value))
        };
        let found: Vec<_> = self.figures.iter().filter(|((of, with), _)| of == name && has(with)).collect();
        assert!(!found.is_empty(), "{name} is not among {:?}", self.names());
        found.into_iter().map(|(_, figure)| figure).sum()
    }

    pub fn names(&self) -> BTreeSet<&str> {
        self.units.keys().map(String::as_str).collect()
    }
}

fn number(point: &Value) -> f64 {
    let is_integer = point.get("asInt").is_some();
    let allowed = ["attributes", "timeUnixNano", "startTimeUnixNano", if is_integer { "asInt" } else { "asDouble" }];
    assert!(point.as_object().unwrap().keys().all(|key| allowed.contains(&key.as_str())), "{point}");
    if is_integer { integer(&point["asInt"]) as f64 } else { point["asDouble"].as_f64().unwrap() }
}

fn histogram(point: &Value) -> f64 {
    keys(point, &["attributes", "timeUnixNano", "startTimeUnixNano", "count", "sum", "bucketCounts", "explicitBounds"]);
    let bounds: Vec<_> = point["explicitBounds"].as_array().unwrap().iter().map(|b| b.as_f64().unwrap()).collect();
    let counts: Vec<_> = point["bucketCounts"].as_array().unwrap().iter().map(integer).collect();
    assert!(bounds.is_sorted() && counts.len() == bounds.len() + 1, "{point}");
    let count = integer(&point["count"]);
    assert_eq!(counts.iter().sum::<u64>(), count);
    let sum = point["sum"].as_f64().unwrap();
    assert!(count == 0 || sum > 0.0, "{point}");
    count as f64
}

/// An object with these keys and no other.
fn keys<'a>(object: &'a Value, expected: &[&str]) -> &'a Value {
    let keys: BTreeSet<_> = object.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, expected.iter().copied().collect(), "{object}");
    object
}

fn only(list: &Value) -> &Value {
    let [one] = &list.as_array().unwrap()[..] else { panic!("{list}") };
    one
}

/// 64-bit integers are texts.
fn integer(value: &Value) -> u64 {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).parse().unwrap()
}

fn attributes(list: &Value) -> BTreeMap<String, String> {
    let attribute = |attribute: &Value| {
        let value = keys(&keys(attribute, &["key", "value"])["value"], &["stringValue"]);
        (attribute["key"].as_str().unwrap().to_owned(), value["stringValue"].as_str().unwrap().to_owned())
    };
    list.as_array().unwrap().iter().map(attribute).collect()
}
