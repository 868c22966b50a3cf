//! A ramp over more loops than may hand over to the control thread at once.

use crate::operations::{
    planned,
    scripted::{SUCCEED, Script, Scripted},
};
use iotbench_engine::{RunOptions, StopSignal, run};
use std::time::{Duration, Instant};

/// Each user has a connection, and with calls that block a loop, of its own: at the end of a step more slices come at once
/// than wait for the control thread. The deadline is what a step may wait for at most, twice.
const RAMP: &str = r#"
name = "ramp"
summary = "test"
[dataset]
name = "weather"
[[groups]]
name = "writers"
connections = 150
load = { model = "closed", users = 150, think_time = "200ms" }
operations = [{ kind = "write", datapoints = 1 }]
[phases]
deadline = "60s"
[ramp]
steps = [100, 150]
step = "3s"
[stop]
mean_response = "1s"
"#;

#[test]
fn a_step_does_not_wait_for_loops_that_wait_for_it() {
    let backend = Scripted::blocking(Script { write: |_| SUCCEED, commit: |_| SUCCEED });
    let folder = tempfile::tempdir().unwrap();
    let planned = planned(backend, folder.path(), RAMP, &[]);
    let began = Instant::now();
    let outcome = run(planned, backend, RunOptions::default(), &mut (), &StopSignal::default());
    assert!(!outcome.capacity.unwrap().steps.is_empty(), "{:?}", outcome.verdict);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}
