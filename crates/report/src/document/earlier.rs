//! What documents of the major versions before say in the words of this one.

use serde_json::Value;

/// How the names of the formats began.
pub(super) const FIRST: &str = "iotbench-run/1.";
pub(super) const SECOND: &str = "iotbench-run/2.";

/// Figures that are lower bounds as soon as one operation has no answer; so may each quantile be, which they did not tell.
const OF_SURVIVORS: [&str; 8] = ["mean", "max", "std_dev", "p50", "p90", "p95", "p99", "p999"];

/// Where operations had no answer, the response times were those of the others, and the bounds stood apart.
pub(super) fn bounds_for_survivors(document: &mut Value) {
    let Some(latency) = document.get_mut("latency").and_then(Value::as_object_mut) else { return };
    let Some(least) = latency.remove("response_at_least").filter(Value::is_object) else { return };
    let response = latency.get_mut("by_operation").and_then(|durations| durations.get_mut("response"));
    let Some(response) = response.and_then(Value::as_object_mut) else { return };
    for name in OF_SURVIVORS {
        response.insert(name.into(), Value::Null);
    }
    response.insert("ci95".into(), Value::Object(serde_json::Map::new()));
    response.insert("at_least".into(), least);
}

/// A search ended with two loads that were tried, each of them again.
pub(super) fn bounds_of_single_loads(document: &mut Value) {
    let Some(capacity) = document.get_mut("capacity").and_then(Value::as_object_mut) else { return };
    if let Some(lower) = capacity.get("lower").cloned() {
        capacity.insert("sustained".into(), lower);
    }
    for step in capacity.get_mut("steps").and_then(Value::as_array_mut).into_iter().flatten() {
        if step.get("purpose").and_then(Value::as_str) == Some("confirm") {
            step["purpose"] = "retest".into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_no_object_is_left_as_it_is() {
        let of = |response: Value| json!({ "latency": { "response_at_least": {}, "by_operation": { "response": response } } });
        for response in [json!(7), json!("text"), json!([1])] {
            let mut document = of(response.clone());
            bounds_for_survivors(&mut document);
            assert_eq!(document["latency"]["by_operation"]["response"], response);
        }
        let mut document = of(json!({ "mean": 3.0, "count": 2 }));
        bounds_for_survivors(&mut document);
        let response = &document["latency"]["by_operation"]["response"];
        assert_eq!(
            (&response["mean"], &response["count"], &response["at_least"]),
            (&Value::Null, &2.into(), &json!({}))
        );
    }
}
