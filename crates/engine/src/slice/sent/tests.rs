//! Slices of several threads and processes, held against one that has recorded everything itself.

use super::*;
use crate::ledger::{CorrectedSend, PointRanges, Sent};
use iotbench_recorder::{Outcome, Payload, Recorder, Recording, Requests, Timing};
use proptest::prelude::*;

fn kinds() -> Arc<[OperationKind]> {
    [OperationKind { name: "write".into(), requests: Requests::One }].into()
}

/// An operation of one datapoint: its device, its index, when it is intended and how long it takes, and what became of it.
type Event = (u32, u64, u64, u64, usize);

fn any_events() -> impl Strategy<Value = Vec<Event>> {
    let event = (0..6_u32, 0..5_000_u64, 0..4_000_000_000_u64, 0..3_000_000_000_u64, 0..3_usize);
    prop::collection::vec(event, 1..60)
}

/// What a thread hands over at its end.
fn slice<'a>(events: impl IntoIterator<Item = &'a Event>) -> Slice {
    let mut recorder = Recorder::new(kinds());
    let mut slice = Slice { pacing_error: Some(Box::default()), ..Slice::default() };
    for &(device, first, at_ns, took_ns, fate) in events {
        let timing = Timing::new(at_ns, at_ns, at_ns + took_ns).unwrap();
        let outcome = [Outcome::Ok, Outcome::Fail, Outcome::Unknown][fate];
        recorder.offer(0, at_ns, 1);
        recorder.start(0, at_ns, at_ns, 1);
        recorder.generate_points(at_ns, 1, 0);
        recorder.complete(0, outcome, &timing, &Payload::undivided(outcome, 1, 2, 0));
        slice.fates.note(Fate::ALL[fate], [Run { device, first, count: 1 }]);
        slice.pending += 1;
        if let Some(error) = &mut slice.pacing_error {
            error.record(took_ns / 1_000);
        }
        slice.unoffered += 1;
        slice.user_time = slice.user_time.plus(UserTime { until_next_ns: took_ns, elsewhere_ns: 1 });
    }
    slice.windows = recorder.finish();
    slice
}

/// Everything that a slice tells, whatever the order in which it was put together.
fn account(mut slice: Slice) -> (Recording, [PointRanges; 3], [u64; 4], Option<Box<LatencyHistogram>>) {
    let mut recording = Recording::new(kinds());
    slice.windows.iter().for_each(|window| recording.merge(window.recording()).unwrap());
    let ranges = Fate::ALL.map(|fate| {
        let mut ranges = PointRanges::default();
        slice.fates.of(fate).iter().for_each(|&run| ranges.add(run));
        ranges
    });
    let UserTime { until_next_ns, elsewhere_ns } = slice.user_time;
    (recording, ranges, [slice.unoffered, slice.pending, until_next_ns, elsewhere_ns], slice.pacing_error)
}

/// Without the jitter, which knows the order within a thread.
fn assert_same(merged: Slice, pooled: Slice) {
    let (merged, pooled) = (account(merged), account(pooled));
    let latencies = |recording: &Recording| recording.kind(0).by_operation().clone();
    assert!(latencies(&merged.0) == latencies(&pooled.0) && merged.0.load() == pooled.0.load());
    assert!((merged.1, merged.2, merged.3) == (pooled.1, pooled.2, pooled.3));
}

fn travelled(slice: Slice, own: &Range<u32>) -> Result<Slice, NotOurSlice> {
    let mut received = Slice::default();
    for message in slice.into_sent() {
        let text = serde_json::to_string(&message).unwrap();
        received.add(serde_json::from_str::<SentSlice>(&text).unwrap().received(&kinds(), own)?);
    }
    Ok(received)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_several_processes_report_is_what_one_would(
        mut events in any_events(), threads in 1..4_usize, is_reversed in any::<bool>(),
    ) {
        // A datapoint has one fate.
        events.sort_unstable_by_key(|event| (event.0, event.1));
        events.dedup_by_key(|event| (event.0, event.1));
        let mut parts = vec![0..3_u32, 3..6];
        if is_reversed {
            parts.reverse();
        }
        let mut merged = Slice::default();
        for own in parts {
            let of_part: Vec<Event> = events.iter().copied().filter(|event| own.contains(&event.0)).collect();
            let mut of_threads = Slice::default();
            for thread in 0..threads {
                of_threads.add(slice(of_part.iter().skip(thread).step_by(threads)));
            }
            merged.add(travelled(of_threads, &own).unwrap());
        }
        assert_same(merged, slice(&events));
    }
}

#[test]
fn what_was_sent_twice_travels_twice() {
    let mut sent = Slice::default();
    sent.fates.note(
        Fate::Acked,
        [(0, 5, 3), (0, 6, 1), (0, 7, 9)].map(|(device, first, count)| Run { device, first, count }),
    );
    let mut received = travelled(sent, &(0..1)).unwrap();
    let points: u64 = received.fates.of(Fate::Acked).iter().map(|run| u64::from(run.count)).sum();
    assert_eq!(points, 13);
}

#[test]
fn sends_of_corrected_datapoints_travel_in_as_many_messages_as_they_need() {
    let send = |index: u64, device| CorrectedSend {
        device,
        index,
        is_second: index % 2 == 1,
        sent: Sent { fate: Fate::ALL[usize::try_from(index).unwrap() % 3], sent_ns: index, ended_ns: 2 * index },
    };
    let all: Vec<_> = (0..MAX_RANGES as u64 + 7).map(|index| send(index, 1)).collect();
    let mut sent = Slice::default();
    all.iter().for_each(|&send| sent.fates.note_corrected(send));
    assert_eq!(*travelled(sent, &(0..2)).unwrap().fates.corrected(), all);
    let mut anothers = Slice::default();
    anothers.fates.note_corrected(send(0, 5));
    assert!(matches!(travelled(anothers, &(0..2)), Err(NotOurSlice::Device { device: 5, .. })));
}

#[test]
fn windows_of_the_same_second_are_one() {
    let mut sum = slice(&[(0, 0, 5, 5, 0)]);
    sum.add(slice(&[(1, 0, 7, 7, 0), (1, 1, 1_000_000_007, 7, 0)]));
    let seconds: Vec<_> = sum.windows.iter().map(|w| (w.first_second(), w.counts().ok)).collect();
    assert_eq!(seconds, [(0, 2), (1, 1)]);
}

#[test]
fn more_datapoints_than_a_message_holds_are_several_messages() {
    let mut slice = Slice::default();
    let ranges = 2 * MAX_RANGES as u64 + 5;
    slice.fates.note(Fate::Acked, (0..ranges).map(|n| Run { device: 2, first: 2 * n, count: 1 }));
    let messages = slice.into_sent();
    assert_eq!(messages.len(), 3);
    let mut received = Slice::default();
    messages.into_iter().for_each(|message| received.add(message.received(&kinds(), &(2..3)).unwrap()));
    assert_eq!(account(received).1[0].len(), ranges);
}

#[test]
fn of_devices_of_others_nothing_is_received() {
    let refused = travelled(slice(&[(3, 0, 5, 5, 0), (1, 0, 5, 5, 0)]), &(2..5));
    assert_eq!(refused.unwrap_err(), NotOurSlice::Device { device: 1, own: 2..5 });
}
