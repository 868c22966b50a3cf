//! Whoever watches a run does not disturb it.

use crate::real_time::oracle::{OPEN, Request, parallel};
use iotbench_engine::{Event, Status};
use iotbench_recorder::WindowCounts;
use std::time::Duration;

/// A results disk that takes a second for every second of the run.
#[test]
fn a_slow_observer_disturbs_nothing_and_is_told_everything() {
    let server = parallel(1);
    let account = Request::new(OPEN, &["warmup=2s", "duration=2s"])
        .at_event(|event| {
            if matches!(event, Event::Second(_)) {
                std::thread::sleep(Duration::from_millis(1000));
            }
        })
        .run(server.address());
    assert_ne!(account.outcome.verdict.status, Status::Failed);
    assert_eq!(account.outcome.client.samples_dropped, 0);
    // A machine that is busy at the very end may leave the last one or two unsent.
    let (load, sent) = (account.outcome.load, server.ledger().entries.len() as u64);
    assert_eq!((load.offered, load.ok + load.pending), (800, 800));
    assert_eq!(sent, 800 + load.ok);
    let mut told = WindowCounts::default();
    account.seen.seconds.iter().for_each(|second| told.merge(second));
    assert_eq!((told.offered, told.started, told.ok), (1600, sent, sent));
    assert_eq!(account.seen.operations.len() as u64, sent, "the trace is whole");
}

#[test]
fn an_observer_that_cannot_write_ends_the_run_and_the_figures_balance() {
    struct Full;
    impl iotbench_engine::Observer for Full {
        fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
            if matches!(event, Event::Second(_)) { Err("no space left on device".into()) } else { Ok(()) }
        }
    }
    let server = parallel(1);
    let planned = Request::new(OPEN, &["duration=20s"]).plan(server.address());
    let backend = &iotbench_oracle_server::backend::OracleBackend;
    let options = iotbench_engine::RunOptions::default();
    let outcome = iotbench_engine::run(planned, backend, options, &mut Full, &iotbench_engine::StopSignal::default());
    assert_eq!((outcome.verdict.status, outcome.verdict.exit_code()), (Status::Failed, 30));
    assert_eq!(outcome.load.check(), Ok(()));
    assert_eq!(outcome.load.started, server.ledger().entries.len() as u64);
}
