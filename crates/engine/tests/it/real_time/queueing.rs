//! The load models meet a queue of exponential service as queueing theory says: an open loop waits in it, one user never
//! does.

use crate::real_time::oracle::{Account, CLOSED, Findings, Grid, OPEN, Request, experiment};
use iotbench_oracle_server::{Discipline, Entry, Program, Server, ServiceTime, Settings, analytic::mm1_mean_s};
use std::time::{Duration, Instant};

const SERVICE: ServiceTime = ServiceTime::Exponential { mean: Duration::from_millis(10), seed: 3 };
const CAPACITY_PER_S: f64 = 100.0;

fn queue() -> Server {
    let program = Program { service: SERVICE, discipline: Discipline::Queue, faults: vec![] };
    Server::start(Settings { ledger_capacity: 1 << 16, ..Settings::new(program, Instant::now()) }).unwrap()
}

/// Response times of a single server that takes its arrivals in their order (Lindley's recursion).
fn lindley_mean_s(arrivals_and_services_s: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut free_s, mut sum_s, mut n) = (0.0_f64, 0.0, 0.0);
    for (arrival_s, service_s) in arrivals_and_services_s {
        free_s = free_s.max(arrival_s) + service_s;
        sum_s += free_s - arrival_s;
        n += 1.0;
    }
    sum_s / n
}

fn mean_s(account: &Account) -> f64 {
    account.measured().by_operation().ok().response().mean_ns().unwrap() / 1e9
}

/// At 80 % of the capacity. What a run of this length has by chance, the recursion over its own schedule and services has
/// too; what theory says of an endless one, it has within three standard deviations of such a run's mean.
#[test]
fn poisson_arrivals_wait_as_long_as_an_mm1_queue_makes_them() {
    experiment(|| {
        let server = queue();
        let set = ["rate=80", "arrival=poisson", "duration=15s", "connections=200"];
        let account = Request::new(OPEN, &set).run(server.address());
        let mut findings = Findings::of(&account.outcome);
        let intended_ns = intended_ns(&account);
        let ledger = server.ledger();
        let mut entries: Vec<&Entry> = ledger.entries.iter().collect();
        entries.sort_unstable_by_key(|e| e.id);
        assert_eq!((entries.len(), account.outcome.load.ok), (intended_ns.len(), intended_ns.len() as u64));
        let services_s = entries.iter().map(|e| SERVICE.of_request_ns(e.id) as f64 / 1e9);
        let arrivals_s = intended_ns.iter().map(|&ns| ns as f64 / 1e9);
        let (mean_s, expected_s) = (mean_s(&account), lindley_mean_s(arrivals_s.zip(services_s)));
        let slack_s = account.disturbance_ns() as f64 / 1e9 + 1e-3;
        findings.expect((mean_s / expected_s - 1.0).abs() <= 0.02 + slack_s / expected_s, || {
            format!("mean response {mean_s} s, {expected_s} s by the recursion")
        });
        let theory_s = mm1_mean_s(80.0, CAPACITY_PER_S).unwrap();
        let deviation_s = mm1_deviation_of_mean_s(0.8, CAPACITY_PER_S, intended_ns.len() as f64);
        findings.expect((mean_s - theory_s).abs() <= 3.0 * deviation_s, || {
            format!("mean response {mean_s} s, {theory_s} s in theory, standard deviation {deviation_s} s")
        });
        findings
    });
}

/// The intended starts, in order, since the run's start.
fn intended_ns(account: &Account) -> Vec<u64> {
    let mut intended_ns: Vec<u64> = account.seen.operations.iter().map(|o| o.timing.intended_ns()).collect();
    intended_ns.sort_unstable();
    intended_ns
}

/// The standard deviation of the mean response of n customers of an M/M/1 queue in its steady state, from the asymptotic
/// variance ρ(2 + 5ρ − 4ρ² + ρ³) / (1 − ρ)⁴ of the waiting time in services (Daley 1968).
fn mm1_deviation_of_mean_s(utilisation: f64, capacity_per_s: f64, n: f64) -> f64 {
    let rho = utilisation;
    let variance = rho * (2.0 + 5.0 * rho - 4.0 * rho.powi(2) + rho.powi(3)) / (1.0 - rho).powi(4);
    (variance / n).sqrt() / capacity_per_s
}

#[test]
fn a_single_user_never_waits_for_another() {
    experiment(|| {
        let server = queue();
        let account =
            Request::new(CLOSED, &["users=1", "think_time=0s", "datapoints=1", "duration=6s"]).run(server.address());
        let mut findings = Findings::of(&account.outcome);
        let ledger = Grid::of(&server, &account, 1).ledger;
        let services_s: Vec<f64> = ledger.entries.iter().map(|e| SERVICE.of_request_ns(e.id) as f64 / 1e9).collect();
        let n = services_s.len() as f64;
        let (mean_s, expected_s) = (mean_s(&account), services_s.iter().sum::<f64>() / n);
        let slack_s = account.disturbance_ns() as f64 / 1e9 + 1e-3;
        findings.expect((mean_s - expected_s).abs() <= 0.02 * expected_s + slack_s, || {
            format!("mean response {mean_s} s, mean service {expected_s} s")
        });
        findings.expect((mean_s * CAPACITY_PER_S - 1.0).abs() <= 3.0 / n.sqrt() + slack_s * CAPACITY_PER_S, || {
            format!("mean response {mean_s} s over {n} operations, 1/µ is 0.01 s")
        });
        findings
    });
}
