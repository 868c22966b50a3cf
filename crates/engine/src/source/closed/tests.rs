//! Users of a closed loop, without threads and in virtual time.

use super::*;
use crate::{
    pacer::PacerSleep,
    plan::{GroupPlan, Load, OperationPlan},
    profile::ShapeKind,
    shape::ShapeStep,
};
use iotbench_simulator::DatasetConfig;
use std::{ops::Range, path::Path, time::Instant};

const MS: u64 = 1_000_000;

/// Users of 50 datapoints a second each, in a loop of their own.
struct Loop {
    source: ClosedSource,
    control: Arc<Control>,
    batch: Batch,
}

impl Loop {
    fn new(users: u32, operations: Option<u64>, payload: Payload, think_ns: u64) -> Self {
        Self::of(users, operations, vec![operation(payload)], think_ns)
    }

    fn of(users: u32, operations: Option<u64>, mut plans: Vec<OperationPlan>, think_ns: u64) -> Self {
        let config = serde_json::json!({ "name": "pmu", "rate": 50.0, "jitter": "0s" });
        let config: DatasetConfig = serde_json::from_value(config).unwrap();
        let dataset = config.open(1, 0, 8, Path::new(".")).unwrap();
        let control = Arc::new(Control::new(users, operations, 0, 0));
        let (operation, load) = (plans.remove(0), Load::Closed { users, think_ns });
        let group = GroupPlan {
            name: "g".into(),
            operation,
            others: plans,
            load,
            shape: Shape::Constant,
            connections: 1,
            devices: None,
            part: Part::default(),
            draw: crate::profile::DrawConfig::default(),
            undivided: false,
        };
        let operations = OperationMix::new(&group, 1);
        let settings = ClosedSettings {
            operations,
            users: None,
            shape: Shape::Constant,
            own: None,
            part: Part::default(),
            think_ns,
            first: 0,
            stride: 1,
            most_users: 8,
            devices: 8,
            seed: 1,
        };
        let alarm = Arc::new(Alarm::new(Arc::new(PacerSleep::default())));
        let batch = Batch::new(dataset.schema());
        let clock = RunClock::starting_at(Instant::now());
        let source = ClosedSource::new(clock, Arc::clone(&control), alarm, Filler::new(dataset, 0), settings);
        Self { source, control, batch }
    }

    fn take(&mut self, now_ns: u64) -> Next {
        self.batch.clear();
        self.source.take(now_ns, &mut self.batch)
    }

    fn due(&mut self, now_ns: u64) -> Option<Due> {
        match self.take(now_ns) {
            Next::Due(due) => Some(due),
            Next::Wait | Next::Finished => None,
        }
    }

    /// Takes all that is due, and answers it at once; the users in the order of their starts.
    fn answer_all(&mut self, now_ns: u64) -> Vec<u32> {
        let due: Vec<Due> = std::iter::from_fn(|| self.due(now_ns)).collect();
        due.iter().for_each(|&d| self.source.complete(d, now_ns));
        due.iter().map(|d| d.user).collect()
    }
}

fn operation(payload: Payload) -> OperationPlan {
    OperationPlan::write("write", payload)
}

const SINCE_LAST: Payload = Payload::SinceLast { window_ns: 2_000 * MS };

#[test]
fn a_user_starts_its_think_time_after_its_answer() {
    let mut users = Loop::new(1, None, Payload::Count(1), 100 * MS);
    users.take(0);
    let first = users.due(100 * MS).unwrap();
    assert!(first.intended_ns < 100 * MS, "first starts are spread over the think time");
    assert_eq!(users.take(10_000 * MS), Next::Wait, "it waits for its answer");
    users.source.complete(first, 300 * MS);
    assert_eq!(users.take(400 * MS - 1), Next::Wait);
    assert_eq!(users.due(450 * MS).unwrap().intended_ns, 400 * MS);
}

#[test]
fn users_come_and_go_as_their_shape_says() {
    let mut users = Loop::new(0, None, Payload::Count(1), 0);
    let step = |ms: u64, factor| ShapeStep { from_ns: ms * MS, factor };
    let steps = vec![step(0, 2.0), step(100, 0.5)];
    users.source.settings.users = Some(4);
    users.source.settings.shape = Shape::Steps { kind: ShapeKind::Burst, steps, period_ns: Some(300 * MS) };
    assert_eq!(users.answer_all(0), [0, 1, 2, 3]);
    assert_eq!(users.answer_all(99 * MS), [0, 1, 2, 3], "each has its answer");
    assert_eq!(users.source.look_at_ns, 100 * MS, "it wakes then, whoever waits");
    assert_eq!(users.answer_all(100 * MS), [0]);
    assert_eq!(users.answer_all(299 * MS), [0]);
    assert_eq!(users.answer_all(300 * MS), [0, 1, 2, 3]);
}

/// The users of an agent are its share of those that there are.
#[test]
fn agents_share_the_users_of_a_shape() {
    let share = |own: Range<u32>| {
        let mut users = Loop::new(0, None, Payload::Count(1), 0);
        users.source.settings.users = Some(10);
        users.source.settings.shape = Shape::Rise { rise_ns: 1_000 * MS };
        users.source.settings.own = Some(OwnUsers::new(10, &own, |user| user));
        [0, 300, 500, 1_000].map(|ms| users.source.users_wanted(ms * MS))
    };
    let (first, second) = (share(0..4), share(4..10));
    assert_eq!((first, second), ([0, 1, 2, 4], [0, 2, 3, 6]));
}

#[test]
fn a_send_carries_what_was_measured_since_the_last() {
    let mut users = Loop::new(1, None, SINCE_LAST, 1_000 * MS);
    users.take(0);
    let first = users.due(1_500 * MS).unwrap();
    users.source.complete(first, 1_510 * MS);
    let (sent, next) = (users.batch.runs()[0].indices().end, users.due(2_510 * MS).unwrap());
    assert_eq!((next.intended_ns, next.generated, next.lost), (2_510 * MS, 50, 0), "20 ms apart");
    assert_eq!(users.batch.runs()[0].first, sent, "nothing twice, and no gap");
}

#[test]
fn data_older_than_the_window_is_lost_and_counted() {
    let mut users = Loop::new(1, None, SINCE_LAST, 1_000 * MS);
    users.take(0);
    let first = users.due(1_000 * MS).unwrap();
    let sent = users.batch.runs()[0].indices().end;
    users.source.complete(first, 6_000 * MS);
    let next = users.due(7_000 * MS).unwrap();
    // 6 s since the send, of which 2 s are kept.
    assert_eq!((next.generated, next.lost, users.batch.len()), (300, 200, 100));
    assert_eq!(users.batch.runs()[0].first, sent + 200);
}

#[test]
fn users_that_stay_keep_their_places_when_others_join() {
    let mut users = Loop::new(2, None, Payload::Count(1), 100 * MS);
    users.take(0);
    assert_eq!(users.answer_all(100 * MS).len(), 2);
    users.control.set_users(4);
    assert_eq!(users.take(150 * MS), Next::Wait, "those that stay still think, and none has joined");
    let mut started = users.answer_all(300 * MS);
    started.sort_unstable();
    assert_eq!(started, [0, 1, 2, 3]);
}

#[test]
fn users_that_leave_end_with_their_present_operation() {
    let mut users = Loop::new(2, None, Payload::Count(1), 100 * MS);
    users.take(0);
    let under_way: Vec<Due> = std::iter::from_fn(|| users.due(100 * MS)).collect();
    users.control.set_users(1);
    users.take(110 * MS);
    under_way.iter().for_each(|&d| users.source.complete(d, 120 * MS));
    assert_eq!(users.answer_all(1_000 * MS), [0]);
}

#[test]
fn who_joins_after_a_pause_starts_spread_over_the_think_time_also_where_a_device_measures_less_often() {
    // A device has a datapoint each 20 ms.
    for (payload, think_ms) in [(Payload::Count(1), 1_000), (SINCE_LAST, 1_000), (SINCE_LAST, 10)] {
        let mut users = Loop::new(8, None, payload, think_ms * MS);
        users.take(0);
        users.answer_all(5_000 * MS);
        users.control.set_users(0);
        users.take(5_000 * MS);
        users.control.set_users(8);
        users.take(9_000 * MS);
        let mut starts: Vec<u64> = std::iter::from_fn(|| users.due(20_000 * MS)).map(|due| due.intended_ns).collect();
        starts.sort_unstable();
        let (first, last) = (starts[0], starts[7]);
        assert!(starts.is_sorted_by(|a, b| a < b), "{think_ms} ms: no two at once: {starts:?}");
        // Of eight uniform draws the range is less than a third of the whole in 1 of 400 cases; the seed is fixed.
        assert!(last - first > think_ms * MS / 3 && last - first < think_ms * MS, "{think_ms} ms: {starts:?}");
        assert!(first >= 9_000 * MS && last < (9_000 + 20 + think_ms) * MS, "{think_ms} ms: {starts:?}");
    }
}

#[test]
fn a_user_that_leaves_and_joins_again_is_still_one_user() {
    let mut users = Loop::new(2, None, Payload::Count(1), 10_000 * MS);
    users.take(0);
    for count in [1, 2, 1, 2] {
        users.control.set_users(count);
        users.take(1);
    }
    let mut started: Vec<u32> = std::iter::from_fn(|| users.due(60_000 * MS)).map(|d| d.user).collect();
    started.sort_unstable();
    assert_eq!(started, [0, 1]);
}

#[test]
fn the_operations_of_a_run_are_not_exceeded() {
    let mut users = Loop::new(8, Some(5), Payload::Count(1), 0);
    let taken = std::iter::from_fn(|| users.due(1)).count();
    assert_eq!((taken, users.take(1)), (5, Next::Finished));
    let mut left = Vec::new();
    users.source.left(2, &mut |l| left.push(l));
    assert_eq!(left, [], "what a run does not do is not due");
}

/// Three users are due before the end and wait for the one connection.
#[test]
fn who_was_due_before_the_end_still_starts_and_nobody_else() {
    let mut users = Loop::new(3, None, Payload::Count(1), 100 * MS);
    users.take(0);
    users.control.stop_at(150 * MS);
    let due: Vec<_> = std::iter::from_fn(|| users.due(400 * MS)).collect();
    assert!(due.len() == 3 && due.iter().all(|due| due.intended_ns < 150 * MS), "{due:?}");
    assert_eq!(users.take(400 * MS), Next::Finished);
    // With answers in time a user would start again.
    let mut users = Loop::new(1, None, Payload::Count(1), 0);
    let due = users.due(0).unwrap();
    users.control.stop_at(10 * MS);
    users.source.complete(due, 10 * MS);
    assert_eq!(users.take(11 * MS), Next::Finished, "due at the end is not before it");
    let mut left = Vec::new();
    users.source.left(10 * MS, &mut |l| left.push(l));
    assert_eq!(left, []);
}

#[test]
fn who_is_due_and_not_taken_is_told() {
    let mut users = Loop::new(3, None, Payload::Count(1), 100 * MS);
    users.take(0);
    let taken = users.due(100 * MS).unwrap();
    users.control.leave_queue();
    users.control.stop_at(150 * MS);
    assert_eq!(users.take(150 * MS), Next::Finished);
    let mut left = Vec::new();
    users.source.left(150 * MS, &mut |l| left.push(l));
    assert_eq!(left.len(), 2, "the one under way is not left");
    assert!(left.iter().all(|l| matches!(l, Left::Operation { intended_ns } if *intended_ns >= taken.intended_ns)));
}

#[test]
fn a_user_is_a_small_record() {
    let bytes = size_of::<User>() + size_of::<Reverse<(u64, u32)>>();
    assert!(bytes <= 64, "a user takes {bytes} bytes");
}

#[test]
fn an_operation_of_several_requests_over_several_devices_is_filled_request_by_request() {
    let plan = OperationPlan { devices: 3, requests: 2, ..operation(Payload::Count(2)) };
    let mut users = Loop::of(1, None, vec![plan], 0);
    users.due(0).unwrap();
    let runs: Vec<_> = users.batch.runs().iter().map(|r| (r.device, r.indices())).collect();
    assert_eq!(runs, [(0, 0..2), (1, 0..2), (2, 0..2), (0, 2..4), (1, 2..4), (2, 2..4)]);
}

#[test]
fn a_mix_is_the_same_whatever_the_answers_do_and_sends_nothing_twice() {
    let plans = || vec![operation(Payload::Count(1)), operation(Payload::Count(5))];
    let taken = |patience_ns: u64| {
        let mut users = Loop::of(1, None, plans(), 0);
        let (mut places, mut sent, mut now_ns) = (Vec::new(), Vec::new(), 0);
        for _ in 0..100 {
            let due = users.due(now_ns).unwrap();
            places.push(users.source.taken().place);
            assert_eq!(users.batch.len(), [1, 5][users.source.taken().place]);
            sent.extend(users.batch.runs().iter().flat_map(|r| r.indices().map(|i| (r.device, i))));
            now_ns += patience_ns;
            users.source.complete(due, now_ns);
        }
        let all = sent.len();
        sent.sort_unstable();
        sent.dedup();
        assert_eq!(sent.len(), all);
        places
    };
    let places = taken(1);
    assert_eq!(places, taken(1_000 * MS));
    assert!(places.contains(&0) && places.contains(&1));
}

#[test]
fn what_is_left_is_told_as_what_it_would_have_been() {
    let mut users = Loop::of(5, None, vec![operation(Payload::Count(1)), operation(Payload::Count(2))], 0);
    users.take(0);
    let (mut left, mut taken) = (Vec::new(), Vec::new());
    users.source.left_with_place(10, &mut |place, _| left.push(place));
    while users.due(10).is_some() {
        taken.push(users.source.taken().place);
    }
    assert_eq!(left.len(), 4, "the one under way is not left");
    left.sort_unstable();
    taken.sort_unstable();
    assert_eq!(left, taken);
}
