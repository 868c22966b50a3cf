//! Response time runs from the intended start, service time from the send, and their difference is the lag.

use crate::real_time::oracle::{
    CLOSED, Findings, Grid, OPEN, Request, experiment, parallel, quantile_ns, serve, value_ns,
};
use iotbench_oracle_server::{Discipline, analytic::StalledQueue};
use std::time::Duration;

#[test]
fn a_stall_is_in_the_response_times_as_the_ledger_and_the_formula_have_it() {
    experiment(|| stalled(200, 240, 12));
}

/// What finds no connection waits at the client, and the response time is the same.
#[test]
fn a_stall_is_in_the_response_times_of_what_waits_for_a_connection() {
    experiment(|| stalled(200, 20, 6));
}

/// As long as the figures of the stall's formula are usually given for, and at more rates. Run by `scripts/long` on an idle
/// machine: a busy one wakes the client too late for the higher rates.
#[test]
#[ignore = "takes two minutes of an idle machine"]
fn a_stall_in_half_a_minute_is_in_the_response_times_at_every_rate() {
    for rate in [200, 500, 1000] {
        experiment(|| stalled(rate, 250, 30));
    }
}

/// A second's stall with next to nothing in service when it begins: the formula knows of no service that is interrupted.
fn stalled(rate: u64, connections: u32, window_s: u64) -> Findings {
    let service_ms = 1;
    let lanes = format!("connections={connections}");
    let operations = format!("operations={}", rate * window_s);
    let server = parallel(service_ms);
    let stall = |epoch| server.stall_at(epoch + Duration::from_secs(window_s / 4), Duration::from_secs(1));
    let set = [&format!("rate={rate}"), lanes.as_str(), &operations, "duration=60s"];
    let account = Request::new(OPEN, &set).at_start(stall).run(server.address());
    assert_eq!(account.outcome.load.ok, rate * window_s, "the schedule never slides");

    let grid = Grid::of(&server, &account, rate);
    account.assert_contains(&server, &grid.in_order());
    let measured = account.measured();
    let latency = measured.by_operation().ok();
    // What waits for a connection is served by as many at once as there are connections.
    let round_trip_s = value_ns(latency.service(), 500) as f64 / 1e9;
    let of_connections = rate as f64 * round_trip_s / f64::from(connections);
    // What the stall left is worked off one after the other by processors that server and client share.
    let one_s = grid.worked_off_s(Duration::from_secs(window_s / 4), Duration::from_secs(1));
    let utilisation = of_connections.max(rate as f64 * one_s);
    // A request that meets no stall takes its round trip, which on a busy machine is more than the programmed service.
    let formula = StalledQueue { stall_s: 1.0, window_s: window_s as f64, utilisation, service_s: round_trip_s };
    let (mut responses_ns, mut services_ns) = (grid.responses_ns(), grid.ledger.service_ns().collect::<Vec<_>>());
    let mut findings = Findings::of(&account.outcome);
    for per_mille in [500, 900, 990, 999] {
        let actual_ns = value_ns(latency.response(), per_mille);
        let slack_ns = if per_mille > 990 { findings.hiccup_ns } else { 0 };
        // A busy machine wakes the client for an answer as late as it wakes it for a send.
        let disturbed_ns = slack_ns.max(account.disturbance_ns());
        let truth_ns = quantile_ns(&mut responses_ns, u64::from(per_mille));
        findings.expect_near(&format!("response {per_mille} ‰, ledger"), actual_ns, truth_ns, disturbed_ns);
        // At p90 the formula says what it says at the median, and the machine adds what only the ledger knows.
        if per_mille != 900 {
            let formula_ns = ns(formula.quantile_s(f64::from(per_mille) / 1e3).unwrap());
            findings.expect_near(&format!("response {per_mille} ‰, formula"), actual_ns, formula_ns, disturbed_ns);
        }
        let served_ns = quantile_ns(&mut services_ns, u64::from(per_mille));
        // The answers that come together when the stall ends are taken one after the other, at most as many as there are
        // connections: the last has waited for all others, which the server does not see.
        let burst_ns = if per_mille >= 990 { u64::from(connections) * ns(one_s) } else { 0 };
        findings.expect_near(
            &format!("service {per_mille} ‰"),
            value_ns(latency.service(), per_mille),
            served_ns,
            disturbed_ns.max(burst_ns),
        );
    }
    let mean_ns = ns(latency.response().mean_ns().unwrap() / 1e9);
    let truth_ns = responses_ns.iter().sum::<u64>() / responses_ns.len() as u64;
    findings.expect_near("mean response, ledger", mean_ns, truth_ns, 0);
    findings.expect_near("mean response, formula", mean_ns, ns(formula.mean_s().unwrap()), account.disturbance_ns());
    findings
}

#[test]
fn overloaded_twice_over_service_stays_and_response_grows_in_proportion_to_time() {
    experiment(|| {
        // One request at a time of 5 ms: 200/s are carried of 400/s. Of what one connection a time is sent, none waits
        // at the server, so the whole wait is lag.
        let (rate, service_ms) = (400, 5);
        let server = serve(Duration::from_millis(service_ms), Discipline::Queue, vec![]);
        let set = ["connections=1", "duration=4s"];
        let account = Request::new(OPEN, &set).run(server.address());
        let operations = &account.seen.operations;
        assert_eq!(operations.len() as u64, account.outcome.load.started);
        for timing in operations.iter().map(|o| o.timing) {
            assert_eq!(timing.intended_ns() % (1_000_000_000 / rate), 0, "the schedule never slides");
        }
        let mut findings = Findings::of(&account.outcome);
        let grid = Grid::of(&server, &account, rate);
        let mut served_ns: Vec<u64> = grid.ledger.service_ns().collect();
        let service_p50_ns = value_ns(account.measured().by_operation().ok().service(), 500);
        findings.expect_near("service p50", service_p50_ns, quantile_ns(&mut served_ns, 500), 0);
        // Operation k is answered after k + 1 services, whatever held one of them up: its response is from its intended start
        // to what the server wrote.
        for (number, (operation, truth_ns)) in operations.iter().zip(grid.responses_ns()).enumerate() {
            let response_ns = operation.timing.response_ns();
            // From the server's reply until the client's thread was woken for it: no pacing error tells that.
            findings.hiccup_ns = findings.hiccup_ns.max(response_ns.saturating_sub(truth_ns));
            findings.expect_near(&format!("response of operation {number}"), response_ns, truth_ns, 2_000_000);
        }
        let last_ns = operations.last().unwrap().timing.response_ns();
        let least_ns = operations.len() as u64 * (service_ms * 1_000_000 - 1_000_000_000 / rate);
        assert!(
            last_ns >= least_ns,
            "{last_ns} ns, and each operation adds what its service takes longer than its pause"
        );
        findings
    });
}

#[test]
fn a_closed_loop_of_one_user_waits_the_service_time() {
    experiment(|| {
        // Long beside what an idle machine takes to wake who was answered.
        let server = parallel(25);
        let account = Request::new(CLOSED, &["duration=2s"]).run(server.address());
        assert_eq!(account.outcome.plan.groups[0].load.name(), "closed");
        assert!(
            account.outcome.plan.remarks.iter().any(|r| r.starts_with("closed loop")),
            "results say that it is closed"
        );
        let served_ns: Vec<u64> = server.ledger().service_ns().collect();
        let mut findings = Findings::of(&account.outcome);
        let measured = account.measured();
        let latency = measured.by_operation().ok();
        let truth_ns = served_ns.iter().sum::<u64>() / served_ns.len() as u64;
        // Of so few operations a single late answer moves the mean.
        let latest_ns = latency.service().max_ns().unwrap() - value_ns(latency.service(), 500);
        findings.hiccup_ns = findings.hiccup_ns.max(latest_ns);
        findings.expect_near("mean service", ns(latency.service().mean_ns().unwrap() / 1e9), truth_ns, 0);
        findings
    });
}

fn ns(seconds: f64) -> u64 {
    u64::try_from(Duration::from_secs_f64(seconds).as_nanos()).unwrap()
}
