//! The search for the greatest load finds the one that the server's capacity implies.

use crate::real_time::oracle::{CLOSED, Findings, OPEN, Request, experiment, serve};
use iotbench_engine::{Bounds, Method, Purpose, RampState, RunOptions, StopSignal, run};
use iotbench_oracle_server::{Discipline, backend::OracleBackend};
use std::time::Duration;

const THINK_S: f64 = 0.3;
const LIMIT_S: f64 = 0.3;
const CAPACITY_PER_S: f64 = 100.0;

/// A saturated closed loop has response = users / capacity − think time, so the limit is met up to
/// capacity × (limit + think time) users (Little's law).
#[test]
fn the_sustained_users_are_what_capacity_limit_and_think_time_allow() {
    experiment(|| {
        let server = serve(Duration::from_millis(10), Discipline::Queue, vec![]);
        let ramp = "[ramp]\nfirst = 16\ngrowth = 2\nmost = 200\nstep = \"2s\"\nresolution = \"5%\"\ntrials = 12\n\
                    [stop]\nmean_response = \"300ms\"\n";
        let profile = format!("{CLOSED}\n{ramp}");
        let account = Request::new(&profile, &["think_time=300ms"]).run(server.address());
        let capacity = account.outcome.capacity.as_ref().unwrap();
        let mut findings = Findings::of(&account.outcome);
        for figures in &capacity.steps {
            let told = figures.littles_ratio.or((!figures.judgement.passed).then_some(1.0)).unwrap();
            findings.expect((told - 1.0).abs() <= 0.01, || format!("Little's ratio {told}: {figures:?}"));
            let mean_ns = figures.response.mean_ns.or(figures.response.mean_at_least_ns).unwrap();
            let cycle_s = mean_ns / 1e9 + THINK_S;
            let little = figures.operations_per_s * cycle_s / f64::from(figures.step.load);
            let is_steady = !figures.judgement.passed || (little - 1.0).abs() <= 0.06;
            findings.expect(is_steady, || format!("X(R + Z)/N = {little} of a load that was sustained: {figures:?}"));
            findings.expect(figures.operations_per_s <= 1.03 * CAPACITY_PER_S, || {
                format!("more than the server's capacity: {figures:?}")
            });
        }
        let expected = CAPACITY_PER_S * (LIMIT_S + THINK_S);
        let found = capacity.bounds.estimate.map_or(0.0, |estimate| estimate.load);
        findings.expect((found / expected - 1.0).abs() <= 0.05, || {
            format!("{:?}, expected about {expected}: {:#?}", capacity.bounds, capacity.steps)
        });
        findings.expect(capacity.bounds.estimate.is_some_and(|estimate| estimate.method == Method::Crossing), || {
            format!("not by how far each trial was from its limit: {:?}", capacity.bounds)
        });
        assert_eq!(account.outcome.load.started, server.ledger().entries.len() as u64);
        findings
    });
}

/// Users without think time at one server that takes 10 ms: each waits for all others, so R is 10 ms a user, here 1, 2 and 3
/// times the length of a step. What counts of an operation is when it begins, and it is followed to its answer.
#[test]
fn the_mean_of_a_step_is_the_whole_response_time_however_short_the_step_is() {
    experiment(|| {
        let server = serve(Duration::from_millis(10), Discipline::Queue, vec![]);
        let profile = format!("{CLOSED}\n[ramp]\nsteps = [100, 200, 300]\nstep = \"1s\"\n");
        let set = ["think_time=0s", "operations.0.datapoints=1", "connections=300"];
        let account = Request::new(&profile, &set).run(server.address());
        let mut findings = Findings::of(&account.outcome);
        for figures in &account.outcome.capacity.as_ref().unwrap().steps {
            let truth_s = f64::from(figures.step.load) / CAPACITY_PER_S;
            let mean_s = figures.response.mean_ns.unwrap_or(0.0) / 1e9;
            let told = figures.littles_ratio.unwrap();
            findings.expect((told - 1.0).abs() <= 0.01, || format!("Little's ratio {told}: {figures:?}"));
            findings
                .expect((mean_s / truth_s - 1.0).abs() <= 0.02, || format!("{mean_s} s for {truth_s} s: {figures:?}"));
            assert_eq!(figures.load.pending, 0, "each was followed to its answer: {figures:?}");
        }
        findings
    });
}

/// Before each step but the first all users pause and join anew, spread over a think time of 1 s. A saturated server of 100 a
/// second has R = N / 100 − Z = 0.7 s as soon as all have begun; its queue still grows before that.
#[test]
fn a_step_after_a_pause_counts_from_when_all_users_have_begun() {
    experiment(|| {
        let server = serve(Duration::from_millis(10), Discipline::Queue, vec![]);
        let profile = format!("{CLOSED}\n[ramp]\nsteps = [170, 170, 170]\nstep = \"1s\"\n");
        let set = ["think_time=1s", "operations.0.datapoints=1", "connections=170"];
        let mut planned = Request::new(&profile, &set).plan(server.address());
        planned.plan.state = RampState::Fresh;
        let outcome = run(planned, &OracleBackend, RunOptions::default(), &mut (), &StopSignal::default());
        let mut findings = Findings::of(&outcome);
        let steps = &outcome.capacity.as_ref().unwrap().steps;
        for figures in &steps[1..] {
            let mean_s = figures.response.mean_ns.unwrap_or(0.0) / 1e9;
            findings.expect((mean_s / 0.7 - 1.0).abs() <= 0.05, || format!("{mean_s} s for 0.7 s: {figures:?}"));
            let told = figures.littles_ratio.unwrap_or(0.0);
            findings.expect((told - 1.0).abs() <= 0.01, || format!("Little's ratio {told}: {figures:?}"));
        }
        assert_eq!(steps.len(), 3);
        findings
    });
}

/// An open loop beyond the server's capacity builds a queue: its step fails, and the next one does not begin in that queue.
#[test]
fn listed_rates_are_offered_exactly_and_those_beyond_capacity_fail() {
    experiment(|| {
        let server = serve(Duration::from_millis(10), Discipline::Queue, vec![]);
        let profile =
            format!("{OPEN}\n[ramp]\nsteps = [40, 150, 60]\nstep = \"2s\"\n[stop]\nmean_response = \"200ms\"\n");
        let account = Request::new(&profile, &["rate=auto"]).run(server.address());
        let capacity = account.outcome.capacity.as_ref().unwrap();
        let mut findings = Findings::of(&account.outcome);
        let loads: Vec<_> = capacity.steps.iter().map(|s| (s.step.load, s.load.offered, s.judgement.passed)).collect();
        let as_planned = matches!(loads[..], [(40, 79..=81, true), (150, 299..=301, false), (60, 119..=121, true)]);
        findings.expect(as_planned, || format!("load, operations offered in 2 s, passed: {loads:?}"));
        let bounds = Bounds::of_loads(Some(60), Some(150));
        findings.expect(capacity.bounds == bounds, || format!("{:?}", capacity.bounds));
        findings.expect(capacity.steps[1].load.pending > 0, || "the queue at the end of a step is pending".into());
        assert_eq!(account.outcome.load.started, server.ledger().entries.len() as u64);
        findings
    });
}

/// A queue of 100 a second: a step of 2 s has a mean response of 100 ms at 110 a second (half the backlog at its end).
#[test]
fn the_sustained_rate_is_the_servers_capacity() {
    experiment(|| {
        let server = serve(Duration::from_millis(10), Discipline::Queue, vec![]);
        let profile =
            format!("{OPEN}\n[ramp]\nfirst = 30\nstep = \"2s\"\ntrials = 12\n[stop]\nmean_response = \"100ms\"\n");
        let account = Request::new(&profile, &["rate=auto"]).run(server.address());
        let capacity = account.outcome.capacity.as_ref().unwrap();
        let mut findings = Findings::of(&account.outcome);
        let found = capacity.bounds.estimate.map_or(0.0, |estimate| estimate.load);
        findings.expect((95.0..=112.0).contains(&found), || format!("{:?}: {:#?}", capacity.bounds, capacity.steps));
        findings
    });
}

/// 120 a second is more than the 100 that the server carries: its queue is 60 operations after 3 s, and gone after the rest.
#[test]
fn after_an_overload_the_load_is_carried_again() {
    experiment(|| {
        let server = serve(Duration::from_millis(10), Discipline::Queue, vec![]);
        let ramp = "[ramp]\nsteps = [80, 130]\nstep = \"2s\"\nsoak = \"3s\"\noverload = \"3s\"\nrest = \"1s\"\n\
                    [stop]\nmean_response = \"150ms\"\n";
        let account = Request::new(&format!("{OPEN}\n{ramp}"), &["rate=auto"]).run(server.address());
        let capacity = account.outcome.capacity.as_ref().unwrap();
        let mut findings = Findings::of(&account.outcome);
        let steps: Vec<_> =
            capacity.steps.iter().map(|s| (s.step.load, s.step.purpose, s.load.offered, s.judgement.passed)).collect();
        let as_meant = matches!(
            steps[..],
            [
                (80, Purpose::Listed, 159..=161, true),
                (130, Purpose::Listed, 259..=261, false),
                (80, Purpose::Soak, 239..=241, true),
                (120, Purpose::Overload, 359..=361, false),
                (80, Purpose::After, 159..=161, true)
            ]
        );
        findings.expect(as_meant, || format!("{steps:?}"));
        let bounds = Bounds::of_loads(Some(80), Some(130));
        findings.expect(capacity.bounds == bounds, || format!("{:?}", capacity.bounds));
        let remark = "after an overload it carried its greatest load again";
        findings.expect(account.outcome.plan.remarks.iter().any(|r| r == remark), || {
            format!("{:?}", account.outcome.plan.remarks)
        });
        findings
    });
}
