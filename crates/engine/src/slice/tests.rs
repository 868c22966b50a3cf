//! Slices that are added and united, held against the sums of what they hold.

use super::*;
use iotbench_recorder::{OperationKind, Outcome, Payload, Recorder, Requests, Timing, WINDOW_NS};
use std::sync::Arc;

fn kinds() -> Arc<[OperationKind]> {
    [OperationKind { name: "write".into(), requests: Requests::One }].into()
}

/// A window for each of these seconds, with one operation.
fn windows(seconds: &[u64]) -> Vec<Window> {
    let mut recorder = Recorder::new(kinds());
    for second in seconds {
        let at_ns = second * WINDOW_NS;
        let timing = Timing::new(at_ns, at_ns, at_ns + 5).unwrap();
        recorder.offer(0, at_ns, 1);
        recorder.start(0, at_ns, at_ns, 1);
        recorder.complete(0, Outcome::Ok, &timing, &Payload::undivided(Outcome::Ok, 1, 2, 0));
    }
    recorder.finish()
}

fn histogram(ns: u64) -> Option<Box<LatencyHistogram>> {
    let mut histogram = Box::new(LatencyHistogram::new());
    histogram.record(ns);
    Some(histogram)
}

const READS: ReadCounts = ReadCounts {
    requests: 2,
    by_client: 3,
    cycles: 5,
    no_cycles: 7,
    with_rows: 11,
    first_rows_ns: 13,
    changes: 17,
    rows_changed: 19,
};

#[test]
fn requests_add_up_by_what_became_of_them() {
    let mut sum = READS;
    sum.merge(ReadCounts {
        requests: 10,
        by_client: 20,
        cycles: 30,
        no_cycles: 40,
        with_rows: 50,
        first_rows_ns: 60,
        changes: 70,
        rows_changed: 80,
    });
    let expected = ReadCounts {
        requests: 12,
        by_client: 23,
        cycles: 35,
        no_cycles: 47,
        with_rows: 61,
        first_rows_ns: 73,
        changes: 87,
        rows_changed: 99,
    };
    assert_eq!(sum, expected);
}

#[test]
fn what_several_threads_tell_adds_up() {
    let of = |ns| Slice {
        unoffered: 2,
        late: windows(&[4]).pop(),
        user_time: UserTime { until_next_ns: 10, elsewhere_ns: 100 },
        pending: 3,
        pacing_error: histogram(ns),
        samples_dropped: 5,
        reads: READS,
        ..Slice::default()
    };
    let mut sum = Slice::default();
    for (threads, ns) in [(1, 7), (2, 9)] {
        sum.add(of(ns));
        sum.add(Slice::default());
        assert_eq!((sum.unoffered, sum.pending, sum.samples_dropped), (2 * threads, 3 * threads, 5 * threads));
        assert_eq!(sum.user_time, UserTime { until_next_ns: 10 * threads, elsewhere_ns: 100 * threads });
        assert_eq!(sum.reads.requests, 2 * threads);
        assert_eq!(sum.late.as_ref().map(|late| late.counts().ok), Some(threads));
        assert_eq!(sum.pacing_error.as_ref().map(|error| error.count()), Some(threads));
    }
    assert_eq!(sum.pacing_error.unwrap().sum_ns(), 7 + 9);
}

#[test]
fn windows_of_another_phase_or_length_stay_apart() {
    let mut slice = Slice { windows: vec![Window::new(kinds(), 0, 3)], ..Slice::default() };
    let mut long = Window::new(kinds(), 0, 3);
    long.merge(&Window::new(kinds(), 0, 4)).unwrap();
    slice
        .add(Slice { windows: vec![Window::new(kinds(), 1, 3), long, Window::new(kinds(), 0, 3)], ..Slice::default() });
    let of = |window: &Window| (window.phase(), window.first_second(), window.seconds());
    assert_eq!(slice.windows.iter().map(of).collect::<Vec<_>>(), [(0, 3, 1), (1, 3, 1), (0, 3, 2)]);
}

#[test]
fn a_slice_that_waits_has_one_window_and_all_counts() {
    let mut slice = Slice { windows: windows(&[3, 4, 6]), ..Slice::default() };
    slice.unite_windows();
    let [window] = slice.windows.as_slice() else { panic!("{} windows", slice.windows.len()) };
    assert_eq!((window.first_second(), window.last_second(), window.counts().ok), (3, 6, 3));
    let mut nothing = Slice::default();
    nothing.unite_windows();
    assert!(nothing.windows.is_empty());
}
