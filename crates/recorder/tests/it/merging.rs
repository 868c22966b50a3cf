//! Merging equals pooling, in any order and grouping.

#![expect(clippy::unwrap_used, reason = "a test")]

use crate::random::Random;
use std::sync::Arc;

use iotbench_recorder::{
    LatencyHistogram, Level, OperationKind, Outcome, Payload, Recorder, Recording, Requests, Timing,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn kinds() -> Arc<[OperationKind]> {
    [
        OperationKind { name: "write".into(), requests: Requests::One },
        OperationKind { name: "search".into(), requests: Requests::Many },
    ]
    .into()
}

#[derive(Debug, Clone, Copy)]
struct Event {
    kind: usize,
    outcome: Outcome,
    at_ns: u64,
    lag_ns: u64,
    service_ns: u64,
}

fn any_event() -> impl Strategy<Value = Event> {
    let outcome = prop_oneof![8 => Just(Outcome::Ok), 1 => Just(Outcome::Fail), 1 => Just(Outcome::Unknown)];
    (0..2_usize, outcome, 0..9_000_000_000_u64, 0..5_000_000_u64, 0..2_000_000_000_u64)
        .prop_map(|(kind, outcome, at_ns, lag_ns, service_ns)| Event { kind, outcome, at_ns, lag_ns, service_ns })
}

fn record(recorder: &mut Recorder, event: &Event) {
    let Event { kind, outcome, at_ns, lag_ns, service_ns } = *event;
    let timing = Timing::new(at_ns, at_ns + lag_ns, at_ns + lag_ns + service_ns).unwrap();
    recorder.offer(kind, at_ns, 1);
    recorder.start(kind, at_ns, timing.sent_ns(), 3);
    recorder.complete_request(kind, at_ns, outcome, &timing);
    recorder.complete(kind, outcome, &timing, &Payload::undivided(outcome, 3, 45, 100));
}

/// What one thread records of `events`; how often it is drained must not matter.
fn recording(events: &[Event], drain_every: usize) -> Recording {
    let mut recorder = Recorder::new(kinds());
    let mut total = Recording::new(kinds());
    for (number, event) in events.iter().enumerate() {
        record(&mut recorder, event);
        if number % drain_every == drain_every - 1 {
            for window in recorder.take_windows(event.at_ns) {
                total.merge(window.recording()).unwrap();
            }
        }
    }
    for window in recorder.finish() {
        total.merge(window.recording()).unwrap();
    }
    total
}

fn merged(parts: &[&Recording]) -> Recording {
    let mut total = Recording::new(kinds());
    for part in parts {
        total.merge(part).unwrap();
    }
    total
}

/// A recording without its jitter, which knows the order within a thread.
fn assert_same_distributions(left: &Recording, right: &Recording) {
    for kind in 0..2 {
        let (left, right) = (left.kind(kind), right.kind(kind));
        assert_eq!(left.load(), right.load());
        assert!(left.by_operation() == right.by_operation());
        assert!(left.by_request() == right.by_request());
        assert!(left.never_started() == right.never_started());
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24, rng_seed: RngSeed::Fixed(4), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn merging_is_associative_and_commutative(
        a in prop::collection::vec(any_event(), 0..40),
        b in prop::collection::vec(any_event(), 0..40),
        c in prop::collection::vec(any_event(), 0..40),
    ) {
        let [a, b, c] = [a, b, c].map(|events| recording(&events, usize::MAX));
        let one_by_one = merged(&[&a, &b, &c]);
        prop_assert!(one_by_one == merged(&[&a, &merged(&[&b, &c])]));
        prop_assert!(one_by_one == merged(&[&c, &a, &b]));
        prop_assert!(one_by_one == merged(&[&b, &Recording::new(kinds()), &c, &a]));
    }

    #[test]
    fn threads_merged_equal_one_thread_with_all(
        events in prop::collection::vec(any_event(), 1..120), threads in 1..5_usize, drain_every in 1..20_usize,
    ) {
        let parts: Vec<_> = (0..threads)
            .map(|thread| events.iter().skip(thread).step_by(threads).copied().collect::<Vec<_>>())
            .map(|events| recording(&events, drain_every))
            .collect();
        let pooled = recording(&events, usize::MAX);
        let total = merged(&parts.iter().collect::<Vec<_>>());
        assert_same_distributions(&total, &pooled);
        prop_assert_eq!(total.load().check(), Ok(()));
        prop_assert_eq!(total.load().offered, events.len() as u64);
    }
}

#[test]
fn the_busiest_worker_does_not_hide_the_slow_ones() {
    // 97 : 1 : 1 : 1 operations, the few ones a hundred times slower: p99 lies among the slow.
    let mut random = Random::new(5);
    let mut sample = Vec::new();
    let mut total = LatencyHistogram::new();
    for (operations, mean_ns) in [(97_000, 1e6), (1_000, 1e8), (1_000, 1.1e8), (1_000, 1.2e8)] {
        let mut worker = LatencyHistogram::new();
        for _ in 0..operations {
            let duration_ns = random.exponential_ns(mean_ns);
            worker.record(duration_ns);
            sample.push(duration_ns);
        }
        total.merge(&worker);
    }
    sample.sort_unstable();
    let want = sample[sample.len() * 99 / 100 - 1];
    let got = total.value_at(Level::P99).unwrap();
    assert!(got >= want && (got - want) * 1_000 <= want, "{got} instead of {want}");
    assert!(want > 50_000_000, "p99 lies among the slow workers");
}

#[test]
fn recordings_of_other_operations_do_not_merge() {
    let mut ours = Recording::new(kinds());
    let theirs = Recording::new([OperationKind { name: "read".into(), requests: Requests::One }].into());
    let message = ours.merge(&theirs).unwrap_err().to_string();
    assert!(message.contains("[write (One), search (Many)] and [read (One)]"), "{message}");
}

#[test]
fn kinds_pool_into_one() {
    let events: Vec<_> = (0..10)
        .map(|number| Event {
            kind: if number < 7 { 0 } else { 1 },
            outcome: Outcome::Ok,
            at_ns: number * 1_000_000,
            lag_ns: 0,
            service_ns: 1_000,
        })
        .collect();
    let pooled = recording(&events, usize::MAX).pooled();
    assert_eq!(pooled.load().ok, 10);
    assert_eq!(pooled.by_operation().ok().count(), 10);
    assert_eq!(pooled.by_request().ok().count(), 10);
}
