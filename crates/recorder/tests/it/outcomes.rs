//! Outcomes stay apart, and what was never answered counts against the response time.

#![expect(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;

use iotbench_recorder::{
    Bounded, KindRecording, Latency, LatencyHistogram, Level, OperationKind, Outcome, Payload, Quantile,
    QuantileBounds, Recorder, Recording, Requests, Timing,
};

const MS: u64 = 1_000_000;

fn kinds(requests: Requests) -> Arc<[OperationKind]> {
    [OperationKind { name: "write".into(), requests }].into()
}

fn total(recorder: Recorder, requests: Requests) -> Recording {
    let mut total = Recording::new(kinds(requests));
    for window in recorder.finish() {
        total.merge(window.recording()).unwrap();
    }
    total
}

fn operation(recorder: &mut Recorder, outcome: Outcome, due_ns: u64, service_ns: u64) {
    let timing = Timing::new(due_ns, due_ns, due_ns + service_ns).unwrap();
    recorder.offer(0, due_ns, 1);
    recorder.start(0, due_ns, due_ns, 1);
    recorder.complete(0, outcome, &timing, &Payload::undivided(outcome, 1, 15, 100));
}

fn run_with(failures: u64) -> Recording {
    let mut recorder = Recorder::new(kinds(Requests::One));
    for number in 0..1_000 {
        operation(&mut recorder, Outcome::Ok, number * MS, 5 * MS + number);
        for _ in 0..failures {
            operation(&mut recorder, Outcome::Fail, number * MS, 1);
        }
    }
    total(recorder, Requests::One)
}

#[test]
fn instant_failures_leave_the_successes_as_they_were() {
    let (clean, failing) = (run_with(0), run_with(1));
    let (clean, failing) = (clean.kind(0), failing.kind(0));
    assert!(clean.by_operation().ok() == failing.by_operation().ok());
    assert_eq!(clean.jitter(), failing.jitter());
    assert_eq!(clean.load().ok, failing.load().ok);
    assert_eq!(failing.by_operation().fail().unwrap().count(), 1_000);
    assert_eq!(failing.by_operation().fail().unwrap().response().max_ns(), Some(1));
    assert!(clean.by_operation().fail().is_none());
}

fn unanswered() -> KindRecording {
    let mut recorder = Recorder::new(kinds(Requests::One));
    for number in 0..90 {
        operation(&mut recorder, Outcome::Ok, number * MS, 10 * MS);
    }
    for number in 0..4 {
        operation(&mut recorder, Outcome::Unknown, number * MS, 500 * MS);
    }
    recorder.offer(0, 0, 6);
    for _ in 0..3 {
        recorder.drop_operation(0, 0, 200 * MS);
        recorder.leave_pending(0, 0, 300 * MS);
    }
    total(recorder, Requests::One).kind(0).clone()
}

#[test]
fn what_was_never_answered_enters_as_at_least() {
    let write = unanswered();
    assert_eq!(write.load().check(), Ok(()));
    assert_eq!((write.load().censored, write.load().unknown, write.load().dropped), (10, 4, 3));
    assert_eq!(write.never_started().unwrap().count(), 6);
    assert_eq!(write.by_operation().ok().response().max_ns(), Some(10 * MS));
    assert_eq!(write.by_operation().unknown().unwrap().count(), 4);
    let response = write.response();
    let least = response.at_least();
    assert_eq!((least.count(), least.max_ns()), (100, Some(500 * MS)));
    assert_eq!((response.mean_ns(), response.max_ns(), response.min_ns()), (None, None, Some(10 * MS)));
}

/// Ten of a hundred never answered: nobody can say how slow the slowest tenth would have been.
#[test]
fn missing_answers_bound_the_quantiles() {
    let response = unanswered().response();
    let at_10_ms = QuantileBounds { at_least_ns: 10 * MS, at_most_ns: Some(10 * MS) };
    assert_eq!(response.bounds(Level::P90), Some(at_10_ms));
    let p90 = response.quantile(Level::P90);
    assert!(
        matches!(p90, Quantile::Value { ci_high_ns: None, .. }) && p90.ns().is_some_and(|ns| ns == 10 * MS),
        "{p90:?}"
    );
    let p95 = response.bounds(Level::P95).unwrap();
    assert_eq!(p95.at_most_ns, None);
    assert!(p95.at_least_ns >= 499 * MS, "what was never started stands above all others: {p95:?}");
    let many = Level::from_parts_per_million(910_000).unwrap();
    assert!(matches!(response.quantile(many), Quantile::Unsupported { .. }), "112 are needed");
    let eleven_of_twelve = Level::from_parts_per_million(890_000).unwrap();
    assert_eq!(response.quantile(eleven_of_twelve).ns(), Some(10 * MS));
}

#[test]
fn a_quantile_among_missing_answers_is_a_bound() {
    let mut recorder = Recorder::new(kinds(Requests::One));
    for number in 0..80 {
        operation(&mut recorder, Outcome::Ok, number * MS, 10 * MS);
    }
    for number in 0..20 {
        operation(&mut recorder, Outcome::Unknown, number * MS, 500 * MS);
    }
    let response = total(recorder, Requests::One).kind(0).response();
    let Quantile::AtLeast { ns } = response.quantile(Level::P90) else { panic!("{response:?}") };
    assert!((499 * MS..=500 * MS).contains(&ns), "{ns}");
    assert_eq!(response.quantile(Level::P50).ns(), Some(10 * MS));
}

/// Of 110, ten were given up as soon as they were sent: had they been answered at once, half of all had taken at most 45 ms, and
/// had they never been, 55 ms.
#[test]
fn a_quantile_that_missing_answers_shift_is_a_bound() {
    let (mut known, mut unended) = (LatencyHistogram::new(), LatencyHistogram::new());
    (1..=100).for_each(|ms| known.record(ms * MS));
    unended.record_many(0, 10);
    let durations = Bounded::new(&known, Some(&unended), None);
    let bounds = durations.bounds(Level::P50).unwrap();
    assert!((bounds.at_least_ns / (MS / 1_000)).abs_diff(45_000) <= 45, "{bounds:?}");
    assert!((bounds.at_most_ns.unwrap() / (MS / 1_000)).abs_diff(55_000) <= 55 && !bounds.is_known(), "{bounds:?}");
    assert_eq!(durations.quantile(Level::P50), Quantile::AtLeast { ns: bounds.at_least_ns });
    assert_eq!((durations.is_known(), durations.min_ns()), (false, None), "the least may be one of them");
    let all = Bounded::from(&known);
    assert!(all.is_known() && all.bounds(Level::P50).unwrap().is_known());
    assert_eq!((all.min_ns(), all.max_ns(), all.mean_ns()), (Some(MS), Some(100 * MS), Some(50.5 * MS as f64)));
}

#[test]
fn operations_dropped_at_once_do_not_improve_a_bound() {
    let mut recorder = Recorder::new(kinds(Requests::One));
    for number in 0..50 {
        operation(&mut recorder, Outcome::Ok, number * MS, 10 * MS);
        recorder.offer(0, number * MS, 1);
        recorder.drop_operation(0, number * MS, number * MS);
    }
    let bounds = total(recorder, Requests::One).kind(0).response().bounds(Level::P90).unwrap();
    assert_eq!(bounds.at_most_ns, None);
    assert_eq!(bounds.at_least_ns, 10 * MS, "they stand above all that was answered, although they waited for nothing");
}

#[test]
fn parts_add_up_to_the_bounds_of_the_whole() {
    let whole = unanswered().response();
    let mut sum = Bounded::from(whole.known());
    let none = LatencyHistogram::new();
    sum.merge(&Bounded::new(
        &none,
        unanswered().by_operation().unknown().map(Latency::response),
        unanswered().never_started(),
    ));
    assert_eq!((sum.count(), sum.bounds(Level::P95)), (whole.count(), whole.bounds(Level::P95)));
    let from_parts =
        |known: &LatencyHistogram, all: &LatencyHistogram| Bounded::from_parts(known.clone(), Some(all.clone()));
    assert_eq!(from_parts(whole.known(), whole.at_least()).as_ref(), Some(&whole));
    assert!(from_parts(whole.known(), whole.known()).is_some(), "as many of each");
    assert!(from_parts(whole.at_least(), whole.known()).is_none());
}

#[test]
fn requests_of_one_request_operations_are_recorded_once() {
    let mut recorder = Recorder::new(kinds(Requests::One));
    let timing = Timing::new(0, 1, 3).unwrap();
    recorder.complete_request(0, 0, Outcome::Ok, &timing);
    recorder.complete(0, Outcome::Ok, &timing, &Payload::default());
    let write = total(recorder, Requests::One).kind(0).clone();
    assert_eq!(write.by_request().ok().count(), 1);
    assert!(write.by_request() == write.by_operation());
}

#[test]
fn requests_of_many_request_operations_stand_apart() {
    let mut recorder = Recorder::new(kinds(Requests::Many));
    for request in 0..6 {
        let timing = Timing::new(request * MS, request * MS, (request + 1) * MS).unwrap();
        recorder.complete_request(0, 0, Outcome::Ok, &timing);
    }
    let timing = Timing::new(0, 0, 6 * MS).unwrap();
    recorder.complete(0, Outcome::Ok, &timing, &Payload::default());
    let search = total(recorder, Requests::Many).kind(0).clone();
    assert_eq!(search.by_request().ok().count(), 6);
    assert_eq!(search.by_request().ok().response().max_ns(), Some(MS));
    assert_eq!(search.by_operation().ok().count(), 1);
    assert_eq!(search.by_operation().ok().response().max_ns(), Some(6 * MS));
}

#[test]
fn jitter_is_of_successive_successes() {
    let mut recorder = Recorder::new(kinds(Requests::One));
    // Responses of 10, 30 and 25 ms, in three seconds, drained in between.
    let mut windows = Vec::new();
    for (second, response_ms) in [10, 30, 25].into_iter().enumerate() {
        let due_ns = second as u64 * 1_000 * MS;
        operation(&mut recorder, Outcome::Ok, due_ns, response_ms * MS);
        operation(&mut recorder, Outcome::Fail, due_ns, 1);
        windows.extend(recorder.take_windows(due_ns));
    }
    windows.extend(recorder.finish());
    let mut total = Recording::new(kinds(Requests::One));
    windows.iter().for_each(|window| total.merge(window.recording()).unwrap());
    assert_eq!(total.kind(0).jitter().pairs(), 2);
    assert_eq!(total.kind(0).jitter().mean_ns(), Some(12.5e6));
}

#[test]
fn jitter_does_not_compare_phases() {
    let mut recorder = Recorder::new(kinds(Requests::One));
    operation(&mut recorder, Outcome::Ok, 0, 10 * MS);
    assert_eq!(recorder.begin_phase(100 * MS).len(), 1);
    operation(&mut recorder, Outcome::Ok, 100 * MS, 500 * MS);
    assert_eq!(total(recorder, Requests::One).kind(0).jitter().pairs(), 0);
}

#[test]
fn busy_time_is_kept_for_kinds_with_pauses_and_follows_its_operation() {
    let record = |requests| {
        let mut recorder = Recorder::new(kinds(requests));
        operation(&mut recorder, Outcome::Ok, 0, 10 * MS);
        recorder.record_busy(0, 0, 10 * MS, 4 * MS);
        assert!(recorder.begin_phase(20 * MS).len() == 1);
        // Intended before the phase began: it is in no recording of it.
        recorder.record_busy(0, 0, 30 * MS, 5 * MS);
        operation(&mut recorder, Outcome::Ok, 25 * MS, 10 * MS);
        recorder.record_busy(0, 25 * MS, 35 * MS, 6 * MS);
        total(recorder, requests)
    };
    for requests in [Requests::One, Requests::Many] {
        assert!(record(requests).kind(0).busy().is_none());
    }
    let mut paused = record(Requests::Paused);
    assert_eq!(paused.kind(0).busy().unwrap().max_ns(), Some(6 * MS));
    paused.merge(&record(Requests::Paused)).unwrap();
    assert_eq!(paused.kind(0).busy().unwrap().count(), 2);
    paused.clear();
    assert_eq!(paused.kind(0).busy().unwrap().count(), 0);
}

#[test]
fn of_nothing_there_are_no_bounds() {
    assert_eq!(Bounded::default().bounds(Level::P50), None);
    assert_eq!((Bounded::default().count(), Bounded::default().is_known()), (0, true));
}
