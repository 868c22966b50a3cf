//! The figures of steps whose operations are known, without a server and without time.

use super::*;
use crate::{
    outcome::SecondFigures,
    plan::{PlanRequest, plan},
    profile_file::parse_profile,
    ramp::{Afterwards, Course, Purpose},
    trial::LITTLES_TOLERANCE,
};
use iotbench_oracle_server::backend::{OracleBackend, target};
use iotbench_recorder::{OperationKind, Outcome, Payload, Recorder, Recording, Requests, Timing, WindowCounts};
use iotbench_sampler::CpuShares;
use std::{path::Path, sync::Arc};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

const CLOSED: &str = "model = \"closed\", users = 4, think_time = \"200ms\"";
const OPEN: &str = "model = \"open\", arrival = \"constant\", rate = 100.0";

/// A plan of a group that makes this load. Nothing listens at its address, and nobody calls there.
fn planned(load: &str) -> Plan {
    let text = format!(
        "name = \"t\"\nsummary = \"t\"\n[dataset]\nname = \"pmu\"\n[[groups]]\nname = \"g\"\nload = {{ {load} }}\n\
         operations = [{{ kind = \"write\" }}]\n[phases]\nduration = \"3s\"\n[stop]\nmean_response = \"1s\"\n"
    );
    let request = PlanRequest {
        profile: parse_profile("t.toml", &text).unwrap(),
        profile_file: "t.toml".into(),
        base: Path::new("."),
        run_id: "t".into(),
        target: target("127.0.0.1:9".parse().unwrap()),
        now_ns: 0,
    };
    plan(request, &OracleBackend).unwrap().plan
}

fn ramp(quantity: Quantity) -> RampPlan {
    RampPlan { quantity, step_ns: 10 * S, course: Course::Steps(vec![4]), afterwards: Afterwards::default() }
}

/// Ten seconds with these operations: how many ended so, sent so late, after so long.
fn measured(ended: &[(u64, Outcome, u64, u64)]) -> Measured {
    measured_with_pending(ended, 0)
}

/// The same with so many that were never started.
fn measured_with_pending(ended: &[(u64, Outcome, u64, u64)], pending: u64) -> Measured {
    let kinds: Arc<[OperationKind]> = [OperationKind { name: "write".into(), requests: Requests::One }].into();
    let mut recorder = Recorder::new(Arc::clone(&kinds));
    for &(count, outcome, late_ns, response_ns) in ended {
        for _ in 0..count {
            let timing = Timing::new(0, late_ns, response_ns).unwrap().with_own_delay(late_ns);
            recorder.offer(0, 0, 1);
            recorder.start(0, 0, late_ns, 1);
            recorder.complete(0, outcome, &timing, &Payload::undivided(outcome, 1, 3, 0));
        }
    }
    for _ in 0..pending {
        recorder.offer(0, 0, 1);
        recorder.leave_pending(0, 0, S);
    }
    let (mut recording, mut counts) = (Recording::new(kinds), WindowCounts::default());
    for window in recorder.finish() {
        recording.merge(window.recording()).unwrap();
        counts.merge(window.counts());
    }
    Measured {
        from_ns: 5 * S,
        to_ns: 15 * S,
        recording,
        counts,
        seconds: vec![SecondFigures { offered: 8, ok: 8, ..SecondFigures::default() }; 10],
        pacing_error: LatencyHistogram::new(),
        visibility: None,
        client: ClientLoad::default(),
        resources: Vec::new(),
        counters: None,
    }
}

fn counted(all: u64) -> Counted {
    Counted {
        step: Step { load: 4, purpose: Purpose::Listed },
        due: Due { all, unoffered: 0, unanswered: 0 },
        followed_ns: 7,
        waited_ns: 0,
        user_times: [UserTime::default(); 2],
        late: 0,
        is_visibility_missing: false,
        embedded: false,
        clients: Vec::new(),
    }
}

/// Four users who wait 300 ms and think 200 ms begin 80 operations in ten seconds.
#[test]
fn of_users_littles_law_holds_over_answers_failures_and_what_has_no_answer() {
    let (plan, ramp) = (planned(CLOSED), ramp(Quantity::Users));
    let all = [(74, Outcome::Ok, 0, 300 * MS), (4, Outcome::Fail, 0, 300 * MS), (2, Outcome::Unknown, 0, 300 * MS)];
    let measured = measured(&all);
    let ratio = |counted: &Counted| counted.figures(&ramp, &plan, &measured).littles_ratio;
    assert_eq!(ratio(&counted(80)), Some(1.0));
    let time = |until_next_ns, elsewhere_ns| UserTime { until_next_ns, elsewhere_ns };
    // What the step before left of a cycle, and what its own users did elsewhere, is time of theirs; what its end cuts off is not.
    let cut = Counted { user_times: [time(2 * S, 100 * S), time(9 * S, 3 * S)], ..counted(80) };
    assert_eq!(ratio(&cut), Some(0.9));
    let waiting = Counted { due: Due { all: 81, unoffered: 0, unanswered: 1 }, ..counted(0) };
    assert_eq!(ratio(&waiting), None, "not all are known");
    assert_eq!(ratio(&Counted { step: Step { load: 0, purpose: Purpose::Listed }, ..counted(80) }), None);
    let open_loop = self::ramp(Quantity::OperationsPerSecond);
    let open = counted(80).figures(&open_loop, &planned(OPEN), &measured);
    assert_eq!(open.littles_ratio, None);
    assert!((0.9 - 1.0_f64).abs() > LITTLES_TOLERANCE);
}

#[test]
fn a_steps_rates_are_those_of_its_length_and_its_margin_that_of_its_users() {
    let (plan, ramp) = (planned(CLOSED), ramp(Quantity::Users));
    let figures = counted(80).figures(&ramp, &plan, &measured(&[(80, Outcome::Ok, 0, 300 * MS)]));
    assert_eq!((figures.from_ns, figures.length_ns, figures.followed_ns), (5 * S, 10 * S, 7));
    assert_eq!((figures.operations_per_s, figures.values_per_s), (8.0, 24.0));
    assert_eq!((figures.response.mean_ns, figures.response.mean_at_least_ns), (Some(3e8), None));
    assert_eq!((figures.judgement.passed, figures.judgement.limit, figures.judgement.failure), (true, None, None));
    assert!(
        figures.judgement.margin.is_some_and(|margin| (margin - (0.5_f64 / 1.2).ln()).abs() < 1e-12),
        "{:?}",
        figures.judgement.margin
    );
    assert_eq!((figures.load.offered, figures.load.started, figures.load.ok), (80, 80, 80));
    let slow = counted(80).figures(&ramp, &plan, &measured(&[(80, Outcome::Ok, 0, 1_100 * MS)]));
    assert_eq!((slow.judgement.passed, slow.judgement.limit), (false, Some(Limit::Latency)));
    assert!(counted(80).fails_already(&ramp, &plan, &measured(&[(80, Outcome::Ok, 0, 1_100 * MS)])));
    assert!(!counted(80).fails_already(&ramp, &plan, &measured(&[(80, Outcome::Ok, 0, 300 * MS)])));
}

/// 20 of 100 have no answer yet, and have waited for 4 s.
#[test]
fn what_has_no_answer_yet_has_waited_for_as_long_as_is_known() {
    let (plan, ramp) = (planned(OPEN), ramp(Quantity::OperationsPerSecond));
    let waiting = Counted { due: Due { all: 100, unoffered: 0, unanswered: 20 }, waited_ns: 4 * S, ..counted(0) };
    let figures = waiting.figures(&ramp, &plan, &measured(&[(80, Outcome::Ok, 0, 250 * MS)]));
    assert_eq!((figures.response.mean_ns, figures.response.mean_at_least_ns), (None, Some(1e9)));
    assert_eq!(figures.response.mean_at_most_ns, None, "nobody knows how long the rest takes");
    assert_eq!((figures.response.p99_ns, figures.response.p99_at_least_ns), (None, None), "too few for it");
    let longer = Counted { waited_ns: 5 * S, ..waiting };
    assert!(longer.fails_already(&ramp, &plan, &measured(&[(80, Outcome::Ok, 0, 250 * MS)])), "1.2 s at least");
    assert_eq!((figures.load.started, figures.load.pending, figures.load.offered), (80, 20, 100));
    assert_eq!(
        (figures.judgement.passed, figures.judgement.limit),
        (false, Some(Limit::Errors)),
        "they never had an answer"
    );
    let more = Counted { due: Due { all: 2_000, unoffered: 0, unanswered: 400 }, waited_ns: 4 * S, ..counted(0) };
    let figures = more.figures(&ramp, &plan, &measured(&[(1_600, Outcome::Ok, 0, 250 * MS)]));
    assert!(figures.response.p99_at_least_ns.is_some_and(|ns| ns > 3_900 * MS && ns <= 4 * S), "{figures:?}");
    assert_eq!((figures.response.p99_ns, figures.response.p99_at_most_ns), (None, None));
}

/// What the client's own delay is a part of is told without it, as a bound.
#[test]
fn figures_that_are_ranges_are_told_from_what_they_are_at_least_to_what_they_are_at_most() {
    let (plan, ramp) = (planned(OPEN), ramp(Quantity::OperationsPerSecond));
    let of = |late_ns| {
        let figures = counted(2_000).figures(&ramp, &plan, &measured(&[(2_000, Outcome::Ok, late_ns, 300 * MS)]));
        let mean = (figures.response.mean_ns, figures.response.mean_at_least_ns, figures.response.mean_at_most_ns);
        let p99 = [figures.response.p99_ns, figures.response.p99_at_least_ns, figures.response.p99_at_most_ns];
        (mean, p99.map(|p99| p99.map(|ns| ns.div_ceil(10 * MS))))
    };
    assert_eq!(of(0), ((Some(3e8), None, None), [Some(30), None, None]), "in 10 ms, rounded up");
    assert_eq!(of(100 * MS), ((None, Some(2e8), Some(3e8)), [None, Some(20), Some(30)]));
}

/// 80 a second are offered and end; at the end 30 more were due, which no second counts.
#[test]
fn what_was_due_and_never_offered_waits_at_the_end_of_the_queue() {
    let (plan, open) = (planned(OPEN), ramp(Quantity::OperationsPerSecond));
    let measured = measured(&[(80, Outcome::Ok, 0, 300 * MS)]);
    let with = |unoffered| Counted { due: Due { all: 80 + unoffered, unoffered, unanswered: 0 }, ..counted(0) };
    let ratio = |unoffered, ramp: &RampPlan| {
        with(unoffered).figures(ramp, &plan, &measured).backlog.map(|backlog| backlog.achieved_ratio)
    };
    assert_eq!((ratio(0, &open), ratio(8, &open)), (Some(1.0), Some(0.9)), "of nine seconds: the first is not judged");
    assert_eq!(ratio(8, &ramp(Quantity::Devices)), None);
}

#[test]
fn who_made_the_load_is_named_where_it_was_the_limit() {
    let plan = planned(OPEN);
    let busy = |busiest| {
        let cpu = CpuShares { cores: 1.0, allowed_cores: 2.0, busiest_thread: Some(busiest), ..CpuShares::default() };
        ClientLoad { cpu: Some(cpu), length_ns: 10 * S, ..ClientLoad::default() }
    };
    let failing = [(79, Outcome::Ok, 0, 300 * MS), (1, Outcome::Fail, 0, 300 * MS)];
    let told = |own, counted: Counted| {
        let measured = Measured { client: busy(own), ..measured(&failing) };
        counted.figures(&ramp(Quantity::OperationsPerSecond), &plan, &measured)
    };
    assert_eq!(told(0.5, counted(80)).judgement.limit, Some(Limit::Errors));
    let own = told(0.9, counted(80));
    assert_eq!(own.judgement.limit, Some(Limit::Client));
    assert!(own.judgement.failure.unwrap().contains("the client was the limit: its busiest thread"));
    assert_eq!(told(0.9, Counted { embedded: true, ..counted(80) }).judgement.limit, Some(Limit::Errors));
    let clients = vec![("a".to_owned(), busy(0.5)), ("b".to_owned(), busy(0.95))];
    let agents = told(0.9, Counted { clients, ..counted(80) });
    assert!(
        agents.judgement.failure.unwrap().contains("the client was the limit: agent b: its busiest thread used 95 %")
    );
}

/// 2,000 operations were sent 5 ms after their time, one of them failed.
#[test]
fn a_schedule_that_the_client_did_not_keep_is_its_own_fault_where_there_is_one() {
    let failing = [(1_999, Outcome::Ok, 0, 10 * MS), (1, Outcome::Fail, 0, 10 * MS)];
    let mut late = measured(&failing);
    late.pacing_error.record_many(5 * MS, 2_000);
    let limit = |quantity, load, embedded| {
        Counted { embedded, ..counted(2_000) }.figures(&ramp(quantity), &planned(load), &late).judgement.limit
    };
    assert_eq!(limit(Quantity::OperationsPerSecond, OPEN, false), Some(Limit::Client));
    assert_eq!(limit(Quantity::OperationsPerSecond, OPEN, true), Some(Limit::Errors));
    assert_eq!(limit(Quantity::Users, CLOSED, false), Some(Limit::Errors), "users have no schedule");
}

#[test]
fn what_became_visible_and_could_not_be_counted_fails_a_step_that_passes() {
    let (plan, ramp) = (planned(OPEN), ramp(Quantity::OperationsPerSecond));
    let missing = Counted { is_visibility_missing: true, ..counted(80) };
    let figures = missing.figures(&ramp, &plan, &measured(&[(80, Outcome::Ok, 0, 300 * MS)]));
    assert_eq!((figures.judgement.passed, figures.judgement.limit), (false, Some(Limit::Visibility)));
}

#[test]
fn a_steps_operations_are_counted_by_what_became_of_them() {
    let (plan, ramp) = (planned(OPEN), ramp(Quantity::OperationsPerSecond));
    let all = [(74, Outcome::Ok, 0, 300 * MS), (4, Outcome::Fail, 0, 300 * MS), (2, Outcome::Unknown, 0, 300 * MS)];
    let due = Due { all: 100, unoffered: 0, unanswered: 13 };
    let figures = Counted { due, ..counted(0) }.figures(&ramp, &plan, &measured_with_pending(&all, 7));
    let LoadCounts { offered, started, ok, fail, unknown, pending, .. } = figures.load;
    assert_eq!((offered, started, ok, fail, unknown, pending), (100, 80, 74, 4, 2, 20));
    assert_eq!(figures.load.check(), Ok(()));
}
