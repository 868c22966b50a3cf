//! Servers that refuse, hang, fail or break connections: what they did is in the account, and the run ends in time.

use crate::real_time::oracle::{Account, CLOSED, Findings, OPEN, Request, experiment, serve};
use iotbench_core::Cause;
use iotbench_engine::{Phase, Reason, Status, StopSignal};
use iotbench_oracle_server::{
    ClosedPort, Discipline, Entry, Fate, Fault, Program, Server, ServiceTime, Settings, backend::identity,
};
use std::{
    collections::BTreeSet,
    num::NonZeroU64,
    time::{Duration, Instant},
};

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
    let every = NonZeroU64::new(10).unwrap();
    let server = faulty(Fault::ErrorEvery { every, status: std::num::NonZeroU8::new(7).unwrap() });
    let account = Request::new(OPEN, &["operations=800", "duration=60s"]).run(server.address());
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
    let server = faulty(Fault::ResetAfterStoring { every: NonZeroU64::new(50).unwrap() });
    let account = Request::new(OPEN, &["operations=800", "duration=60s", "connections=20"]).run(server.address());
    let (load, ledger) = (account.outcome.load, server.ledger());
    let resets = ledger.entries.iter().filter(|e| matches!(e.fate, Fate::Reset { .. })).count() as u64;
    assert_eq!((load.offered, load.unknown, load.fail), (800, resets, 0));
    assert_eq!(resets, 16);
    assert_eq!(account.outcome.points.unknown, resets);
    assert_eq!(account.outcome.points.acked, ledger.confirmed_points());
    assert_eq!(errors(&account, Cause::Connect), resets);
}

/// 64 users on as many connections lose their server five times. A refused connection is tried again after at most 2 s, so
/// that all are back by then, and a random part of that keeps them from coming all at once.
#[test]
fn all_users_are_back_soon_after_each_of_five_restarts() {
    const USERS: u64 = 64;
    const LONGEST_WAIT: Duration = Duration::from_secs(2);
    experiment(|| {
        let program =
            || Program { service: ServiceTime::Constant(SERVICE), discipline: Discipline::Parallel, faults: vec![] };
        let settings = |port| Settings { ledger_capacity: 1 << 18, port, ..Settings::new(program(), Instant::now()) };
        let first = Server::start(settings(0)).unwrap();
        let address = first.address();
        let stop = StopSignal::default();
        let set = ["users=64", "connections=64", "duration=60s", "think_time=20ms", "deadline=5s"];
        let request = Request { stop: stop.clone(), ..Request::new(CLOSED, &set) };
        let (account, recovered) = std::thread::scope(|scope| {
            let restarts = scope.spawn(|| {
                let mut server = first;
                let mut recovered = vec![all_are_answered(&server, USERS)];
                for _ in 0..5 {
                    drop(server);
                    std::thread::sleep(Duration::from_millis(400));
                    server = Server::start(settings(address.port())).unwrap();
                    recovered.push(all_are_answered(&server, USERS));
                }
                stop.request(2);
                recovered
            });
            (request.run(address), restarts.join().unwrap())
        });
        let mut findings = Findings::of(&account.outcome);
        for after in &recovered[1..] {
            findings.expect(*after <= LONGEST_WAIT + Duration::from_millis(500), || {
                format!("all back after {recovered:?}")
            });
        }
        assert_eq!(account.outcome.verdict.exit_code(), 130, "{:?}", account.outcome.verdict);
        assert!(errors(&account, Cause::Connect) >= USERS, "each connection broke");
        findings
    });
}

/// A proxy whose server is gone takes connections and closes them: opening them succeeds, and yet they are spread by waits.
#[test]
fn connections_that_are_closed_as_they_are_opened_are_no_storm() {
    let server = faulty(Fault::ResetAfterStoring { every: NonZeroU64::MIN });
    let set = ["rate=2000", "connections=4", "duration=2s", "drain=100ms"];
    let request = Request::new(OPEN, &set);
    let account = request.at_start(|_| server.close_to_new(true)).run(server.address());
    let load = account.outcome.load;
    assert_eq!((load.offered, load.ok), (4000, 0), "none was answered");
    // Waits of 50, 100, 200, 400, 800 and 1,000 ms in the mean, on each of four connections.
    assert!((8..=120).contains(&load.started), "{load:?}");
}

/// How long it took until each of so many devices had an answer.
fn all_are_answered(server: &Server, devices: u64) -> Duration {
    let begun = Instant::now();
    loop {
        let answered = |entry: &&Entry| matches!(entry.fate, Fate::Answered { .. });
        let ledger = server.ledger();
        let back: BTreeSet<u64> = ledger.entries.iter().filter(answered).map(|entry| identity(entry.id).0).collect();
        if back.len() as u64 == devices {
            return begun.elapsed();
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "only {} of {devices} users are back", back.len());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// No request is sent twice by the tool's own doing: what has no answer stays without one.
#[test]
fn nothing_is_retried_silently() {
    let server = faulty(Fault::ResetAfterStoring { every: NonZeroU64::new(7).unwrap() });
    let account = Request::new(OPEN, &["duration=1s", "connections=20"]).run(server.address());
    let mut ids: Vec<u64> = server.ledger().entries.iter().map(|e| e.id).collect();
    let sent = ids.len();
    assert_eq!(account.outcome.load.started, sent as u64, "each operation that was started is one request");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), sent);
}
