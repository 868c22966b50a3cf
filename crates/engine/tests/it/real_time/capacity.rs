//! The highest sustainable rate of a server whose capacity is known, as an interval.

use crate::real_time::oracle::{Findings, OPEN, Request, experiment, serve};
use iotbench_engine::{Bounds, Limit, Purpose};
use iotbench_oracle_server::{Discipline, Server};
use std::time::Duration;

const CAPACITY_PER_S: f64 = 100.0;

/// Trials of 5 s: one for the operations to fill their way, four for the backlog. The limit on the mean is met by 112 % of the
/// capacity: what fails between is its backlog.
pub const SEARCH: &str = "[ramp]\nfirst = 75\ngrowth = 1.5\nstep = \"5s\"\nresolution = \"5%\"\ntrials = 12\n\
                          [stop]\nmean_response = \"300ms\"\n";

/// A server that serves one after the other has this capacity.
pub fn queue() -> Server {
    serve(Duration::from_millis(10), Discipline::Queue, vec![])
}

/// Whether an interval is around the truth.
pub fn is_found(bounds: Bounds) -> bool {
    let is_near = bounds.estimate.is_some_and(|estimate| (estimate.load / CAPACITY_PER_S - 1.0).abs() <= 0.04);
    let is_around = bounds.lower.is_some_and(|lower| lower <= 101) && bounds.upper.is_some_and(|upper| upper >= 99);
    is_near && is_around && !bounds.client_limited
}

#[test]
fn the_capacity_of_a_queue_is_an_interval_around_the_truth() {
    experiment(|| {
        let server = queue();
        let account = Request::new(&format!("{OPEN}\n{SEARCH}"), &["rate=auto"]).run(server.address());
        let capacity = account.outcome.capacity.as_ref().unwrap();
        let mut findings = Findings::of(&account.outcome);
        let bounds = capacity.bounds;
        findings.expect(is_found(bounds), || format!("{bounds:?}: {:#?}", capacity.steps));
        let above: Vec<_> = capacity.steps.iter().filter(|step| (103..110).contains(&step.step.load)).collect();
        findings.expect(above.iter().filter(|step| step.judgement.limit == Some(Limit::Backlog)).count() >= 2, || {
            format!("its queue is what loads a little above the limit fail by: {above:#?}")
        });
        let sentinels: Vec<_> = capacity.steps.iter().filter(|step| step.step.purpose == Purpose::Sentinel).collect();
        findings.expect(sentinels.len() == 4 && sentinels.iter().all(|step| step.judgement.passed), || {
            format!("{sentinels:#?}")
        });
        let backlogs = capacity.steps.iter().filter_map(|step| Some((step.step.load, step.backlog?.achieved_ratio)));
        let wrong: Vec<_> = backlogs
            .filter(|&(load, achieved)| (achieved - (CAPACITY_PER_S / f64::from(load)).min(1.0)).abs() > 0.01)
            .collect();
        findings.expect(wrong.is_empty(), || format!("load and achieved part: {wrong:?}"));
        findings
    });
}
