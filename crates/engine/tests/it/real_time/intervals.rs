//! Devices that report within the window of each interval, against a server of known speed.

use crate::real_time::oracle::{Findings, Request, experiment, serve};
use iotbench_engine::{Bounds, Quantity};
use iotbench_oracle_server::Discipline;
use std::time::Duration;

const METERS: &str = r#"
name = "meters"
summary = "test"
[dataset]
name = "smart_meter"
[[groups]]
name = "aggregator"
load = { model = "interval", interval = "2s", window = "1s" }
operations = [{ kind = "write", datapoints = 1, devices = 10 }]
[phases]
others_cpu = "100%"
deadline = "20s"
[stop]
mean_response = "1s"
[ramp]
steps = [505, 1500, 800]
step = "3s"
"#;

const S: u64 = 1_000_000_000;

/// The server takes 100 requests a second, so 1,000 devices in a window of a second. Each step is two intervals.
#[test]
fn more_devices_than_the_server_takes_in_a_window_are_too_many() {
    experiment(|| {
        let server = serve(Duration::from_millis(10), Discipline::Queue, vec![]);
        let account = Request::new(METERS, &[]).run(server.address());
        let capacity = account.outcome.capacity.as_ref().unwrap();
        assert_eq!(capacity.quantity, Quantity::Devices);
        let mut findings = Findings::of(&account.outcome);
        let loads: Vec<_> = capacity.steps.iter().map(|s| (s.step.load, s.load.offered, s.judgement.passed)).collect();
        assert_eq!(loads.iter().map(|l| (l.0, l.1)).collect::<Vec<_>>(), [(505, 102), (1500, 300), (800, 160)]);
        findings.expect(loads.iter().map(|l| l.2).eq([true, false, true]), || format!("{:#?}", capacity.steps));
        let why = capacity.steps[1].judgement.failure.clone().unwrap_or_default();
        findings.expect(why.contains("were not stored when their window ended"), || why.clone());
        let bounds = Bounds::of_loads(Some(800), Some(1500));
        findings.expect(capacity.bounds == bounds, || format!("{:?}", capacity.bounds));
        for step in &capacity.steps {
            let of_step = account.seen.operations.iter().map(|o| o.timing.intended_ns());
            let of_step: Vec<_> =
                of_step.filter_map(|at| at.checked_sub(step.from_ns)).filter(|&at| at < 4 * S).collect();
            assert!(of_step.iter().all(|at| at % (2 * S) < S), "a request outside of the window: {of_step:?}");
            assert!(of_step.contains(&0) && of_step.contains(&(2 * S)), "an interval begins with its first request");
        }
        assert_eq!(account.outcome.load.started, server.ledger().entries.len() as u64);
        findings
    });
}

/// A request is over ten devices, and the last of an interval over those that are left.
#[test]
fn every_device_reports_once_in_an_interval() {
    experiment(|| {
        let server = serve(Duration::ZERO, Discipline::Parallel, vec![]);
        let account = Request::new(METERS, &["ramp.steps=[25]", "step=6s"]).run(server.address());
        let step = &account.outcome.capacity.as_ref().unwrap().steps[0];
        let points: Vec<_> = account
            .seen
            .operations
            .iter()
            .filter(|o| (step.from_ns..step.from_ns + step.length_ns).contains(&o.timing.intended_ns()))
            .map(|o| (o.user, o.points))
            .collect();
        let mut findings = Findings::of(&account.outcome);
        let mut sorted = points.clone();
        sorted.sort_unstable();
        let expected = [(0, 10), (0, 10), (0, 10), (10, 10), (10, 10), (10, 10), (20, 5), (20, 5), (20, 5)];
        assert_eq!(sorted, expected, "first device and devices of each request of three intervals");
        findings.expect(step.judgement.passed, || format!("{step:?}"));
        findings
    });
}
