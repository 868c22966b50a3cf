//! Sums and seconds, from what recorders of the program recorded.

use super::*;
use iotbench_recorder::{Outcome, Payload, Recorder, Requests, Timing};

const S: u64 = WINDOW_NS;

fn kinds() -> Arc<[OperationKind]> {
    [OperationKind { name: "write".into(), requests: Requests::One }].into()
}

/// Operations of one datapoint with two values, each due, sent and answered at these times.
fn windows(phase_start_ns: u64, answered: &[(u64, u64)]) -> Vec<Window> {
    let mut recorder = Recorder::new(kinds());
    assert!(recorder.begin_phase(phase_start_ns).is_empty());
    for &(due_ns, replied_ns) in answered {
        let timing = Timing::new(due_ns, due_ns, replied_ns).unwrap();
        recorder.offer(0, due_ns, 1);
        recorder.start(0, due_ns, due_ns, 1);
        recorder.generate_points(due_ns, 1, 0);
        recorder.complete(0, Outcome::Ok, &timing, &Payload::undivided(Outcome::Ok, 1, 2, 0));
    }
    recorder.finish()
}

fn slice(generation: u32, windows: Vec<Window>) -> Slice {
    Slice { generation, windows, ..Slice::default() }
}

#[test]
fn seconds_come_in_order_without_gaps_and_once() {
    let mut totals = Totals::new(kinds());
    totals.add(slice(0, windows(0, &[(0, 1), (2 * S, 2 * S + 1)])));
    totals.add(slice(0, windows(0, &[(5, 6)])));
    let seconds = totals.take_seconds(3);
    let figures: Vec<_> = seconds.iter().map(|w| (w.first_second(), w.counts().ok)).collect();
    assert_eq!(figures, [(0, 2), (1, 0), (2, 1)]);
    assert!(totals.take_seconds(3).is_empty());
}

#[test]
fn what_comes_too_late_is_told_with_the_next_second_and_measured_in_its_own() {
    let mut totals = Totals::new(kinds());
    totals.add(slice(1, windows(0, &[(0, 1)])));
    assert_eq!(totals.take_seconds(2).len(), 2);
    totals.add(slice(1, windows(0, &[(7, 8), (9, 10)])));
    let told = totals.take_seconds(3);
    assert_eq!(told.iter().map(|w| w.counts().ok).collect::<Vec<_>>(), [2], "nothing is lost");
    assert_eq!(told.iter().map(|w| (w.first_second(), w.seconds())).collect::<Vec<_>>(), [(2, 1)], "nothing overlaps");
    let measured = totals.measured(1, 0, 2 * S).unwrap();
    assert_eq!(measured.seconds.iter().map(|s| s.ok).collect::<Vec<_>>(), [3, 0]);
}

/// What a thread told that was behind is one window of several seconds, and the others' windows lie within it.
#[test]
fn seconds_that_were_not_kept_apart_are_told_as_one_when_all_have_ended() {
    let mut totals = Totals::new(kinds());
    let mut behind = windows(0, &[(S, S + 1), (3 * S, 3 * S + 1)]);
    let later = behind.split_off(1);
    behind[0].merge(&later[0]).unwrap();
    totals.add(slice(0, behind));
    totals.add(slice(0, windows(0, &[(0, 1), (2 * S, 2 * S + 1), (4 * S, 4 * S + 1)])));
    let mut told = |before| {
        let seconds = totals.take_seconds(before);
        seconds.iter().map(|w| (w.first_second(), w.seconds(), w.counts().ok)).collect::<Vec<_>>()
    };
    assert_eq!(told(3), [(0, 1, 1)], "the third second of it is not over");
    assert_eq!(told(5), [(1, 3, 3), (4, 1, 1)]);
}

#[test]
fn a_generation_has_its_own_figures_and_the_run_has_all() {
    let mut totals = Totals::new(kinds());
    totals.add(slice(0, windows(0, &[(0, 1), (10, 20)])));
    totals.add(slice(1, windows(S, &[(S, S + 1), (S + 5, 2 * S + 5), (2 * S, 2 * S + 1)])));
    let measured = totals.measured(1, S, 3 * S).unwrap();
    assert_eq!((measured.recording.load().ok, measured.counts.ok), (3, 3));
    let seconds: Vec<_> = measured.seconds.iter().map(|s| (s.ok, s.points, s.values)).collect();
    assert_eq!(seconds, [(1, 1, 2), (2, 2, 4)]);
    let responses: Vec<_> = measured.seconds.iter().map(|s| (s.responses, s.response_sum_ns)).collect();
    assert_eq!(responses, [(1, 1), (2, S + 1)], "in the second of their answers");
    assert_eq!((totals.load().ok, totals.load().check(), totals.counts.points.check()), (5, Ok(()), Ok(())));
    assert!(totals.measured(7, 0, S).is_none());
    totals.forget(1);
    assert_eq!((totals.load().ok, totals.measured(1, S, 3 * S).is_none()), (5, true), "counts are never forgotten");
}

/// More seconds than are kept apart, one of them without anything, and a thread that is late by all of them.
#[test]
fn seconds_that_were_put_away_are_the_same_seconds() {
    let mut totals = Totals::new(kinds());
    let count = RECENT as u64 + 100;
    for second in (0..count).filter(|&second| second != 50) {
        totals.add(slice(1, windows(0, &[(second * S, second * S + 1)])));
    }
    totals.add(slice(1, windows(0, &[(7 * S, 7 * S + 5), (50 * S, 50 * S + 5)])));
    assert_eq!(totals.generations[&1].recent.len(), RECENT);
    let measured = totals.measured(1, 0, (count - 1) * S).unwrap();
    let expected = |second| if second == 7 { 2 } else { 1 };
    let ok: Vec<_> = measured.seconds.iter().map(|s| (s.ok, s.points, s.values)).collect();
    assert!((0..count - 1).map(|s| (expected(s), expected(s), 2 * expected(s))).eq(ok), "{:?}", measured.seconds);
    let sum_ns: u64 = measured.seconds.iter().map(|s| s.response_sum_ns).sum();
    assert_eq!(sum_ns, count - 2 + 5 + 5, "those that were put away have their response times too");
    assert_eq!(measured.counts.ok, count, "the last second is not in it, the late one is");
}

/// Two operations were unanswered when a generation ended, and a third was not even offered: one is answered 3 s later, one
/// given up.
#[test]
fn what_ends_late_is_the_generations_it_began_in() {
    let mut totals = Totals::new(kinds());
    let mut recorder = Recorder::new(kinds());
    for due_ns in [S - 2, S - 1] {
        recorder.offer(0, due_ns, 1);
        recorder.start(0, due_ns, due_ns, 1);
    }
    let windows = recorder.begin_phase(S);
    totals.add(Slice { unoffered: 1, ..slice(0, windows) });
    assert_eq!(totals.due(0), Due { all: 3, unoffered: 1, unanswered: 3 });
    recorder.offer(0, S - 3, 1);
    recorder.leave_pending(0, S - 3, 2 * S);
    let timing = Timing::new(S - 1, S - 1, 4 * S).unwrap();
    recorder.complete(0, Outcome::Ok, &timing, &Payload::undivided(Outcome::Ok, 1, 2, 0));
    totals.add(Slice { late: recorder.take_late(), ..slice(0, vec![]) });
    totals.add(slice(1, recorder.finish()));
    assert_eq!(totals.due(0), Due { all: 3, unoffered: 1, unanswered: 1 });
    let measured = totals.measured(0, 0, S).unwrap();
    assert_eq!(measured.recording.kind(0).by_operation().ok().response().sum_ns(), u128::from(3 * S + 1));
    assert_eq!((measured.counts.ok, totals.counts.ok), (0, 1), "throughput is that of the second of the answer");
    assert_eq!(totals.censored, 1, "what was given up waits for ever");
}

#[test]
fn threads_add_up() {
    let mut totals = Totals::new(kinds());
    for _ in 0..3 {
        let mut pacing_error = Box::new(LatencyHistogram::new());
        pacing_error.record(7);
        totals.add(Slice {
            unoffered: 2,
            user_time: UserTime { until_next_ns: 10, elsewhere_ns: 1 },
            pacing_error: Some(pacing_error),
            samples_dropped: 1,
            ..Slice::default()
        });
    }
    assert_eq!((totals.pacing_error.count(), totals.samples_dropped), (3, 3));
    assert_eq!(totals.due(0), Due { all: 6, unoffered: 6, unanswered: 6 });
    assert_eq!(totals.user_time(0), UserTime { until_next_ns: 30, elsewhere_ns: 3 });
}

/// An operation of every fate, in the seconds from 1,000 on: what each figure is made of.
fn of_every_fate() -> Slice {
    const FIRST_NS: u64 = 1_000 * S;
    let mut recorder = Recorder::new(kinds());
    let fates = [(3, Outcome::Ok), (5, Outcome::Fail), (7, Outcome::Unknown), (11, Outcome::Expired)];
    for (count, outcome) in fates {
        for _ in 0..count {
            let timing = Timing::new(FIRST_NS, FIRST_NS, FIRST_NS + 10).unwrap();
            recorder.offer(0, FIRST_NS, 1);
            recorder.start(0, FIRST_NS, FIRST_NS, 1);
            recorder.complete(0, outcome, &timing, &Payload::undivided(outcome, 1, 2, 0));
        }
    }
    for _ in 0..13 {
        recorder.offer(0, FIRST_NS, 1);
        recorder.drop_operation(0, FIRST_NS, FIRST_NS);
    }
    for _ in 0..17 {
        recorder.offer(0, FIRST_NS, 1);
        recorder.leave_pending(0, FIRST_NS, FIRST_NS);
    }
    let reads = ReadCounts {
        requests: 1,
        by_client: 2,
        cycles: 3,
        no_cycles: 4,
        with_rows: 5,
        first_rows_ns: 6,
        ..ReadCounts::default()
    };
    Slice { pending: 17, reads, ..slice(1, recorder.finish()) }
}

#[test]
fn operations_of_every_fate_are_in_the_figures_that_are_made_of_them() {
    let mut totals = Totals::new(kinds());
    for threads in 1..=2 {
        totals.add(of_every_fate());
        let figures = totals.measured(1, 1_000 * S, 1_001 * S).unwrap().seconds;
        let expected = SecondFigures {
            offered: 56 * threads,
            dropped: 13 * threads,
            ok: 3 * threads,
            ok_parts: 1,
            errors: 23 * threads,
            points: 3 * threads,
            values: 6 * threads,
            responses: 3 * threads,
            response_sum_ns: 30 * threads,
        };
        assert_eq!(figures, [expected]);
        let load = LoadCounts {
            offered: 56 * threads,
            started: 26 * threads,
            ok: 3 * threads,
            fail: 16 * threads,
            unknown: 7 * threads,
            dropped: 13 * threads,
            pending: 17 * threads,
            undelivered: 0,
            censored: 37 * threads,
        };
        assert_eq!((totals.load(), load.check()), (load, Ok(())));
        assert_eq!((totals.reads.requests, totals.reads.first_rows_ns), (threads, 6 * threads));
    }
    assert_eq!(totals.due(1), Due { all: 112, unoffered: 0, unanswered: 0 }, "each of them has ended");
    totals.add(Slice { unoffered: 5_000, ..slice(1, vec![]) });
    assert_eq!(totals.due(1), Due { all: 5_112, unoffered: 5_000, unanswered: 5_000 });
    assert_eq!((totals.due(2), totals.user_time(2)), (Due::default(), UserTime::default()));
}

/// The run has gone on for a thousand seconds when the generation begins, and goes on for more than are kept apart.
#[test]
fn seconds_are_put_away_from_the_first_of_their_generation_on() {
    let mut totals = Totals::new(kinds());
    let (first, count) = (1_000, RECENT as u64 + 3);
    for second in first..first + count {
        totals.add(slice(1, windows(0, &[(second * S, second * S + 1)])));
    }
    assert_eq!((totals.generations[&1].first_second, totals.generations[&1].figures.len()), (first, 3));
    // A thread is late by all seconds that are put away, and by one before them, of which no figure is kept.
    for (second, responses_ns) in [(first + 2, 7), (first - 1, 9)] {
        totals.add(slice(1, windows(0, &[(second * S, second * S + responses_ns)])));
    }
    let measured = totals.measured(1, first * S, (first + 4) * S).unwrap();
    let seconds: Vec<_> = measured.seconds.iter().map(|second| (second.ok, second.response_sum_ns)).collect();
    assert_eq!(seconds, [(1, 1), (1, 1), (2, 8), (1, 1)]);
    assert_eq!(measured.counts.ok, 4 + 2, "what came late is counted");
    let of_half_a_second = totals.measured(1, first * S, first * S + S / 2).unwrap();
    assert_eq!(
        (of_half_a_second.seconds.len(), of_half_a_second.counts.ok),
        (0, 3 + 2),
        "only whole seconds have figures"
    );
}

/// A thread that was behind hands over a second that was told and two that were not: what is told of it begins with those, and ends
/// where they end.
#[test]
fn of_seconds_that_come_too_late_together_those_that_were_not_told_are_covered() {
    let mut totals = Totals::new(kinds());
    totals.add(slice(0, windows(0, &[(0, 1)])));
    assert_eq!(totals.take_seconds(2).len(), 2);
    let mut behind = windows(0, &[(S, S + 1), (3 * S, 3 * S + 1)]);
    let later = behind.split_off(1);
    behind[0].merge(&later[0]).unwrap();
    totals.add(slice(0, behind));
    let told = totals.take_seconds(5);
    let told: Vec<_> = told.iter().map(|w| (w.first_second(), w.seconds(), w.counts().ok)).collect();
    assert_eq!(told, [(2, 2, 2), (4, 1, 0)]);
}
