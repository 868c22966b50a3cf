//! Servers that refuse, hang, fail or break connections: what they did is in the account, and the run ends in time.

use crate::oracle::{Account, OPEN, Request, alone, serve};
use iotbench_core::Cause;
use iotbench_engine::{Phase, Reason, Status};
use iotbench_oracle_server::{ClosedPort, Discipline, Fate, Fault, Server};
use std::{num::NonZeroU64, time::Duration};

const SERVICE: Duration = Duration::from_millis(1);

fn faulty(fault: Fault) -> Server {
    serve(SERVICE, Discipline::Parallel, vec![fault])
}

fn errors(account: &Account, cause: Cause) -> u64 {
    let measured = account.outcome.measured.as_ref().unwrap();
    measured.recording.errors().iter().find(|(name, _)| *name == cause.name()).map_or(0, |(_, tally)| tally.count)
}

#[test]
fn a_closed_port_fails_before_the_load() {
    let _alone = alone();
    let port = ClosedPort::take().unwrap();
    let account = Request::new(OPEN, &[]).run(port.address());
    let verdict = &account.outcome.verdict;
    assert!(account.took < Duration::from_secs(5), "{:?}", account.took);
    assert_eq!((verdict.status, verdict.exit_code()), (Status::Failed, 20));
    let [Reason::Target { cause: Cause::Connect, .. }] = verdict.reasons.as_slice() else { panic!("{verdict:?}") };
    assert_eq!(verdict.reasons[0].to_string().lines().count(), 1);
    assert_eq!((account.outcome.load.offered, account.outcome.phase), (0, Phase::Create));
    assert_eq!(account.seen.epoch, None);
}

#[test]
fn a_server_that_hangs_does_not_hold_the_run() {
    let _alone = alone();
    let server = faulty(Fault::Hang { after: 200 });
    let set = ["rate=100", "connections=50", "duration=4s", "deadline=1s", "drain=500ms"];
    let account = Request::new(OPEN, &set).run(server.address());
    // The load, the drain, and some time for all that is not load.
    assert!(account.took < Duration::from_millis(4_000 + 500 + 1_500), "{:?}", account.took);
    let (load, ledger) = (account.outcome.load, server.ledger());
    assert_eq!((load.offered, load.ok, load.fail), (400, 200, 0));
    assert_eq!(load.unknown, ledger.missing().count() as u64);
    let timed_out = errors(&account, Cause::TimedOut);
    assert_eq!(timed_out, load.unknown);
    // A writer that timed out is discarded: requests after it come on new connections.
    let connections = 1 + ledger.entries.iter().map(|e| e.connection).max().unwrap();
    assert!(connections > 2 + 50, "only {connections} connections: no writer was replaced");
}

#[test]
fn errors_of_the_server_are_counted_and_kept_out_of_the_success_figures() {
    let _alone = alone();
    let every = NonZeroU64::new(10).unwrap();
    let server = faulty(Fault::ErrorEvery { every, status: std::num::NonZeroU8::new(7).unwrap() });
    let account = Request::new(OPEN, &["duration=2s"]).run(server.address());
    let (load, ledger) = (account.outcome.load, server.ledger());
    assert_eq!((load.offered, load.ok, load.fail, load.unknown), (800, 720, 80, 0));
    assert_eq!(account.outcome.points.acked, ledger.confirmed_points());
    assert_eq!((account.outcome.points.failed, errors(&account, Cause::Server)), (80, 80));
    let measured = account.measured();
    assert_eq!(measured.by_operation().ok().count(), 720);
    assert_eq!(measured.by_operation().fail().unwrap().count(), 80);
    assert_eq!(load.censored, 0, "a failure has an answer");
}

#[test]
fn a_reset_after_storing_is_unknown() {
    let _alone = alone();
    let server = faulty(Fault::ResetAfterStoring { every: NonZeroU64::new(50).unwrap() });
    let account = Request::new(OPEN, &["duration=2s", "connections=20"]).run(server.address());
    let (load, ledger) = (account.outcome.load, server.ledger());
    let resets = ledger.entries.iter().filter(|e| matches!(e.fate, Fate::Reset { .. })).count() as u64;
    assert_eq!((load.offered, load.unknown, load.fail), (800, resets, 0));
    assert_eq!(resets, 16);
    assert_eq!(account.outcome.points.unknown, resets);
    assert_eq!(account.outcome.points.acked, ledger.confirmed_points());
    assert_eq!(errors(&account, Cause::Connect), resets);
}

/// No request is sent twice by the tool's own doing: what has no answer stays without one.
#[test]
fn nothing_is_retried_silently() {
    let _alone = alone();
    let server = faulty(Fault::ResetAfterStoring { every: NonZeroU64::new(7).unwrap() });
    Request::new(OPEN, &["duration=1s", "connections=20"]).run(server.address());
    let mut ids: Vec<u64> = server.ledger().entries.iter().map(|e| e.id).collect();
    let sent = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), sent);
}
