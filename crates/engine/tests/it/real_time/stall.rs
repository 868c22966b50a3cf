//! The stall of a second in half a minute, by its figures.

use crate::real_time::oracle::{Account, Findings, Grid, OPEN, Request, experiment, serve, value_ns};
use iotbench_oracle_server::{Discipline, analytic::StalledQueue};
use std::time::Duration;

const RATE: u64 = 400;
const WINDOW_S: u64 = 30;

/// 400 requests a second over 30 s on 256 connections, served in parallel in 1 ms. Run by `scripts/long` on an idle machine.
#[test]
#[ignore = "takes half a minute of an idle machine"]
fn a_second_in_half_a_minute_in_parallel_has_the_figures_of_theory() {
    let figures = Figures { p99_s: 0.701, p999_s: 0.971, mean_s: 0.0177 };
    experiment(|| stalled(Duration::from_millis(1), Discipline::Parallel, &figures));
}

/// The same served one after the other in 0.5 ms: a fifth of what the server could, and so it catches up in a quarter more.
#[test]
#[ignore = "takes half a minute of an idle machine"]
fn a_second_in_half_a_minute_one_at_a_time_has_the_figures_of_theory() {
    let figures = Figures { p99_s: 0.761, p999_s: 0.977, mean_s: 0.0213 };
    experiment(|| stalled(Duration::from_micros(500), Discipline::Queue, &figures));
}

struct Figures {
    p99_s: f64,
    p999_s: f64,
    mean_s: f64,
}

#[expect(clippy::print_stdout, reason = "a test of the long set tells what it saw")]
fn stalled(service: Duration, discipline: Discipline, figures: &Figures) -> Findings {
    let server = serve(service, discipline, vec![]);
    let stall = |epoch| server.stall_at(epoch + Duration::from_secs(WINDOW_S / 3), Duration::from_secs(1));
    let operations = format!("operations={}", RATE * WINDOW_S);
    let set = ["connections=256", &operations, "duration=60s"];
    let account = Request::new(OPEN, &set).at_start(stall).run(server.address());
    let grid = Grid::of(&server, &account, RATE);
    account.assert_contains(&server, &grid.in_order());
    let mut findings = Findings::of(&account.outcome);
    findings.expect(account.outcome.load.ok == RATE * WINDOW_S, || format!("{:?}", account.outcome.load));
    let (p99_s, p999_s, mean_s) = responses_s(&account);
    println!("response p99 {p99_s:.4} s, p99.9 {p999_s:.4} s, mean {:.2} ms", mean_s * 1e3);
    for (what, actual_s, expected_s, relative) in [
        ("p99", p99_s, figures.p99_s, 0.02),
        ("p99.9", p999_s, figures.p999_s, 0.02),
        ("mean", mean_s, figures.mean_s, 0.05),
    ] {
        findings.expect((actual_s / expected_s - 1.0).abs() <= relative, || {
            format!("response {what}: {actual_s} s is not {expected_s} s ± {relative}")
        });
    }
    // Service is the server's time and no more: but for the few that lay in the stall, or waited for a connection after it.
    let measured = account.measured();
    let served_ns = crate::real_time::oracle::quantile_ns(&mut grid.ledger.service_ns().collect::<Vec<_>>(), 500);
    let service_ns = value_ns(measured.by_operation().ok().service(), 500);
    findings.expect_near("service p50", service_ns, served_ns, account.disturbance_ns());
    findings
}

fn responses_s(account: &Account) -> (f64, f64, f64) {
    let measured = account.measured();
    let response = measured.by_operation().ok().response();
    let quantile_s = |per_mille| value_ns(response, per_mille) as f64 / 1e9;
    (quantile_s(990), quantile_s(999), response.mean_ns().unwrap() / 1e9)
}

/// What the two tests expect is the formula's, to the digits that are given.
#[test]
fn the_figures_are_those_of_the_formula() {
    for (utilisation, service_s, p99_s, p999_s, mean_s) in
        [(0.0, 0.001, 0.701, 0.971, 0.0177), (0.2, 0.0005, 0.761, 0.977, 0.0213)]
    {
        let formula = StalledQueue { stall_s: 1.0, window_s: WINDOW_S as f64, utilisation, service_s };
        for (actual, expected) in
            [(formula.quantile_s(0.99), p99_s), (formula.quantile_s(0.999), p999_s), (formula.mean_s(), mean_s)]
        {
            let half_a_digit = if expected < 0.1 { 5e-5 } else { 5.1e-4 };
            assert!((actual.unwrap() - expected).abs() <= half_a_digit, "{actual:?} is not {expected}");
        }
    }
}
