//! Operations of several requests against a server that fails: the ledger has the requests, the account the operations.

use crate::real_time::oracle::{OPEN, Request, parallel, serve};
use iotbench_oracle_server::{Discipline, Fault};
use std::{num::NonZeroU8, num::NonZeroU64, time::Duration};

const SET: [&str; 4] = ["requests=6", "operations=300", "duration=60s", "groups.0.operations.0.datapoints=3"];

#[test]
fn each_request_is_in_the_ledger_and_has_its_own_time() {
    let server = parallel(2);
    let account = Request::new(OPEN, &SET).run(server.address());
    let (load, ledger) = (account.outcome.load, server.ledger());
    assert_eq!((load.offered, load.ok, ledger.entries.len()), (300, 300, 1800));
    assert!(ledger.entries.iter().all(|e| e.points == 3));
    let measured = account.measured();
    let (operations, requests) = (measured.by_operation().ok(), measured.by_request().ok());
    assert_eq!((operations.count(), requests.count()), (300, 1800));
    let served_ns: u128 = ledger.service_ns().map(u128::from).sum();
    assert!(requests.service().sum_ns() >= served_ns, "no request is faster than the server");
    assert!(operations.service().sum_ns() >= requests.response().sum_ns(), "requests lie within their operation");
}

#[test]
fn an_error_ends_its_operation_and_what_was_acknowledged_before_stays() {
    let every = NonZeroU64::new(20).unwrap();
    let fault = Fault::ErrorEvery { every, status: NonZeroU8::new(7).unwrap() };
    let server = serve(Duration::from_millis(1), Discipline::Parallel, vec![fault]);
    let account = Request::new(OPEN, &SET).run(server.address());
    let (load, points, ledger) = (account.outcome.load, account.outcome.points, server.ledger());
    let requests = ledger.entries.len() as u64;
    assert_eq!((load.offered, load.unknown, load.fail), (300, 0, requests / 20));
    assert_eq!((points.sent, points.unknown, points.acked), (5400, 0, ledger.confirmed_points()));
    let measured = account.measured();
    let failed = measured.by_request().fail().unwrap().count();
    assert_eq!((measured.by_request().ok().count() + failed, failed), (requests, load.fail));
}

#[test]
fn a_reset_leaves_one_request_unknown_and_the_rest_of_its_operation_unsent() {
    let fault = Fault::ResetAfterStoring { every: NonZeroU64::new(50).unwrap() };
    let server = serve(Duration::from_millis(1), Discipline::Parallel, vec![fault]);
    let account = Request::new(OPEN, &SET).run(server.address());
    let (load, points, ledger) = (account.outcome.load, account.outcome.points, server.ledger());
    assert_eq!((load.fail, load.unknown, points.unknown), (0, load.unknown, 3 * load.unknown));
    assert!(load.unknown > 0 && load.censored == load.unknown);
    assert_eq!(points.acked, ledger.confirmed_points());
    assert_eq!(ledger.entries.len() as u64, measured_requests(&account));
}

fn measured_requests(account: &crate::real_time::oracle::Account) -> u64 {
    let measured = account.measured();
    let requests = measured.by_request();
    requests.ok().count() + requests.unknown().map_or(0, iotbench_recorder::Latency::count)
}
