//! What documents of the major version before say in the words of this one.

use serde_json::Value;

/// How the name of the format began.
pub(super) const SCHEMA_BEFORE: &str = "iotbench-run/1.";

/// Figures that are lower bounds as soon as one operation has no answer; so may each quantile be, which they did not tell.
const OF_SURVIVORS: [&str; 8] = ["mean", "max", "std_dev", "p50", "p90", "p95", "p99", "p999"];

/// Where operations had no answer, the response times were those of the others, and the bounds stood apart.
pub(super) fn bounds_for_survivors(document: &mut Value) {
    let Some(latency) = document.get_mut("latency").and_then(Value::as_object_mut) else { return };
    let Some(least) = latency.remove("response_at_least").filter(Value::is_object) else { return };
    let Some(response) = latency.get_mut("by_operation").and_then(|durations| durations.get_mut("response")) else {
        return;
    };
    for name in OF_SURVIVORS {
        response[name] = Value::Null;
    }
    response["ci95"] = Value::Object(serde_json::Map::new());
    response["at_least"] = least;
}
