//! A recorder whose windows come back to it does not allocate.

use iotbench_recorder::{OperationKind, Outcome, Payload, Recorder, Requests, Timing, WINDOW_NS};

#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
fn record_two_seconds(recorder: &mut Recorder, first_second: u64) {
    for number in 0..2_000 {
        let due_ns = first_second * WINDOW_NS + number * WINDOW_NS / 1_000;
        let kind = usize::from(number % 2 == 0);
        let timing = Timing::new(due_ns, due_ns + 10, due_ns + 300_000).unwrap();
        recorder.offer(kind, due_ns, 1);
        recorder.start(kind, due_ns, timing.sent_ns(), 1);
        recorder.complete_request(kind, due_ns, Outcome::Ok, &timing);
        recorder.complete(kind, Outcome::Ok, &timing, &Payload::undivided(Outcome::Ok, 1, 15, 100));
    }
}

#[test]
fn recording_successes_into_windows_that_were_used_does_not_allocate() {
    let kinds = [
        OperationKind { name: "write".into(), requests: Requests::One },
        OperationKind { name: "search".into(), requests: Requests::Many },
    ];
    let mut recorder = Recorder::new(kinds.into());
    // The last two of these seconds, the second that is open and the one before, are all that a drained recorder holds.
    record_two_seconds(&mut recorder, 0);
    for mut window in recorder.take_windows(2 * WINDOW_NS) {
        window.reuse(0, 0);
        recorder.recycle(window);
    }
    let allocations = allocation_counter::measure(|| record_two_seconds(&mut recorder, 2));
    assert_eq!(allocations.count_total, 0, "{allocations:?}");
    assert_eq!(recorder.finish().len(), 2);
}

/// Of many kinds a thread records one, and pays for it alone.
#[test]
fn kinds_of_which_nothing_is_recorded_have_no_buckets() {
    let kind = |number: u32| OperationKind { name: format!("write {number}"), requests: Requests::One };
    let kinds: std::sync::Arc<[OperationKind]> = (0..64).map(kind).collect();
    let bytes = |operations: u64| {
        let measured = allocation_counter::measure(|| {
            let mut recorder = Recorder::new(std::sync::Arc::clone(&kinds));
            for due_ns in 0..operations {
                let timing = Timing::new(due_ns, due_ns + 10, due_ns + 300_000).unwrap();
                recorder.complete(7, Outcome::Ok, &timing, &Payload::default());
            }
        });
        measured.bytes_max
    };
    // What all copy is laid out once.
    bytes(257);
    let (of_none, of_few, of_many) = (bytes(0), bytes(256), bytes(257));
    assert!(of_none < 1 << 20, "{of_none} bytes for nothing");
    assert_eq!(of_few - of_none, 4 * 256 * 8);
    assert!((1_200 << 10..1_300 << 10).contains(&(of_many - of_few)), "{of_few} and {of_many} bytes");
}
