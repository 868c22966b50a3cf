//! Several operations in a group: drawn by their shares, from the seed alone.

use crate::operations::{
    run_traced,
    scripted::{SUCCEED, Script, Scripted},
};
use iotbench_engine::{OperationRecord, Outcome};

const MIX: &str = r#"
name = "mix"
summary = "test"
seed = 3
[dataset]
name = "pmu"
[[groups]]
name = "users"
load = { model = "closed", users = 4 }
[[groups.operations]]
name = "single"
kind = "write"
share = 6
[[groups.operations]]
name = "batch"
kind = "write"
share = 3
datapoints = 7
[[groups.operations]]
kind = "write"
share = 1
requests = 3
transaction = true
[phases]
operations = 3000
duration = "60s"
"#;

fn run(set: &[&str]) -> (Outcome, Vec<OperationRecord>) {
    let backend = Scripted::new(Script { write: |_| SUCCEED, commit: |_| SUCCEED });
    let (outcome, trace) = run_traced(backend, MIX, set);
    assert_eq!(backend.state.lock().unwrap().ranges(), outcome.acked(), "nothing is sent twice");
    (outcome, trace)
}

/// What a user did, in order.
fn sequence(trace: &[OperationRecord], user: u32) -> Vec<u16> {
    let mut own: Vec<_> = trace.iter().filter(|o| o.user == user).collect();
    own.sort_by_key(|o| o.timing.intended_ns());
    own.iter().map(|o| o.operation).collect()
}

#[test]
fn shares_are_kept_and_each_operation_has_its_name_and_its_figures() {
    for set in [[].as_slice(), &["model=open", "rate=5000"]] {
        let (outcome, trace) = run(set);
        let recording = &outcome.measured.as_ref().unwrap().recording;
        let names: Vec<_> = recording.kinds().iter().map(|k| k.name.as_str()).collect();
        assert_eq!(names, ["users/single", "users/batch", "users/write"]);
        for (kind, (share, points)) in [(0.6, 1), (0.3, 7), (0.1, 3)].into_iter().enumerate() {
            let load = recording.kind(kind).load();
            let (n, done) = (3000.0_f64, load.ok as f64);
            let sd = (n * share * (1.0 - share)).sqrt();
            // How many each user has done of its own sequence is the machine's: one of a million runs is beyond five.
            assert!((done - n * share).abs() <= 5.0 * sd, "operation {kind}: {done} of 3000");
            assert_eq!((load.check(), load.started), (Ok(()), load.ok));
            let of_kind = || trace.iter().filter(|o| usize::from(o.operation) == kind);
            assert_eq!(of_kind().count() as u64, load.ok);
            assert!(of_kind().all(|o| o.points == points));
        }
        assert_eq!(recording.kind(2).by_request().ok().count(), 3 * recording.kind(2).load().ok);
    }
}

#[test]
fn the_same_seed_does_the_same_in_the_same_order() {
    let set = ["users=1", "phases.operations=400"];
    let (one, other) = (run(&set).1, run(&set).1);
    assert_eq!(sequence(&one, 0).len(), 400);
    assert_eq!(sequence(&one, 0), sequence(&other, 0));
    let reseeded = run(&["users=1", "phases.operations=400", "seed=4"]).1;
    assert_ne!(sequence(&one, 0), sequence(&reseeded, 0));
}

#[test]
fn what_is_never_started_is_counted_as_the_operation_that_it_would_have_been() {
    let set = ["model=open", "rate=100k", "phases.operations=auto", "duration=1s", "connections=1", "overflow=drop"];
    let (outcome, _) = run(&set);
    let recording = &outcome.measured.as_ref().unwrap().recording;
    for kind in 0..3 {
        let load = recording.kind(kind).load();
        assert!(load.offered > 0 && load.offered == load.started + load.dropped + load.pending, "{load:?}");
    }
}
