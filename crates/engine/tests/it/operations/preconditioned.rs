//! Steps of a ramp that each begin once the rate of their own load is steady.

use crate::operations::{
    planned,
    scripted::{Act, SUCCEED, Script, Scripted},
};
use iotbench_engine::{Outcome, Preconditioning, Reason, RunOptions, StepFigures, StopSignal, run};
use std::time::Duration;

/// Rounds are a second, of five users who do not think and write a datapoint at a time.
const RAMP: &str = r#"
name = "preconditioned"
summary = "test"
[dataset]
name = "pmu"
[[groups]]
name = "pmus"
load = { model = "closed", users = 1, think_time = "0s" }
operations = [{ kind = "write", datapoints = 1 }]
[phases]
others_cpu = "100%"
deadline = "20s"
[ramp]
steps = [5]
step = "1s"
state = "preconditioned"
probe = false
"#;

fn run_on(write: fn(u64) -> Act, set: &[&str]) -> Outcome {
    let backend = Scripted::new(Script { write, commit: |_| SUCCEED });
    let folder = tempfile::tempdir().unwrap();
    let planned = planned(backend, folder.path(), RAMP, set);
    let outcome = run(planned, backend, RunOptions::default(), &mut (), &StopSignal::default());
    assert_eq!((outcome.load.check(), outcome.points.check()), (Ok(()), Ok(())), "{:?}", outcome.verdict);
    let wrong = outcome.verdict.reasons.iter();
    let wrong: Vec<_> = wrong.filter(|r| matches!(r, Reason::OfTrial { .. } | Reason::Stored { .. })).collect();
    assert!(wrong.is_empty(), "what the rounds stored is counted too: {wrong:?}");
    outcome
}

fn steps(outcome: &Outcome) -> &[StepFigures] {
    &outcome.capacity.as_ref().unwrap().steps
}

fn unsteady_remarks(outcome: &Outcome) -> usize {
    outcome.plan.remarks.iter().filter(|remark| remark.contains("was not steady when it began")).count()
}

fn answers_after(ms: u64) -> Act {
    Act::Succeed(Duration::from_millis(ms))
}

/// Five users who wait 10 ms are 500 operations a second at most, who wait 50 ms 100. At most 600 lie before the first round.
#[test]
fn a_rate_that_falls_for_a_while_is_waited_for_and_only_then_it_counts() {
    let outcome = run_on(|write| answers_after(if write < 1000 { 10 } else { 50 }), &[]);
    let [step] = steps(&outcome) else { panic!("one step") };
    let Some(Preconditioning { rounds, steady: true }) = step.conditions.preconditioning else { panic!("{step:?}") };
    assert!(rounds >= 6, "the first is of the faster part: {rounds}");
    assert!(step.operations_per_s <= 105.0, "none of the faster part counts: {step:?}");
    assert_eq!(unsteady_remarks(&outcome), 0, "{:?}", outcome.plan.remarks);
    assert!(outcome.points.acked > 1000, "the rounds are run on the same database: {:?}", outcome.points);
}

#[test]
fn a_rate_that_never_is_steady_is_told_and_the_step_is_run_all_the_same() {
    // Hundreds of operations that wait long, and then hundreds that do not: no five seconds are alike.
    let write = |write: u64| answers_after(if (write / 200).is_multiple_of(2) { 10 } else { 60 });
    let outcome = run_on(write, &[]);
    let [step] = steps(&outcome) else { panic!("one step") };
    assert_eq!(step.conditions.preconditioning, Some(Preconditioning { rounds: 25, steady: false }));
    assert!(step.operations_per_s > 0.0, "{step:?}");
    assert_eq!(unsteady_remarks(&outcome), 1, "{:?}", outcome.plan.remarks);
}

#[test]
fn each_trial_has_its_own_rounds_on_an_empty_database_and_ends_them_when_it_is_steady() {
    let outcome = run_on(|_| answers_after(50), &["ramp.steps=[5, 10]"]);
    for step in steps(&outcome) {
        let Some(Preconditioning { rounds, steady: true }) = step.conditions.preconditioning else {
            panic!("{step:?}")
        };
        assert!(rounds >= 5, "{rounds}");
    }
    assert_eq!(steps(&outcome).len(), 2);
    assert_eq!(outcome.stored.emptied.times, 1);
    let fresh = run_on(|_| answers_after(50), &["ramp.state=fresh"]);
    assert_eq!(steps(&fresh)[0].conditions.preconditioning, None);
}

#[test]
fn the_rounds_count_in_what_a_run_may_take_of_time_and_disk() {
    let backend = Scripted::new(Script { write: |_| SUCCEED, commit: |_| SUCCEED });
    let folder = tempfile::tempdir().unwrap();
    let of = |state: &str, step: &str| {
        let set = [&*format!("ramp.state={state}"), &*format!("ramp.step={step}"), "groups.0.load.think_time=1s"];
        let planned = planned(backend, folder.path(), RAMP, &set);
        let room = planned.plan.ramp_room(&*planned.dataset).unwrap().at_once.unwrap();
        (planned.plan.rounds().map(|rounds| rounds.round_ns), planned.plan.longest_load_ns() / 1_000_000_000, room)
    };
    let (fresh, preconditioned) = (of("fresh", "6s"), of("preconditioned", "6s"));
    assert_eq!((fresh.0, preconditioned.0), (None, Some(2_000_000_000)), "a fifth of six seconds, in whole ones");
    assert_eq!(preconditioned.1 - fresh.1, 25 * 2);
    // Of each step, two seconds more.
    assert_eq!(preconditioned.2 * 8, fresh.2 * 58);
}
