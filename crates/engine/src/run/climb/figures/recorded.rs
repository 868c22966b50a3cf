//! Figures of steps of which the truth is known, by the recorder and the totals that a run counts with.

use super::*;
use crate::{
    plan::{PlanRequest, Planned, plan},
    profile_file::parse_profile,
    ramp::Purpose,
    slice::Slice,
    totals::Totals,
};
use iotbench_backends::BACKENDS;
use iotbench_core::{Registry, Target};
use iotbench_recorder::{OperationKind, Outcome, Payload, Recorder, Requests, Timing};
use std::path::Path;

const S: u64 = 1_000_000_000;
/// Users that take 1 s for an operation and think for 1 s, and start at the beginning of a step of 10 s.
const USERS: u32 = 9;

pub(super) fn planned() -> Planned {
    let text = "name = \"t\"\nsummary = \"t\"\n[dataset]\nname = \"pmu\"\n[[groups]]\nname = \"g\"\n\
                load = { model = \"closed\", users = 9, think_time = \"1s\" }\n\
                operations = [{ kind = \"write\", datapoints = 1 }]\n\
                [ramp]\nsteps = [9]\nstep = \"10s\"\n[stop]\nmean_response = \"3s\"\n";
    let request = PlanRequest {
        profile: parse_profile("t.toml", text).unwrap(),
        profile_file: "t.toml".into(),
        base: Path::new("."),
        run_id: "t".into(),
        target: Target { folder: Some("nowhere".into()), ..Target::default() },
        now_ns: 0,
    };
    plan(request, Registry::new(BACKENDS).find("blackhole").unwrap()).unwrap()
}

/// A step of these users of which `load` are said to be there; the last operation of the last user is answered at a time, or
/// is unanswered `waited_ns` after the end. Whether it fails already, and its figures.
fn step(load: u32, last_reply_ns: Option<u64>, waited_ns: u64) -> (bool, StepFigures) {
    let (planned, generation) = (planned(), 1);
    let kinds: std::sync::Arc<[_]> = [OperationKind { name: "g".into(), requests: Requests::One }].into();
    let (mut recorder, mut totals) = (Recorder::new(std::sync::Arc::clone(&kinds)), Totals::new(kinds));
    for (user, number) in (0..USERS).flat_map(|user| (0..5).map(move |number| (user, number))) {
        let due_ns = 2 * number * S;
        let is_last = (user, number) == (USERS - 1, 4);
        recorder.offer(0, due_ns, 1);
        recorder.start(0, due_ns, due_ns, 1);
        let Some(replied_ns) = (if is_last { last_reply_ns } else { Some(due_ns + S) }) else { continue };
        let timing = Timing::new(due_ns, due_ns, replied_ns).unwrap();
        recorder.complete(0, Outcome::Ok, &timing, &Payload::undivided(Outcome::Ok, 1, 1, 0));
    }
    totals.add(Slice { generation, windows: recorder.finish(), ..Slice::default() });
    let measured = totals.measured(generation, 0, 10 * S).unwrap();
    let counted = Counted {
        step: Step { load, purpose: Purpose::Listed },
        due: totals.due(generation),
        followed_ns: waited_ns,
        waited_ns,
        user_times: [0, generation].map(|number| totals.user_time(number)),
        late: 0,
        is_visibility_missing: false,
        embedded: false,
        clients: Vec::new(),
    };
    let (plan, ramp) = (&planned.plan, planned.plan.ramp.as_ref().unwrap());
    (counted.fails_already(ramp, plan, &measured), counted.figures(ramp, plan, &measured))
}

/// One of ten users is counted, and nothing that it did: throughput, response time and users contradict each other.
#[test]
fn a_load_of_which_a_part_went_missing_is_not_taken_for_sustained() {
    let (_, whole) = step(USERS, Some(9 * S), 0);
    assert_eq!((whole.judgement.passed, whole.judgement.limit, whole.littles_ratio), (true, None, Some(1.0)));
    let (_, lacking) = step(USERS + 1, Some(9 * S), 0);
    assert_eq!((lacking.judgement.passed, lacking.judgement.limit), (false, Some(Limit::Unsteady)), "{lacking:?}");
    assert!(lacking.littles_ratio.is_some_and(|ratio| (ratio - 0.9).abs() < 1e-9), "{lacking:?}");
    let why = "its figures do not fit together: X (R + Z) / N is 0.900, and Little's law wants 1 within 2 %";
    assert_eq!(lacking.judgement.failure.as_deref(), Some(why));
}

/// Of 45 operations 44 took 1 s.
#[test]
fn a_lower_bound_may_fail_a_step_and_never_passes_it() {
    let mean_s = |ns: Option<f64>| ns.map(|ns| (ns / 1e7).round() / 100.0);
    let (fails_already, waiting) = step(USERS, None, 46 * S);
    assert_eq!(
        (fails_already, waiting.judgement.passed, waiting.judgement.limit),
        (false, false, Some(Limit::Errors)),
        "2 s at least"
    );
    assert_eq!((mean_s(waiting.response.mean_ns), mean_s(waiting.response.mean_at_least_ns)), (None, Some(2.0)));
    let (fails_already, failed) = step(USERS, None, 100 * S);
    assert_eq!((fails_already, failed.judgement.limit), (true, Some(Limit::Latency)), "3.2 s at least");
    assert!(failed.judgement.failure.is_some_and(|why| why.starts_with("mean response at least 3.200 s")));
    let (_, answered) = step(USERS, Some((8 + 46) * S), 44 * S);
    assert_eq!((mean_s(answered.response.mean_ns), answered.response.mean_at_least_ns), (Some(2.0), None));
}
