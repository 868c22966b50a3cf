//! Sessions, without threads and in virtual time: the pacer's stream and a loop's source.

use super::*;
use crate::{
    control::Control,
    mix::OperationMix,
    pacer::{OpenStream, PacerSleep, Waiting, returns},
    plan::{GroupPlan, Load, OperationPlan, Part, Payload},
    profile::Arrival,
    schedule::{OwnBlocks, Pattern, Schedule, SessionStarts, Starts},
    shape::Shape,
    source::Filler,
};
use iotbench_recorder::{LoadCounts, OperationKind, Recorder, Requests};
use iotbench_simulator::DatasetConfig;
use std::{cmp::Reverse, collections::BinaryHeap, collections::HashSet, path::Path, sync::Arc};

const MS: u64 = 1_000_000;
const RATE: f64 = 100.0;
const MEAN: f64 = 5.0;

/// A load of 100 sessions a second, and what a database does with it.
struct Load100 {
    stream: OpenStream,
    source: PartlyOpenSource,
    control: Control,
    recorder: Recorder,
    batch: Batch,
    /// Operations under way, by their answers' times.
    under_way: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// The number and the intended start of each operation that began.
    began: Vec<(u64, u64)>,
    answers: u64,
}

impl Load100 {
    fn new(arrival: Arrival, think_ns: u64, most_sessions: u32, operations: Option<u64>) -> Self {
        let config: DatasetConfig = serde_json::from_value(serde_json::json!({ "name": "pmu" })).unwrap();
        let dataset = config.open(1, 0, 3, Path::new(".")).unwrap();
        let batch = Batch::new(dataset.schema());
        let load = Load::PartlyOpen { arrival, rate: RATE, mean_operations: MEAN, think_ns, most_sessions };
        let group = GroupPlan {
            name: "g".into(),
            operation: OperationPlan::write("write", Payload::Count(2)),
            others: vec![],
            load,
            shape: Shape::Constant,
            connections: 1,
            devices: None,
            part: Part::default(),
            draw: crate::profile::DrawConfig::default(),
            undivided: false,
        };
        let operations_of_group = OperationMix::new(&group, 1);
        let lengths = Lengths::new(MEAN, 1);
        let (go_on, returns) = returns(most_sessions, Arc::new(PacerSleep::default()));
        let pattern = Pattern::Sessions(SessionStarts::new(Schedule::new(arrival, RATE, 1), lengths));
        let starts = Starts::new(pattern, OwnBlocks { blocks: 0..3, of: 3 });
        let (grants, leftover) = async_channel::bounded(returns.sessions());
        let stream = OpenStream {
            operations: operations_of_group.clone(),
            first_kind: 0,
            schedule: starts.clone().peekable(),
            waiting: Waiting::default(),
            ramped: None,
            window: None,
            pace: starts,
            grants,
            leftover: leftover.clone(),
            outstanding: Arc::default(),
            drop_above: Some(most_sessions),
            returns: Some(returns),
        };
        let outstanding = Arc::clone(&stream.outstanding);
        let open = OpenSource::new(leftover, outstanding, Filler::new(dataset, 0), 3, operations_of_group);
        let kinds = [OperationKind { name: "write".into(), requests: Requests::One }];
        Self {
            stream,
            source: PartlyOpenSource::new(open, Sessions { lengths, think_ns, go_on }),
            control: Control::new(0, operations, 0, 0),
            recorder: Recorder::new(kinds.into()),
            batch,
            under_way: BinaryHeap::new(),
            began: Vec::new(),
            answers: 0,
        }
    }

    /// Goes on from one millisecond to the next; an operation takes so long, on as many connections as it needs.
    fn run(&mut self, ms: std::ops::Range<u64>, service_ns: u64, connections: usize) {
        for now_ns in ms.map(|ms| ms * MS) {
            // Whoever goes on at once is due in the same millisecond.
            while self.step(now_ns, service_ns, connections) {}
        }
    }

    /// Whether anything was answered or began.
    fn step(&mut self, now_ns: u64, service_ns: u64, connections: usize) -> bool {
        let before = (self.answers, self.began.len());
        while let Some(&Reverse((at_ns, intended_ns, user))) = self.under_way.peek().filter(|o| o.0.0 <= now_ns) {
            self.under_way.pop();
            self.answers += 1;
            self.source.complete(Due { intended_ns, user, free_since_ns: 0, generated: 0, lost: 0 }, at_ns);
        }
        self.stream.release(now_ns, &self.control, &mut self.recorder);
        while self.under_way.len() < connections {
            self.batch.clear();
            let Next::Due(due) = self.source.take(now_ns, &mut self.batch) else { break };
            self.began.push((self.source.taken().draw.number, due.intended_ns));
            self.under_way.push(Reverse((now_ns + service_ns, due.intended_ns, due.user)));
        }
        before != (self.answers, self.began.len())
    }

    /// The starts of sessions, and those of later operations.
    fn arrivals(&self) -> (Vec<u64>, Vec<u64>) {
        let is_first = |number: u64| number == 0 || self.source.sessions.lengths.ends_with(number - 1);
        let (first, later): (Vec<_>, Vec<_>) = self.began.iter().partition(|(number, _)| is_first(*number));
        let starts = |operations: Vec<(u64, u64)>| operations.into_iter().map(|(_, at_ns)| at_ns).collect();
        (starts(first), starts(later))
    }

    /// Ends the load at a time, and adds up what was counted.
    fn end(mut self, end_ns: u64) -> LoadCounts {
        self.stream.close(end_ns, &self.control, &mut self.recorder);
        let mut all = LoadCounts::default();
        for window in self.recorder.finish() {
            let load = window.recording().load();
            all.offered += load.offered;
            all.dropped += load.dropped;
            all.pending += load.pending;
        }
        all
    }
}

fn scheduled(arrival: Arrival, until_ns: u64) -> Vec<u64> {
    Schedule::new(arrival, RATE, 1).map(|start| start.at_ns).take_while(|&at_ns| at_ns < until_ns).collect()
}

#[test]
fn arrivals_are_those_of_the_schedule_whatever_the_answers_take() {
    for arrival in [Arrival::Constant, Arrival::Poisson] {
        for service_ms in [0, 3, 700] {
            let mut load = Load100::new(arrival, 20 * MS, 100_000, None);
            load.run(0..5_001, service_ms * MS, usize::MAX);
            let (first, _) = load.arrivals();
            assert_eq!(first, scheduled(arrival, 5_000 * MS + 1), "{arrival}, {service_ms} ms");
        }
    }
}

/// Whoever waits for a connection still has the start that the schedule gave it.
#[test]
fn a_session_that_waits_for_a_connection_was_due_at_its_arrival() {
    let mut load = Load100::new(Arrival::Constant, 20 * MS, 100_000, None);
    load.run(0..2_000, 50 * MS, 1);
    let (first, later) = load.arrivals();
    assert!(load.began.len() <= 40, "one connection carries 20 a second");
    assert!(!first.is_empty() && !later.is_empty());
    assert_eq!(first, scheduled(Arrival::Constant, 2_000 * MS)[..first.len()]);
    let waits_ms = (1_950 * MS - first.last().unwrap()) / MS;
    assert!(waits_ms > 1_000, "the queue grows: {waits_ms} ms");
}

#[test]
fn a_session_goes_on_its_think_time_after_its_answer_with_the_next_operation() {
    let mut load = Load100::new(Arrival::Constant, 40 * MS, 100_000, None);
    load.run(0..3_000, 7 * MS, usize::MAX);
    let lengths = load.source.sessions.lengths;
    let starts: std::collections::HashMap<u64, u64> = load.began.iter().copied().collect();
    assert_eq!(starts.len(), load.began.len(), "no operation begins twice");
    let mut later = 0;
    for (&number, &at_ns) in &starts {
        if number > 0 && !lengths.ends_with(number - 1) {
            later += 1;
            // The clock of this test ticks each millisecond, at which an operation that is due begins.
            let after_ns = at_ns - starts[&(number - 1)];
            assert!((47 * MS..48 * MS).contains(&after_ns), "{number}: {after_ns}");
        }
    }
    assert!(later > 800, "{later}");
}

#[test]
fn at_a_service_time_of_nothing_the_offered_operations_are_the_rate_times_the_mean() {
    for think_ms in [0, 100] {
        let mut load = Load100::new(Arrival::Poisson, think_ms * MS, 100_000, None);
        load.run(0..60_000, 0, usize::MAX);
        let offered = load.end(60_000 * MS).offered as f64;
        // 6,000 sessions; the number of their operations has the variance 6,000 × (5 × 4 + 5²).
        let (mean, deviation) = (60.0 * RATE * MEAN, (6_000_f64 * 45.0).sqrt());
        let thinking = RATE * MEAN * (MEAN - 1.0) * think_ms as f64 / 1e3;
        assert!((offered - mean).abs() < 3.0 * deviation + thinking, "{offered} of {mean}");
    }
}

#[test]
fn sessions_beyond_the_most_are_dropped_and_everything_is_counted() {
    let mut load = Load100::new(Arrival::Constant, 50 * MS, 10, None);
    load.run(0..2_000, 30 * MS, 2);
    assert!(load.stream.outstanding.load(std::sync::atomic::Ordering::Relaxed) <= 10);
    let (began, answers, under_way) = (load.began.len() as u64, load.answers, load.under_way.len() as u64);
    let later = load.arrivals().1.len();
    let counts = load.end(2_000 * MS);
    assert!(counts.dropped > 100, "{counts:?}");
    assert!(later > 50, "who is here goes on, however many arrive: {later}");
    assert_eq!(counts.offered, began + counts.dropped + counts.pending);
    assert_eq!(began, answers + under_way);
    assert!(counts.pending <= 10, "who waits is here: {counts:?}");
}

#[test]
fn what_waits_at_the_end_is_pending_and_nothing_due_after_it_is_offered() {
    let mut load = Load100::new(Arrival::Constant, 50 * MS, 100_000, None);
    load.run(0..1_000, 10 * MS, 1);
    let began = load.began.len() as u64;
    let counts = load.end(1_000 * MS);
    assert_eq!(counts.offered, began + counts.pending);
    assert!((98..=100).contains(&began), "one connection carries 100 a second: {began}");
    // Sessions are answered before the end, and due to go on after it.
    let mut load = Load100::new(Arrival::Constant, 5_000 * MS, 100_000, None);
    load.run(0..1_000, 0, 1);
    assert_eq!(load.end(1_000 * MS).offered, 100, "the first operations of all");
}

#[test]
fn the_operations_of_a_run_are_not_exceeded() {
    let mut load = Load100::new(Arrival::Constant, 5 * MS, 100_000, Some(77));
    load.run(0..2_000, MS, usize::MAX);
    assert_eq!((load.began.len(), load.control.is_spent()), (77, true));
    assert_eq!(load.end(2_000 * MS), LoadCounts { offered: 77, ..LoadCounts::default() });
}

#[test]
fn no_datapoint_is_sent_twice_and_the_seed_decides_which_a_session_sends() {
    let sent = |service_ns: u64| {
        let mut load = Load100::new(Arrival::Poisson, 20 * MS, 100_000, None);
        let mut sent = HashSet::new();
        for now_ns in (0..2_000).map(|ms| ms * MS) {
            load.stream.release(now_ns, &load.control, &mut load.recorder);
            loop {
                load.batch.clear();
                let Next::Due(due) = load.source.take(now_ns, &mut load.batch) else { break };
                let number = load.source.taken().draw.number;
                for run in load.batch.runs() {
                    assert!(run.indices().all(|index| sent.insert((run.device, index, number))));
                }
                load.source.complete(due, now_ns + service_ns);
            }
        }
        let datapoints: HashSet<_> = sent.iter().map(|(device, index, _)| (*device, *index)).collect();
        assert_eq!(datapoints.len(), sent.len(), "none twice");
        sent
    };
    let (fast, slow) = (sent(0), sent(300 * MS));
    assert!(slow.len() > 500 && slow.is_subset(&fast), "the same operations send the same, fewer of them by then");
}

#[test]
fn the_number_of_an_operation_is_known_from_its_lower_half() {
    let mut load = Load100::new(Arrival::Constant, 0, 10, None);
    load.source.greatest = (3 << 32) + 5;
    let due = |number: u64| Due { intended_ns: 0, user: low(number), free_since_ns: 0, generated: 0, lost: 0 };
    for number in [(3 << 32) + 5, (3 << 32) - 1, 2 << 32 | 7, (3 << 32) + 1] {
        assert_eq!(load.source.number(due(number)), number);
    }
}
