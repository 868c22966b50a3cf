//! Recording successes does not allocate.

use iotbench_recorder::{OperationKind, Outcome, Payload, Recorder, Requests, Timing, WINDOW_NS};

#[test]
fn recording_successes_does_not_allocate() {
    let kinds = [
        OperationKind { name: "write".into(), requests: Requests::One },
        OperationKind { name: "search".into(), requests: Requests::Many },
    ];
    let mut recorder = Recorder::new(kinds.into());
    // The last two of these seconds, the second that is open and the one before, are all that a drained recorder holds.
    let allocations = allocation_counter::measure(|| {
        for number in 0..2_000 {
            let due_ns = number * WINDOW_NS / 1_000;
            let kind = usize::from(number % 2 == 0);
            let timing = Timing::new(due_ns, due_ns + 10, due_ns + 300_000).unwrap();
            recorder.offer(kind, due_ns, 1);
            recorder.start(kind, due_ns, timing.sent_ns(), 1);
            recorder.complete_request(kind, due_ns, Outcome::Ok, &timing);
            recorder.complete(kind, Outcome::Ok, &timing, &Payload::undivided(Outcome::Ok, 1, 15, 100));
        }
    });
    assert_eq!(allocations.count_total, 0, "{allocations:?}");
    assert_eq!(recorder.finish().len(), 2);
}
