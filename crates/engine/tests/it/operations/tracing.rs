//! The trace is bounded: what nobody takes in time is counted as lost, and the result is invalid.

use crate::operations::{
    INSERTS, planned,
    scripted::{SUCCEED, Script, Scripted},
};
use iotbench_engine::{Event, Observer, Reason, RunOptions, Status, StopSignal, run};
use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

const OPERATIONS: u64 = 1_300_000;

/// Takes nothing until all operations have ended, then everything: a results disk that has stopped for a while.
struct Stopped {
    writes: Box<dyn Fn() -> u64 + Send>,
    told: Arc<Mutex<u64>>,
}

impl Observer for Stopped {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        let Event::Operations(operations) = event else { return Ok(()) };
        let patience = Instant::now() + Duration::from_secs(120);
        while (self.writes)() < OPERATIONS {
            assert!(Instant::now() < patience, "the load has stopped");
            std::thread::sleep(Duration::from_millis(10));
        }
        *self.told.lock().unwrap() += operations.len() as u64;
        Ok(())
    }
}

#[test]
fn what_cannot_be_told_is_counted_and_makes_the_result_invalid() {
    let backend = Scripted::new(Script { write: |_| SUCCEED, commit: |_| SUCCEED });
    let state = Arc::clone(&backend.state);
    let folder = tempfile::tempdir().unwrap();
    let operations = format!("phases.operations={OPERATIONS}");
    let set = [operations.as_str(), "phases.duration=10m", "users=8", "requests=1", "transaction=false"];
    let planned = planned(backend, folder.path(), INSERTS, &set);
    let told = Arc::new(Mutex::new(0));
    let mut observer = Stopped { writes: Box::new(move || state.lock().unwrap().writes), told: Arc::clone(&told) };
    let options = RunOptions { trace: true, ..RunOptions::default() };
    let outcome = run(planned, backend, options, &mut observer, &StopSignal::default());
    assert_eq!((outcome.load.ok, outcome.load.check()), (OPERATIONS, Ok(())), "every operation is counted");
    let (told, dropped) = (*told.lock().unwrap(), outcome.client.samples_dropped);
    assert!(dropped > 0);
    assert_eq!(told + dropped, OPERATIONS, "each is either told or counted as lost");
    assert_eq!(outcome.verdict.reasons, [Reason::SamplesDropped(dropped)]);
    assert_eq!((outcome.verdict.status, outcome.verdict.exit_code()), (Status::Invalid, 11));
}
