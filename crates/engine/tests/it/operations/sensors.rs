//! Sensors that go on measuring while the database does not answer.

use crate::operations::{
    run_traced,
    scripted::{Act, SUCCEED, Script, Scripted},
};
use iotbench_engine::{Outcome, Reason};
use std::time::Duration;

/// A hundred datapoints a second, of which the sensor keeps ten.
const SENSOR: &str = r#"
name = "sensor"
summary = "test"
devices = 1
[dataset]
name = "weather"
[[groups]]
name = "sensor"
load = { model = "paced", rate = 100, queue = "220B", message = "22B" }
operations = [{ kind = "write" }]
[phases]
warmup = "0s"
duration = "6s"
"#;

/// A database that takes its time over one write.
fn run(set: &[&str]) -> Outcome {
    let slow_once = |number| if number == 100 { Act::Succeed(Duration::from_millis(140)) } else { SUCCEED };
    run_traced(Scripted::new(Script { write: slow_once, commit: |_| SUCCEED }), SENSOR, set).0
}

fn is_overloaded(outcome: &Outcome) -> bool {
    outcome.verdict.reasons.iter().any(|reason| matches!(reason, Reason::Overloaded(_)))
}

/// Three or four datapoints of 600 find the queue full.
#[test]
fn whoever_loses_a_datapoint_of_a_sensor_has_not_carried_it() {
    let outcome = run(&[]);
    assert!(outcome.points.dropped > 0, "{:?}", outcome.points);
    assert!(is_overloaded(&outcome), "{:?}", outcome.verdict);
    let allowed = run(&["max_loss=50%"]);
    assert!(allowed.points.dropped > 0 && !is_overloaded(&allowed), "{:?}", allowed.verdict);
}
