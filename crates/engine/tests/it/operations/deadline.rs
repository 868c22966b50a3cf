//! The deadline of an operation is that of all its requests and pauses together.

use crate::operations::{
    INSERTS, Trace, planned, run_traced,
    scripted::{Act, SUCCEED, Script, Scripted, fail},
};
use iotbench_core::{Applied, Cause};
use iotbench_engine::{Event, Observer, Phase, RunOptions, StopSignal, run};
use std::time::Duration;

/// Nine pauses of 20 ms are within a deadline of 200 ms; with 50 ms of a request they are not.
const SLOW: [&str; 5] =
    ["requests=10", "groups.0.operations.0.pause=20ms", "phases.deadline=200ms", "phases.operations=5", "drain=5s"];

#[test]
fn an_operation_whose_time_is_over_in_a_pause_ends_there() {
    for transaction in [false, true] {
        let slow_first = |n: u64| if n == 0 { Act::Succeed(Duration::from_millis(50)) } else { SUCCEED };
        let backend = Scripted::new(Script { write: slow_first, commit: |_| SUCCEED });
        let transaction_set = format!("transaction={transaction}");
        let set: Vec<&str> = SLOW.into_iter().chain([transaction_set.as_str()]).collect();
        let (outcome, trace) = run_traced(backend, INSERTS, &set);
        let state = backend.state.lock().unwrap();
        assert_eq!(outcome.load.started, 5);
        let first = trace[0];
        assert_ne!(first.outcome, "ok");
        assert!(first.timing.service_ns() >= 200_000_000, "it had its deadline: {first:?}");
        assert_eq!(state.points(), outcome.points.acked + outcome.points.unknown);
        if transaction {
            assert_eq!(outcome.points.acked, 10 * outcome.load.ok, "all of an operation or nothing");
            assert!(state.connections > 1, "its connection is given up, which undoes it");
        } else {
            assert!(outcome.points.acked > 10 * outcome.load.ok, "what was acknowledged before stays");
        }
    }
}

#[test]
fn an_operation_whose_time_is_over_in_a_request_has_timed_out() {
    let never = |n: u64| if n == 2 { Act::Succeed(Duration::from_secs(3600)) } else { SUCCEED };
    let backend = Scripted::new(Script { write: never, commit: |_| SUCCEED });
    let set: Vec<&str> = SLOW.into_iter().chain(["transaction=false"]).collect();
    let (outcome, trace) = run_traced(backend, INSERTS, &set);
    assert_eq!(trace[0].outcome, "unknown");
    let state = backend.state.lock().unwrap();
    assert_eq!((outcome.points.unknown, outcome.points.failed >= 7), (1, true), "one was under way, seven never sent");
    assert_eq!(state.points(), outcome.points.acked, "it was not stored");
}

#[test]
fn what_pauses_when_the_run_gives_up_has_failed() {
    let set = ["requests=3", "groups.0.operations.0.pause=20s", "phases.operations=1", "duration=1s", "drain=100ms"];
    for (transaction, acked) in [("transaction=false", 1), ("transaction=true", 0)] {
        let set: Vec<&str> = set.into_iter().chain([transaction]).collect();
        let backend = Scripted::new(Script { write: |_| SUCCEED, commit: |_| SUCCEED });
        let (outcome, _) = run_traced(backend, INSERTS, &set);
        let (load, points) = (outcome.load, outcome.points);
        assert_eq!((load.started, load.fail, points.acked, points.failed), (1, 1, acked, 3 - acked));
    }
}

/// Half a second to replace a table and to drop one, where an operation may take a fifth.
fn slow_to_drop(write: fn(u64) -> Act) -> &'static Scripted {
    let backend = Scripted::new(Script { write, commit: |_| SUCCEED });
    backend.state.lock().unwrap().dropping_takes = Duration::from_millis(500);
    backend
}

#[test]
fn what_is_large_is_dropped_however_long_an_operation_may_take() {
    let (outcome, _) = run_traced(slow_to_drop(|_| SUCCEED), INSERTS, &["phases.deadline=200ms", "pause=0s"]);
    assert!(outcome.verdict.reasons.is_empty(), "{:?}", outcome.verdict);
}

/// Asks for the end as soon as the drop begins.
struct Impatient(StopSignal);

impl Observer for Impatient {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        if matches!(event, Event::Phase { phase: Phase::Drop, .. }) {
            self.0.request(15);
        }
        Ok(())
    }
}

#[test]
fn a_signal_does_not_cut_off_what_is_dropped() {
    let backend = slow_to_drop(|_| SUCCEED);
    let folder = tempfile::tempdir().unwrap();
    let planned = planned(backend, folder.path(), INSERTS, &["phases.deadline=200ms", "pause=0s"]);
    let stop = StopSignal::default();
    let outcome = run(planned, backend, RunOptions::default(), &mut Impatient(stop.clone()), &stop);
    let reasons: Vec<_> = outcome.verdict.reasons.iter().map(ToString::to_string).collect();
    assert_eq!((outcome.verdict.exit_code(), reasons.len()), (143, 1), "{reasons:?}");
    assert_eq!(backend.state.lock().unwrap().drops, 2, "before the load, and after it");
}

#[test]
fn a_database_that_has_failed_is_not_waited_for() {
    let backend = slow_to_drop(|n| if n == 3 { fail(Cause::Auth, Applied::No) } else { SUCCEED });
    let folder = tempfile::tempdir().unwrap();
    let planned = planned(backend, folder.path(), INSERTS, &["phases.deadline=200ms", "pause=0s"]);
    let outcome = run(planned, backend, RunOptions::default(), &mut Trace::default(), &StopSignal::default());
    let reasons: Vec<_> = outcome.verdict.reasons.iter().map(ToString::to_string).collect();
    assert!(reasons[0].contains("as the script says"), "{reasons:?}");
    assert!(reasons[1].contains("is not dropped: no answer within 0.2 s"), "{reasons:?}");
}
