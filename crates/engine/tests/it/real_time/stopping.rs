//! A signal ends a run in any phase: it is marked, its counts balance, and it ends soon.

use crate::real_time::oracle::{Account, CLOSED, OPEN, Request, parallel, serve};
use iotbench_engine::{Event, Phase, Status, StopSignal};
use iotbench_oracle_server::{Discipline, Fault, Server};
use std::time::Duration;

/// Stops a run when it tells the `nth` second of a phase, or with 0 when the phase begins.
fn stopped_in(server: &Server, profile: &str, set: &[&str], phase: Phase, nth: u32) -> Account {
    let mut request = Request::new(profile, set);
    let stop = StopSignal::default();
    request.stop = stop.clone();
    let mut seconds = 0;
    let account = request
        .at_event(move |event| {
            let now = match event {
                Event::Phase { phase: begins, .. } => nth == 0 && *begins == phase,
                Event::Second(second) if second.phase == phase => {
                    seconds += 1;
                    seconds == nth
                }
                _ => false,
            };
            if now {
                stop.request(2);
            }
        })
        .run(server.address());
    assert_eq!((account.outcome.verdict.status, account.outcome.verdict.exit_code()), (Status::Aborted, 130));
    account
}

#[test]
fn before_the_load() {
    let server = parallel(1);
    let account = stopped_in(&server, OPEN, &[], Phase::Create, 0);
    assert_eq!((account.outcome.load.offered, server.ledger().entries.len()), (0, 0));
}

#[test]
fn in_the_warm_up() {
    let server = parallel(1);
    let account = stopped_in(&server, OPEN, &["warmup=20s"], Phase::WarmUp, 1);
    assert!(account.took < Duration::from_secs(5), "{:?}", account.took);
    assert_eq!(account.outcome.load.started, server.ledger().entries.len() as u64);
}

#[test]
fn in_the_measured_part() {
    let server = parallel(1);
    let account = stopped_in(&server, OPEN, &["duration=20s", "warmup=1s"], Phase::Measure, 1);
    assert!(account.took < Duration::from_secs(6), "{:?}", account.took);
    let measured = account.outcome.measured.as_ref().unwrap();
    assert!(measured.seconds_long() < 4.0);
    assert_eq!(account.outcome.load.ok, account.measured().by_operation().ok().count());
    assert!(account.outcome.load.ok > 0);
}

/// Forty operations are under way when the run is ended, and are answered afterwards.
#[test]
fn answers_that_come_after_the_end_are_no_throughput() {
    let server = parallel(400);
    let set = ["duration=20s", "groups.0.load.users=40", "groups.0.load.think_time=0s", "connections=40"];
    let account = stopped_in(&server, CLOSED, &set, Phase::Measure, 2);
    let measured = account.outcome.measured.as_ref().unwrap();
    let of_seconds: u64 = measured.seconds.iter().map(|second| second.ok).sum();
    assert!(account.outcome.load.ok >= of_seconds + 40, "{:?}", account.outcome.load);
    assert_eq!((measured.counts.ok, measured.to_ns % 1_000_000_000), (of_seconds, 0), "{:?}", measured.seconds);
}

#[test]
fn in_the_drain() {
    let server = serve(Duration::from_millis(1), Discipline::Parallel, vec![Fault::Hang { after: 100 }]);
    let account = stopped_in(&server, OPEN, &["duration=1s", "drain=1s"], Phase::Drain, 0);
    assert!(account.took < Duration::from_secs(5), "{:?}", account.took);
    assert_eq!((account.outcome.load.ok, account.outcome.load.offered), (100, 400));
}

const RAMP: &[&str] = &["groups.0.load.think_time=100ms"];

#[test]
fn in_a_ramp() {
    let server = serve(Duration::from_millis(5), Discipline::Queue, vec![]);
    let ramp = format!(
        "{CLOSED}\n[ramp]\nfirst = 8\ngrowth = 2\nmost = 64\nstep = \"1s\"\nresolution = \"5%\"\n\
         [stop]\nmean_response = \"300ms\"\n"
    );
    let account = stopped_in(&server, &ramp, RAMP, Phase::Measure, 3);
    assert!(account.took < Duration::from_secs(8), "{:?}", account.took);
    assert_eq!(account.outcome.load.started, server.ledger().entries.len() as u64);
}
