//! Operations of several requests that fail half-way: what was acknowledged, what failed and what is unknown is exact.

use crate::operations::{
    INSERTS, Trace, planned, run_traced,
    scripted::{SUCCEED, Script, Scripted, fail},
};
use iotbench_core::{Applied, Cause};
use iotbench_engine::{Outcome, RunOptions, StopSignal, VerifyMode, run as run_planned};

/// 20 operations of 5 requests with 2 datapoints each.
fn run(script: Script, transaction: bool) -> (&'static Scripted, Outcome) {
    let backend = Scripted::new(script);
    let transaction = format!("transaction={transaction}");
    let set = [transaction.as_str(), "pause=0s", "groups.0.operations.0.datapoints=2"];
    let (outcome, trace) = run_traced(backend, INSERTS, &set);
    assert_eq!((outcome.load.started, outcome.points.sent, trace.len()), (20, 200, 20));
    (backend, outcome)
}

fn fates(outcome: &Outcome) -> [u64; 6] {
    let (load, points) = (outcome.load, outcome.points);
    [load.ok, load.fail, load.unknown, points.acked, points.failed, points.unknown]
}

fn requests(outcome: &Outcome) -> [u64; 3] {
    let kind = outcome.measured.as_ref().unwrap().recording.kind(0).clone();
    let requests = kind.by_request();
    [Some(requests.ok()), requests.fail(), requests.unknown()].map(|l| l.map_or(0, iotbench_recorder::Latency::count))
}

/// The third write of all belongs to the first operation, and ends it; all others succeed.
fn third(number: u64, applied: Applied) -> crate::operations::scripted::Act {
    if number == 2 { fail(Cause::Server, applied) } else { SUCCEED }
}

#[test]
fn without_a_transaction_the_acknowledged_stay_and_the_rest_is_never_sent() {
    let commit = |_| SUCCEED;
    let (backend, outcome) = run(Script { write: |n| third(n, Applied::No), commit }, false);
    assert_eq!(fates(&outcome), [19, 1, 0, 194, 6, 0]);
    assert_eq!(requests(&outcome), [2 + 95, 1, 0]);
    let writes = backend.state.lock().unwrap().writes;
    assert_eq!((backend.state.lock().unwrap().ranges(), writes), (outcome.acked(), 98), "two were never sent");

    let (backend, outcome) = run(Script { write: |n| third(n, Applied::Rows(vec![1])), commit }, false);
    assert_eq!(fates(&outcome), [19, 1, 0, 195, 5, 0]);
    assert_eq!(backend.state.lock().unwrap().ranges(), outcome.acked(), "the ledger names the row that was stored");

    let (backend, outcome) = run(Script { write: |n| third(n, Applied::Maybe), commit }, false);
    assert_eq!(fates(&outcome), [19, 0, 1, 194, 4, 2]);
    assert_eq!(requests(&outcome), [2 + 95, 0, 1]);
    assert_eq!(backend.state.lock().unwrap().points(), 196, "the two unknown ones were stored");
}

#[test]
fn nothing_of_a_transaction_that_fails_is_stored_and_its_connection_goes() {
    for applied in [|n| third(n, Applied::No), |n| third(n, Applied::Maybe), |n| third(n, Applied::Rows(vec![0]))] {
        let (backend, outcome) = run(Script { write: applied, commit: |_| SUCCEED }, true);
        assert_eq!(fates(&outcome), [19, 1, 0, 190, 10, 0]);
        let state = backend.state.lock().unwrap();
        assert_eq!((state.begins, state.commits, state.connections), (20, 19, 2));
        assert_eq!(state.ranges(), outcome.acked());
    }
}

#[test]
fn a_commit_that_fails_is_unknown_whether_it_was_applied_or_not() {
    let lost = |n: u64| if n % 10 == 9 { fail(Cause::Connect, Applied::No) } else { SUCCEED };
    let applied = |n: u64| if n % 10 == 9 { fail(Cause::Connect, Applied::Maybe) } else { SUCCEED };
    for (commit, stored) in [(lost as fn(u64) -> _, 180), (applied, 200)] {
        let (backend, outcome) = run(Script { write: |_| SUCCEED, commit }, true);
        assert_eq!(fates(&outcome), [18, 0, 2, 180, 0, 20]);
        assert_eq!(requests(&outcome), [100, 0, 0], "every request was acknowledged");
        assert_eq!(backend.state.lock().unwrap().points(), stored);
    }
}

#[test]
fn failures_at_every_place_leave_the_counts_exact() {
    let commit = |n: u64| if n % 7 == 3 { fail(Cause::Server, Applied::Maybe) } else { SUCCEED };
    let write = |n: u64| match n % 9 {
        4 => fail(Cause::Server, Applied::No),
        7 if n.is_multiple_of(2) => fail(Cause::Connect, Applied::Maybe),
        _ => SUCCEED,
    };
    for transaction in [false, true] {
        let (backend, outcome) = run(Script { write, commit }, transaction);
        let state = backend.state.lock().unwrap();
        let (points, stored) = (outcome.points, state.points());
        assert!(outcome.load.fail > 0 && points.failed > 0);
        assert_eq!(stored, points.acked + points.unknown, "all that is unknown was stored");
        let [ok, failed, unknown] = requests(&outcome);
        assert_eq!(ok + failed + unknown, state.writes);
    }
}

#[test]
fn who_asks_for_everything_to_be_read_back_takes_no_result_without_it() {
    for (verify, code) in [(VerifyMode::Sample, 0), (VerifyMode::Full, 11)] {
        // Nothing is read from this database: it says so.
        let backend = Scripted::new(Script { write: |_| SUCCEED, commit: |_| SUCCEED });
        let folder = tempfile::tempdir().unwrap();
        let planned = planned(backend, folder.path(), INSERTS, &["pause=0s"]);
        let options = RunOptions { verify, ..RunOptions::default() };
        let outcome = run_planned(planned, backend, options, &mut Trace::default(), &StopSignal::default());
        assert_eq!(outcome.verdict.exit_code(), code, "{:?}", outcome.verdict);
        let reasons = outcome.verdict.reasons.iter().map(ToString::to_string);
        let told: Vec<_> = reasons.chain(outcome.plan.remarks).collect();
        assert!(told.iter().any(|text| text.contains("this backend cannot be asked")), "{told:?}");
    }
}
