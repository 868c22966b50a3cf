//! Operations of several requests that succeed.

use crate::operations::{INSERTS, run_on};
use iotbench_engine::{Outcome, Status};

fn assert_all_done(outcome: &Outcome, operations: u64, requests: u64) {
    assert_eq!(outcome.verdict.status, Status::Valid, "{:?}", outcome.verdict);
    assert_eq!((outcome.load.started, outcome.load.ok), (operations, operations));
    let kind = outcome.measured.as_ref().unwrap().recording.kind(0).clone();
    assert_eq!((kind.by_operation().ok().count(), kind.by_request().ok().count()), (operations, requests));
    assert_eq!((outcome.points.acked, outcome.stored.counts.unwrap().points), (requests, requests));
}

#[test]
fn a_transaction_of_inserts_is_stored_whole_and_measured_with_and_without_its_pauses() {
    for backend in ["sqlite", "memory"] {
        let outcome = run_on(backend, INSERTS, &[]);
        assert_all_done(&outcome, 20, 100);
        let kind = outcome.measured.as_ref().unwrap().recording.kind(0).clone();
        let (service, busy) = (kind.by_operation().ok().service(), kind.busy().unwrap());
        assert_eq!(busy.count(), 20);
        let pauses_ns = 20 * 4 * 2_000_000;
        assert!(busy.sum_ns() + pauses_ns <= service.sum_ns(), "{backend}: pauses are service, and not busy");
        let requests_ns = kind.by_request().ok().service().sum_ns();
        assert!(requests_ns < busy.sum_ns(), "{backend}: begin and commit are busy, and no request");
    }
}

#[test]
fn without_a_transaction_the_requests_are_the_same() {
    for backend in ["sqlite", "memory"] {
        assert_all_done(&run_on(backend, INSERTS, &["transaction=false"]), 20, 100);
    }
}

#[test]
fn without_pauses_there_is_no_busy_time_apart() {
    let outcome = run_on("sqlite", INSERTS, &["pause=0s"]);
    assert_all_done(&outcome, 20, 100);
    assert!(outcome.measured.unwrap().recording.kind(0).busy().is_none());
}

#[test]
fn a_transaction_of_one_request_is_an_operation_with_a_request() {
    assert_all_done(&run_on("sqlite", INSERTS, &["requests=1"]), 20, 20);
}

#[test]
fn an_open_loop_has_operations_of_several_requests() {
    let set = ["model=open", "rate=200", "connections=1", "groups.0.operations.0.pause=1ms"];
    assert_all_done(&run_on("memory", INSERTS, &set), 20, 100);
}

#[test]
fn a_sensor_sends_an_operation_when_all_its_requests_are_there() {
    let set = [
        "dataset.name=machine",
        "model=paced",
        "phases.operations=auto",
        "duration=1s",
        "pause=0s",
        "groups.0.operations.0.datapoints=2",
    ];
    let outcome = run_on("sqlite", INSERTS, &set);
    let kind = outcome.measured.as_ref().unwrap().recording.kind(0).clone();
    assert_eq!((outcome.points.generated, outcome.load.ok, kind.by_request().ok().count()), (1000, 100, 500));
}
