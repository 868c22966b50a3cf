//! Events fall into their second and their phase, and none is lost.

#![expect(clippy::unwrap_used, reason = "a test")]

use crate::random::Random;
use std::sync::Arc;

use iotbench_recorder::{
    OperationKind, Outcome, PART_NS, Payload, Recorder, Recording, Requests, Timing, WINDOW_NS, Window, WindowCounts,
};

fn kinds() -> Arc<[OperationKind]> {
    [OperationKind { name: "write".into(), requests: Requests::One }].into()
}

fn operation(recorder: &mut Recorder, due_ns: u64, sent_ns: u64, replied_ns: u64) {
    recorder.offer(0, due_ns, 1);
    recorder.start(0, due_ns, sent_ns, 2);
    let timing = Timing::new(due_ns, sent_ns, replied_ns).unwrap();
    recorder.complete(0, Outcome::Ok, &timing, &Payload::undivided(Outcome::Ok, 2, 30, 100));
}

fn seconds(windows: &[Window]) -> Vec<(u64, u64)> {
    windows.iter().map(|window| (window.first_second(), window.seconds())).collect()
}

#[test]
fn each_event_counts_in_its_own_second() {
    let mut recorder = Recorder::new(kinds());
    operation(&mut recorder, 900_000_000, 1_100_000_000, 2_000_000_000);
    let windows = recorder.finish();
    assert_eq!(seconds(&windows), [(0, 1), (1, 1), (2, 1)]);
    let counts: Vec<_> = windows.iter().map(|window| *window.counts()).collect();
    assert_eq!((counts[0].offered, counts[0].started, counts[0].ok), (1, 0, 0));
    assert_eq!((counts[1].offered, counts[1].started, counts[1].ok, counts[1].points.sent), (0, 1, 0, 2));
    assert_eq!((counts[2].offered, counts[2].started, counts[2].ok, counts[2].points.acked), (0, 0, 1, 2));
    assert_eq!((counts[2].values_acked, counts[2].bytes), (30, 100));
    assert_eq!(windows[2].recording().kind(0).by_operation().ok().response().max_ns(), Some(1_100_000_000));
}

#[test]
fn only_finished_seconds_are_taken() {
    let mut recorder = Recorder::new(kinds());
    for second in 0..3 {
        operation(&mut recorder, second * WINDOW_NS, second * WINDOW_NS, second * WINDOW_NS + 1);
    }
    assert_eq!(seconds(&recorder.take_windows(WINDOW_NS - 1)), []);
    assert_eq!(seconds(&recorder.take_windows(2 * WINDOW_NS)), [(0, 1), (1, 1)]);
    assert_eq!(seconds(&recorder.take_windows(2 * WINDOW_NS)), []);
    assert_eq!(seconds(&recorder.finish()), [(2, 1)]);
}

#[test]
fn an_event_of_a_taken_second_is_counted_late_and_not_lost() {
    let mut recorder = Recorder::new(kinds());
    operation(&mut recorder, 0, 0, 1);
    assert_eq!(recorder.take_windows(3 * WINDOW_NS).len(), 1);
    recorder.offer(0, WINDOW_NS, 7);
    let windows = recorder.finish();
    assert_eq!(seconds(&windows), [(3, 1)]);
    assert_eq!((windows[0].counts().offered, windows[0].counts().late), (7, 1));
    assert_eq!(windows[0].recording().load().offered, 7);
}

#[test]
fn the_parts_of_a_second_with_a_success_are_marked() {
    let mut recorder = Recorder::new(kinds());
    let parts = |windows: &[Window]| windows.iter().map(|window| window.counts().ok_parts).collect::<Vec<_>>();
    for at_ns in [0, PART_NS - 1, 2 * PART_NS, WINDOW_NS - 1, WINDOW_NS + 5 * PART_NS] {
        operation(&mut recorder, at_ns, at_ns, at_ns);
    }
    let failed = Timing::new(7 * PART_NS, 7 * PART_NS, 7 * PART_NS).unwrap();
    recorder.complete(0, Outcome::Fail, &failed, &Payload::default());
    assert_eq!(parts(&recorder.take_windows(2 * WINDOW_NS)), [0b101 | 1 << 63, 1 << 5]);
    operation(&mut recorder, WINDOW_NS, WINDOW_NS, 2 * WINDOW_NS - 1);
    let carried = Timing::new(WINDOW_NS, WINDOW_NS, 3 * WINDOW_NS + 9 * PART_NS).unwrap();
    assert!(parts(&recorder.begin_phase(2 * WINDOW_NS)) == [1], "told late: it was just before");
    recorder.complete(0, Outcome::Ok, &carried, &Payload::undivided(Outcome::Ok, 2, 30, 100));
    assert_eq!(parts(&recorder.finish()), [1 << 9], "of an operation of the phase before too");
}

#[test]
fn a_recorder_that_is_not_drained_unites_its_oldest_seconds() {
    let mut recorder = Recorder::new(kinds());
    for second in 0..100 {
        operation(&mut recorder, second * WINDOW_NS, second * WINDOW_NS, second * WINDOW_NS + 1);
    }
    let windows = recorder.finish();
    assert_eq!(seconds(&windows), [(0, 97), (97, 1), (98, 1), (99, 1)]);
    assert_eq!(windows.iter().map(|window| window.counts().ok).sum::<u64>(), 100);
    assert_eq!(windows[0].recording().kind(0).by_operation().ok().count(), 97);
}

#[test]
fn an_operation_belongs_to_the_phase_in_which_it_was_due() {
    let mut recorder = Recorder::new(kinds());
    operation(&mut recorder, 100, 100, 200);
    recorder.offer(0, 300, 1);
    recorder.start(0, 300, 300, 2);
    let warm_up = recorder.begin_phase(WINDOW_NS / 2);
    assert_eq!(warm_up.iter().map(|window| window.recording().load().ok).sum::<u64>(), 1);
    assert!(warm_up.iter().all(|window| window.phase() == 0));

    let crossing = Timing::new(300, 300, 600_000_000).unwrap();
    recorder.complete(0, Outcome::Ok, &crossing, &Payload::undivided(Outcome::Ok, 2, 30, 100));
    operation(&mut recorder, 700_000_000, 700_000_000, 800_000_000);
    let late = recorder.take_late().unwrap();
    assert_eq!((late.phase(), late.counts()), (0, &WindowCounts::default()), "it is counted in its second alone");
    assert_eq!(late.recording().load().ok, 1);
    assert_eq!(late.recording().kind(0).by_operation().ok().response().max_ns(), Some(600_000_000 - 300));
    assert!(recorder.take_late().is_none());
    let measured = recorder.finish();
    assert_eq!(seconds(&measured), [(0, 1)]);
    assert_eq!(measured[0].phase(), 1);
    let counts = measured[0].counts();
    assert_eq!((counts.offered, counts.ok, counts.carried, counts.points.acked), (1, 2, 1, 4));
    let recording = measured[0].recording();
    assert_eq!(recording.load().check(), Ok(()));
    assert_eq!(recording.load().ok, 1);
    assert_eq!(recording.kind(0).by_operation().ok().response().max_ns(), Some(100_000_000));
}

/// Whoever begins phases follows each to its last answer: an operation of one before the one before has no place.
#[test]
fn what_is_late_is_of_the_phase_before_and_of_no_other() {
    let mut recorder = Recorder::new(kinds());
    recorder.offer(0, 300, 1);
    recorder.start(0, 300, 300, 2);
    let _ = recorder.begin_phase(WINDOW_NS);
    recorder.offer(0, WINDOW_NS, 1);
    let _ = recorder.begin_phase(2 * WINDOW_NS);
    recorder.start(0, WINDOW_NS, 2 * WINDOW_NS + 5, 2);
    for intended_ns in [300, WINDOW_NS] {
        let timing = Timing::new(intended_ns, 2 * WINDOW_NS + 5, 2 * WINDOW_NS + 9).unwrap();
        recorder.complete(0, Outcome::Ok, &timing, &Payload::undivided(Outcome::Ok, 2, 30, 100));
    }
    let late = recorder.take_late().unwrap();
    let load = late.recording().load();
    assert_eq!((late.phase(), late.first_second(), load.started, load.ok), (1, 1, 1, 1));
    let counts: Vec<_> = recorder.finish().iter().map(|window| (window.counts().ok, window.counts().carried)).collect();
    assert_eq!(counts, [(2, 2)]);
}

#[test]
fn windows_of_threads_merge_into_one_second() {
    let mut recorders = [Recorder::new(kinds()), Recorder::new(kinds())];
    for recorder in &mut recorders {
        operation(recorder, 5 * WINDOW_NS, 5 * WINDOW_NS, 5 * WINDOW_NS + 1_000);
        recorder.error(5 * WINDOW_NS, "server", "busy");
    }
    let mut second = Window::new(kinds(), 0, 5);
    for window in recorders.into_iter().flat_map(Recorder::finish) {
        second.merge(&window).unwrap();
    }
    assert_eq!((second.first_second(), second.last_second(), second.counts().ok), (5, 5, 2));
    assert_eq!(second.recording().kind(0).by_operation().ok().count(), 2);
    assert_eq!(second.recording().errors().count(), 2);
}

#[test]
fn recycled_windows_are_empty() {
    let mut recorder = Recorder::new(kinds());
    for second in 0..10 {
        let at_ns = second * WINDOW_NS;
        operation(&mut recorder, at_ns, at_ns, at_ns + 1);
        recorder.error(at_ns, "server", "busy");
        recorder.drop_operation(0, at_ns, at_ns);
        for window in recorder.take_windows(at_ns + WINDOW_NS) {
            assert_eq!(seconds(std::slice::from_ref(&window)), [(second, 1)]);
            assert_eq!((window.counts().ok, window.counts().dropped), (1, 1));
            assert_eq!(window.recording().load().ok, 1);
            assert_eq!(window.recording().kind(0).never_started().unwrap().count(), 1);
            assert_eq!(window.recording().errors().count(), 1);
            recorder.recycle(window);
        }
    }
}

/// Random operations with backlog, drops, failures and erratic draining: operations and datapoints balance.
#[test]
fn a_whole_run_balances() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let mut recorder = Recorder::new(kinds());
        let (mut total, mut counts) = (Recording::new(kinds()), WindowCounts::default());
        let mut collect = |windows: Vec<Window>| {
            for window in windows {
                total.merge(window.recording()).unwrap();
                counts.merge(window.counts());
            }
        };
        for number in 0..2_000 {
            let due_ns = number * 10_000_000;
            recorder.offer(0, due_ns, 1);
            recorder.generate_points(due_ns, 3, 1);
            let (sent_ns, kind) = (due_ns + random.exponential_ns(1e9), random.bits() % 16);
            match kind {
                0 => {
                    recorder.drop_operation(0, due_ns, sent_ns);
                    recorder.leave_points_pending(sent_ns, 2);
                    continue;
                }
                1 => {
                    recorder.leave_pending(0, due_ns, sent_ns);
                    recorder.leave_points_pending(sent_ns, 2);
                    continue;
                }
                _ => recorder.start(0, due_ns, sent_ns, 2),
            }
            let outcome = [Outcome::Fail, Outcome::Unknown].get(usize::try_from(kind).unwrap() - 2);
            let outcome = outcome.copied().unwrap_or(Outcome::Ok);
            let timing = Timing::new(due_ns, sent_ns, sent_ns + random.exponential_ns(2e9)).unwrap();
            recorder.complete(0, outcome, &timing, &Payload::undivided(outcome, 2, 30, 100));
            if random.bits().is_multiple_of(50) {
                collect(recorder.take_windows(due_ns));
            }
        }
        collect(recorder.finish());
        let load = total.load();
        assert_eq!(load.check(), Ok(()));
        assert_eq!(load.censored, load.unknown + load.dropped + load.pending);
        assert_eq!((load.offered, load.offered), (2_000, counts.offered));
        assert_eq!(counts.points.check(), Ok(()));
        assert_eq!((load.ok, load.fail, load.unknown), (counts.ok, counts.fail, counts.unknown));
        let by_operation = total.kind(0).by_operation();
        assert_eq!(by_operation.ok().count(), load.ok);
        assert_eq!(by_operation.fail().unwrap().count(), load.fail);
        assert_eq!(by_operation.unknown().unwrap().count(), load.unknown);
    }
}
