//! Ramps that list their loads, are interrupted, or are followed by more.

use super::*;
use crate::search::TrialVerdict;

fn ramp(loads: &[u32], is_sustained: impl Fn(u32) -> bool) -> (Bounds, Vec<u32>) {
    let course = Course::Steps(loads.to_vec());
    let (quantity, afterwards) = (Quantity::Users, Afterwards::default());
    let mut policy = RampPolicy::new(&RampPlan { quantity, step_ns: 1_000_000_000, course, afterwards });
    let mut run = Vec::new();
    loop {
        let step = policy.step();
        assert_eq!(step.purpose, Purpose::Listed);
        run.push(step.load);
        let verdict = if is_sustained(step.load) { TrialVerdict::Sustained } else { TrialVerdict::TooMuch };
        if let Decision::Done(bounds) = policy.decide(TrialReport { verdict, margin: None }) {
            return (bounds, run);
        }
    }
}

#[test]
fn listed_steps_are_all_run_and_bound_the_limit() {
    let (found, run) = ramp(&[10, 20, 40, 30], |load| load <= 25);
    assert_eq!(run, [10, 20, 40, 30]);
    assert_eq!(found, Bounds::of_loads(Some(20), Some(30)));
}

#[test]
fn a_load_that_passes_above_one_that_failed_is_no_lower_bound() {
    assert_eq!(ramp(&[10, 20, 40], |load| load != 20).0, Bounds::of_loads(Some(10), Some(20)));
    assert_eq!(ramp(&[10], |_| false).0, Bounds::of_loads(None, Some(10)));
}

/// A search of a limit that is not sharp: what a load comes to also depends on how many trials there were.
fn report(load: u32, trial: usize) -> TrialReport {
    let is_sustained = load < 90 || (load < 110 && !(load as usize + trial).is_multiple_of(3));
    let verdict = if is_sustained { TrialVerdict::Sustained } else { TrialVerdict::TooMuch };
    TrialReport { verdict, margin: (!trial.is_multiple_of(7)).then(|| (f64::from(load) / 100.0).ln()) }
}

/// All steps with their reports, and the answer.
fn whole(plan: &RampPlan, made: &[(Step, TrialReport)]) -> (Vec<(Step, TrialReport)>, Bounds) {
    let (mut policy, mut answer) = RampPolicy::after(plan, made.iter().copied()).unwrap();
    let mut made = made.to_vec();
    while answer.is_none() {
        let step = policy.step();
        made.push((step, report(step.load, made.len())));
        answer = made.last().and_then(|&(_, report)| policy.decide(report).answer());
    }
    (made, answer.unwrap())
}

#[test]
fn a_ramp_that_was_interrupted_after_any_step_goes_on_as_if_it_had_not_been() {
    let search = SearchPlan { first: 7, growth: 2.0, resolution: 0.02, most: 1000, trials: 24, closed: false, seed: 3 };
    let courses = [Course::Search(search), Course::Steps(vec![10, 90, 120, 95])];
    for course in courses {
        let plan = RampPlan { quantity: Quantity::Users, step_ns: 1, course, afterwards: Afterwards::default() };
        let (steps, bounds) = whole(&plan, &[]);
        assert!(steps.len() > 3);
        for interrupted in 0..=steps.len() {
            assert_eq!(whole(&plan, &steps[..interrupted]), (steps.clone(), bounds), "after {interrupted}");
        }
        let mut others = steps.clone();
        others[2].0.load += 1;
        assert_eq!(RampPolicy::after(&plan, others).unwrap_err().place, 3);
        let one_more = steps.iter().chain(&steps[..1]).copied();
        assert_eq!(RampPolicy::after(&plan, one_more).unwrap_err().place, steps.len() + 1);
    }
}

#[test]
fn afterwards_come_the_writes_alone_soak_overload_and_the_load_itself() {
    let afterwards = Afterwards { writes_alone: true, soak_ns: 60, overload_ns: 30, rest_ns: 5 };
    let steps = |sustained, most| {
        let steps = afterwards.steps(sustained, most, 10).into_iter();
        steps.map(|(step, ns)| (step.load, step.purpose, ns)).collect::<Vec<_>>()
    };
    let (alone, soak) = (Purpose::WritesAlone, Purpose::Soak);
    let (overload, after) = (Purpose::Overload, Purpose::After);
    assert_eq!(steps(31, 100), [(31, alone, 10), (31, soak, 60), (47, overload, 30), (31, after, 10)]);
    assert_eq!(steps(90, 100)[2], (100, overload, 30), "more than may be tried is not");
    assert!(Afterwards::default().steps(31, 100, 10).is_empty());
}

#[test]
fn a_ramp_tells_its_first_and_its_greatest_load_and_how_many_there_are_at_most() {
    let plan = |course| RampPlan { quantity: Quantity::Users, step_ns: 1, course, afterwards: Afterwards::default() };
    let listed = plan(Course::Steps(vec![10, 90, 20]));
    assert_eq!((listed.first(), listed.most(), listed.most_steps()), (10, 90, 3));
    let search = SearchPlan { first: 70, growth: 2.0, resolution: 0.02, most: 50, trials: 24, closed: false, seed: 3 };
    let searched = plan(Course::Search(search));
    assert_eq!((searched.first(), searched.most(), searched.most_steps()), (50, 50, 100 + 24));
    let mut policy = RampPolicy::new(&listed);
    let none = TrialReport { verdict: TrialVerdict::Sustained, margin: None };
    assert_eq!((policy.left(), policy.bounds()), ((3, 3), Bounds::of_loads(None, None)));
    policy.decide(none);
    assert_eq!((policy.left(), policy.bounds()), ((2, 2), Bounds::of_loads(Some(10), None)));
    assert_eq!(RampPolicy::new(&searched).left().1, RampPolicy::new(&searched).left().0 + 24 - 12);
}

#[test]
fn what_is_run_afterwards_is_no_trial() {
    use Purpose::{Above, After, Below, Bisect, Grow, Listed, Overload, Retest, Sentinel, Soak, WritesAlone};
    assert!([Grow, Bisect, Retest, Below, Above, Sentinel, Listed].into_iter().all(Purpose::is_trial));
    assert!(![WritesAlone, Soak, Overload, After].into_iter().any(Purpose::is_trial));
    let names = [Quantity::Users, Quantity::OperationsPerSecond, Quantity::Devices].map(Quantity::name);
    assert_eq!(names, ["virtual users", "operations/s offered", "devices"]);
}
