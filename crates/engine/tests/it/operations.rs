//! Operations of several requests, mixes of operations, and requests over several devices: what is counted is what the
//! database holds, whatever fails.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod scripted;

/// A ramp of a user and more, who write ten datapoints each 20 ms, with these keys of its own.
macro_rules! ramp {
    ($keys:literal) => {
        concat!(
            r#"
name = "ramp"
summary = "test"
[dataset]
name = "pmu"
[[groups]]
name = "pmus"
load = { model = "closed", users = 1, think_time = "20ms" }
operations = [{ kind = "write", datapoints = 10 }]
[phases]
others_cpu = "100%"
deadline = "20s"
[ramp]
step = "1s"
"#,
            $keys
        )
    };
}

mod added;
mod corrected;
mod deadline;
mod devices;
mod failures;
mod fresh;
mod groups;
mod mixes;
mod preconditioned;
mod probing;
mod ramps;
mod room;
mod sensors;
mod tracing;
mod transactions;
mod twice;

use iotbench_backends::BACKENDS;
use iotbench_core::{Backend, Registry, Target};
use iotbench_engine::{
    Event, Observer, OperationRecord, Outcome, Overrides, PlanRequest, Planned, RunOptions, StopSignal, parse_profile,
    plan, run,
};
use iotbench_recorder::PointCounts;
use std::path::Path;

/// A transaction of five inserts with pauses, as the weather study's.
const INSERTS: &str = r#"
name = "inserts"
summary = "test"
[dataset]
name = "weather"
[[groups]]
name = "writer"
load = { model = "closed", users = 1 }
operations = [{ kind = "write", datapoints = 1, requests = 5, pause = "2ms", transaction = true }]
[phases]
operations = 20
duration = "60s"
"#;

/// What the trace told.
#[derive(Default)]
struct Trace(Vec<OperationRecord>);

impl Observer for Trace {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        if let Event::Operations(operations) = event {
            self.0.extend_from_slice(operations);
        }
        Ok(())
    }
}

fn planned(backend: &dyn Backend, folder: &Path, text: &str, set: &[&str]) -> Planned {
    let set = set.iter().map(ToString::to_string).collect();
    let profile = parse_profile("test.toml", text).unwrap().with(&Overrides { set, ..Overrides::default() }).unwrap();
    let request = PlanRequest {
        profile,
        profile_file: "test.toml".into(),
        base: folder,
        run_id: "test".into(),
        target: Target { folder: Some(folder.to_owned()), ..Target::default() },
        now_ns: 0,
    };
    plan(request, backend).unwrap()
}

/// The plan of a profile with these assignments on a backend that has no files yet; or why it is refused.
fn planned_on(backend: &str, text: &str, set: &[&str]) -> Result<Planned, String> {
    let overrides = Overrides { set: set.iter().map(ToString::to_string).collect(), ..Overrides::default() };
    let request = PlanRequest {
        profile: parse_profile("test.toml", text).unwrap().with(&overrides).map_err(|e| e.to_string())?,
        profile_file: "test.toml".into(),
        base: Path::new("."),
        run_id: "test".into(),
        target: Target { folder: Some("database".into()), ..Target::default() },
        now_ns: 0,
    };
    plan(request, Registry::new(BACKENDS).find(backend).unwrap()).map_err(|e| e.to_string())
}

/// Runs a profile with these assignments, with a trace. Whatever else a run is, its counts balance, and what is stored
/// lies between what was acknowledged and what may have been stored besides.
fn run_traced(backend: &'static dyn Backend, text: &str, set: &[&str]) -> (Outcome, Vec<OperationRecord>) {
    let folder = tempfile::tempdir().unwrap();
    let planned = planned(backend, folder.path(), text, set);
    let mut trace = Trace::default();
    let options = RunOptions { trace: true, ..RunOptions::default() };
    let outcome = run(planned, backend, options, &mut trace, &StopSignal::default());
    let verdict = &outcome.verdict;
    assert_eq!((outcome.load.check(), outcome.points.check()), (Ok(()), Ok(())), "{verdict:?}");
    let PointCounts { acked, failed, unknown, .. } = outcome.points;
    let summary = outcome.stored.ledger.as_ref().unwrap().summary().unwrap();
    assert_eq!(summary.points, [acked, failed, unknown], "the ledger names every datapoint: {verdict:?}");
    assert!(summary.ended, "{verdict:?}");
    assert_eq!(outcome.acked().len(), acked, "each once");
    let (stored, points) = (outcome.stored.counts.unwrap().points, outcome.points);
    assert!((points.acked..=points.acked + points.unknown).contains(&stored), "{stored} stored, {points:?}");
    (outcome, trace.0)
}

fn run_on(backend: &str, text: &str, set: &[&str]) -> Outcome {
    run_traced(Registry::new(BACKENDS).find(backend).unwrap(), text, set).0
}
