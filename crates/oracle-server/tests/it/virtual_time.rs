//! The scheduler without sockets or clock, against formulae and recursions.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    num::{NonZeroU8, NonZeroU64},
    time::Duration,
};

use iotbench_oracle_server::{
    Action, Discipline, Due, Fault, Program, Scheduler, ServiceTime,
    analytic::{StalledQueue, dm1_mean_s, dm1_quantile_s, md1_mean_s, mm1_mean_s, mm1_quantile_s},
};
use proptest::prelude::*;

const SECOND_NS: u64 = 1_000_000_000;
const MS_NS: u64 = 1_000_000;
const OK: Action = Action::Reply { status: 0 };

fn constant(service: Duration, discipline: Discipline, faults: Vec<Fault>) -> Program {
    Program { service: ServiceTime::Constant(service), discipline, faults }
}

/// Runs all arrivals (sorted) through; tickets and ids are their indices. As a server would, it pops while time passes.
fn simulate(program: &Program, arrivals_ns: &[u64]) -> Vec<Due> {
    let mut scheduler = Scheduler::new(program);
    let mut dues = Vec::new();
    for (ticket, &at_ns) in arrivals_ns.iter().enumerate() {
        dues.extend(std::iter::from_fn(|| scheduler.pop_due(at_ns)));
        scheduler.arrive(at_ns, ticket, ticket as u64);
    }
    dues.extend(std::iter::from_fn(|| scheduler.pop_due(u64::MAX)));
    dues
}

/// Response times in seconds, sorted.
fn responses_s(program: &Program, arrivals_ns: &[u64]) -> Vec<f64> {
    let dues = simulate(program, arrivals_ns);
    assert_eq!(dues.len(), arrivals_ns.len());
    let mut responses_s: Vec<f64> =
        dues.iter().map(|due| (due.due_ns - arrivals_ns[due.ticket]) as f64 / 1e9).collect();
    responses_s.sort_by(f64::total_cmp);
    responses_s
}

fn mean_s(responses_s: &[f64]) -> f64 {
    responses_s.iter().sum::<f64>() / responses_s.len() as f64
}

/// Smallest value with at least a share `q` of all at or below it.
fn quantile_s(responses_s: &[f64], q: f64) -> f64 {
    let rank = (1..=responses_s.len()).find(|&rank| rank as f64 >= q * responses_s.len() as f64).unwrap();
    responses_s[rank - 1]
}

fn every(gap_ns: u64, count: u64) -> Vec<u64> {
    (0..count).map(|index| index * gap_ns).collect()
}

/// Poisson arrivals: gaps are exponential. The seed must not be that of the service times.
fn poisson(mean_gap: Duration, count: u64, seed: u64) -> Vec<u64> {
    let gaps = ServiceTime::Exponential { mean: mean_gap, seed };
    (0..count)
        .scan(0, |at_ns, index| {
            *at_ns += gaps.of_request_ns(index);
            Some(*at_ns)
        })
        .collect()
}

fn assert_within(what: &str, actual: f64, expected: f64, relative: f64) {
    assert!((actual / expected - 1.0).abs() <= relative, "{what}: {actual} is not {expected} ± {relative}");
}

#[test]
fn a_queue_serves_simultaneous_requests_one_after_another() {
    let program = constant(Duration::from_millis(5), Discipline::Queue, vec![]);
    let dues_ns: Vec<u64> = simulate(&program, &[MS_NS; 3]).iter().map(|due| due.due_ns).collect();
    assert_eq!(dues_ns, [6 * MS_NS, 11 * MS_NS, 16 * MS_NS]);
}

#[test]
fn a_parallel_server_serves_simultaneous_requests_at_once() {
    let program = constant(Duration::from_millis(5), Discipline::Parallel, vec![]);
    let dues: Vec<Due> = simulate(&program, &[MS_NS; 3]);
    let due = |ticket| Due { ticket, due_ns: 6 * MS_NS, action: OK };
    assert_eq!(dues, [due(0), due(1), due(2)]);
}

#[test]
fn a_stall_suspends_what_is_in_service_and_holds_what_arrives() {
    let stall = Fault::Stall { at: Duration::from_millis(10), length: Duration::from_millis(100) };
    let arrivals_ns = [4 * MS_NS, 8 * MS_NS, 50 * MS_NS, 110 * MS_NS];
    let dues_ms = |discipline| {
        let program = constant(Duration::from_millis(5), discipline, vec![stall]);
        simulate(&program, &arrivals_ns).iter().map(|due| due.due_ns / MS_NS).collect::<Vec<_>>()
    };
    // 9; then 2 of 5 ms done before the stall, 3 after it; then from the stall's end.
    assert_eq!(dues_ms(Discipline::Parallel), [9, 113, 115, 115]);
    // 9; then 1 of 5 ms done (begun at 9), 4 after the stall; then one after another.
    assert_eq!(dues_ms(Discipline::Queue), [9, 114, 119, 124]);
}

#[test]
fn a_reply_due_as_the_stall_begins_waits() {
    let stall = Fault::Stall { at: Duration::from_millis(5), length: Duration::from_millis(10) };
    let program = constant(Duration::from_millis(5), Discipline::Queue, vec![stall]);
    assert_eq!(simulate(&program, &[0])[0].due_ns, 15 * MS_NS);
}

#[test]
fn a_stall_at_run_time_moves_what_is_pending() {
    let mut scheduler = Scheduler::new(&constant(Duration::from_millis(5), Discipline::Parallel, vec![]));
    scheduler.arrive(0, 0, 0);
    scheduler.stall(2 * MS_NS, None);
    assert_eq!(scheduler.next_due_ns(), None);
    scheduler.arrive(3 * MS_NS, 1, 1);
    assert_eq!(scheduler.pop_due(u64::MAX), None);
    scheduler.resume(20 * MS_NS);
    assert_eq!(scheduler.pop_due(23 * MS_NS), Some(Due { ticket: 0, due_ns: 23 * MS_NS, action: OK }));
    assert_eq!(scheduler.pop_due(25 * MS_NS), Some(Due { ticket: 1, due_ns: 25 * MS_NS, action: OK }));
}

#[test]
fn a_hang_answers_the_first_requests_only() {
    let program = constant(Duration::from_millis(5), Discipline::Queue, vec![Fault::Hang { after: 2 }]);
    let answered: Vec<usize> = simulate(&program, &[0; 10]).iter().map(|due| due.ticket).collect();
    assert_eq!(answered, [0, 1]);
}

#[test]
fn faults_strike_every_nth_and_the_first_listed_wins() {
    let every = |n| NonZeroU64::new(n).unwrap();
    let faults = vec![
        Fault::ResetAfterStoring { every: every(6) },
        Fault::ErrorEvery { every: every(3), status: NonZeroU8::new(7).unwrap() },
    ];
    let program = constant(Duration::from_millis(5), Discipline::Queue, faults);
    let actions: Vec<Action> = simulate(&program, &[0; 7]).iter().map(|due| due.action).collect();
    let error = Action::Reply { status: 7 };
    assert_eq!(actions, [OK, OK, error, OK, OK, Action::Reset, OK]);
}

#[test]
fn a_stalled_queue_has_the_analytic_quantiles_and_mean() {
    const RATE_PER_S: u64 = 1_000;
    for utilisation_percent in [10, 50, 80] {
        let service = Duration::from_nanos(utilisation_percent * SECOND_NS / RATE_PER_S / 100);
        let stall = Fault::Stall { at: Duration::from_secs(10), length: Duration::from_secs(1) };
        let program = constant(service, Discipline::Queue, vec![stall]);
        let responses_s = responses_s(&program, &every(SECOND_NS / RATE_PER_S, 30 * RATE_PER_S));
        let analytic = StalledQueue {
            stall_s: 1.0,
            window_s: 30.0,
            utilisation: utilisation_percent as f64 / 100.0,
            service_s: service.as_secs_f64(),
        };
        let gap_s = 1.0 / RATE_PER_S as f64;
        for q in [0.5, 0.9, 0.95, 0.99, 0.999, 1.0] {
            let (actual, expected) = (quantile_s(&responses_s, q), analytic.quantile_s(q).unwrap());
            assert!((actual - expected).abs() <= gap_s, "p{q}: {actual} is not {expected}");
        }
        assert_within("mean", mean_s(&responses_s), analytic.mean_s().unwrap(), 0.005);
    }
}

/// A second's stall at 400 requests/s over 30 s: in parallel in 1 ms, and one at a time in 0.5 ms.
#[test]
fn a_second_in_half_a_minute_gives_the_figures_of_theory() {
    let stall = Fault::Stall { at: Duration::from_secs(10), length: Duration::from_secs(1) };
    for (service, discipline, [p99_s, p999_s, average_s]) in [
        (Duration::from_millis(1), Discipline::Parallel, [0.701, 0.971, 0.0177]),
        (Duration::from_micros(500), Discipline::Queue, [0.761, 0.977, 0.0213]),
    ] {
        let responses_s = responses_s(&constant(service, discipline, vec![stall]), &every(SECOND_NS / 400, 30 * 400));
        assert_within("p99", quantile_s(&responses_s, 0.99), p99_s, 0.005);
        assert_within("p99.9", quantile_s(&responses_s, 0.999), p999_s, 0.005);
        assert_within("mean", mean_s(&responses_s), average_s, 0.01);
    }
}

#[test]
fn a_command_strikes_first_and_is_healed() {
    let every = |n| NonZeroU64::new(n).unwrap();
    let program = constant(Duration::from_millis(5), Discipline::Parallel, vec![Fault::Hang { after: 3 }]);
    let mut scheduler = Scheduler::new(&program);
    scheduler.strike(Fault::ResetAfterStoring { every: every(2) });
    (0..2).for_each(|ticket| scheduler.arrive(0, ticket, 0));
    scheduler.heal();
    (2..6).for_each(|ticket| scheduler.arrive(0, ticket, 0));
    let dues: Vec<_> = std::iter::from_fn(|| scheduler.pop_due(u64::MAX)).map(|due| (due.ticket, due.action)).collect();
    assert_eq!(dues, [(0, OK), (1, Action::Reset), (2, OK)]);
}

#[test]
fn a_server_that_warms_up_is_served_by_the_time_of_its_work() {
    // The stall stops the warm-up too: after it the server is as warm as before.
    let stall = Fault::Stall { at: Duration::from_secs(10), length: Duration::from_secs(5) };
    let service = ServiceTime::Drift {
        from: Duration::from_millis(100),
        to: Duration::from_millis(200),
        over: Duration::from_secs(100),
    };
    let program = Program { service, discipline: Discipline::Parallel, faults: vec![stall] };
    let dues = simulate(&program, &[0, 5 * SECOND_NS, 15 * SECOND_NS, 200 * SECOND_NS]);
    let services_ms: Vec<_> =
        dues.iter().zip([0, 5, 15, 200]).map(|(due, at_s)| (due.due_ns - at_s * SECOND_NS) / MS_NS).collect();
    assert_eq!(services_ms, [100, 105, 110, 200]);
}

#[test]
fn a_stalled_parallel_server_is_the_queue_without_load() {
    let stall = Fault::Stall { at: Duration::from_secs(10), length: Duration::from_secs(1) };
    let program = constant(Duration::from_micros(100), Discipline::Parallel, vec![stall]);
    let responses_s = responses_s(&program, &every(MS_NS, 30_000));
    let analytic = StalledQueue { stall_s: 1.0, window_s: 30.0, utilisation: 0.0, service_s: 0.0001 };
    for q in [0.5, 0.9, 0.99, 0.999] {
        let (actual, expected) = (quantile_s(&responses_s, q), analytic.quantile_s(q).unwrap());
        assert!((actual - expected).abs() <= 0.001, "p{q}: {actual} is not {expected}");
    }
}

/// Tolerances are about three standard deviations of the sampling noise for these lengths; seeds are fixed.
#[test]
fn exponential_and_constant_service_give_the_queueing_formulae() {
    const COUNT: u64 = 200_000;
    let (capacity_per_s, rate_per_s) = (1_000.0, 500.0);
    let exponential = Program {
        service: ServiceTime::Exponential { mean: Duration::from_millis(1), seed: 1 },
        discipline: Discipline::Queue,
        faults: vec![],
    };
    let fixed = constant(Duration::from_millis(1), Discipline::Queue, vec![]);
    let random = poisson(Duration::from_millis(2), COUNT, 2);
    let regular = every(2 * MS_NS, COUNT);

    let mm1 = responses_s(&exponential, &random);
    assert_within("M/M/1 mean", mean_s(&mm1), mm1_mean_s(rate_per_s, capacity_per_s).unwrap(), 0.03);
    let p99_s = mm1_quantile_s(rate_per_s, capacity_per_s, 0.99).unwrap();
    assert_within("M/M/1 p99", quantile_s(&mm1, 0.99), p99_s, 0.05);

    let md1 = responses_s(&fixed, &random);
    assert_within("M/D/1 mean", mean_s(&md1), md1_mean_s(rate_per_s, capacity_per_s).unwrap(), 0.02);

    let dm1 = responses_s(&exponential, &regular);
    assert_within("D/M/1 mean", mean_s(&dm1), dm1_mean_s(rate_per_s, capacity_per_s).unwrap(), 0.015);
    let p99_s = dm1_quantile_s(rate_per_s, capacity_per_s, 0.99).unwrap();
    assert_within("D/M/1 p99", quantile_s(&dm1, 0.99), p99_s, 0.04);
}

#[test]
fn an_overloaded_queue_keeps_its_capacity() {
    // Twice the load it carries: replies leave at exactly the capacity, however late each one is.
    let program = constant(Duration::from_millis(2), Discipline::Queue, vec![]);
    let dues = simulate(&program, &every(MS_NS, 1_000));
    let gaps_ns: Vec<u64> = dues.windows(2).map(|pair| pair[1].due_ns - pair[0].due_ns).collect();
    assert_eq!(gaps_ns, vec![2 * MS_NS; 999]);
}

/// First come, first served, step by step: the server works through each request, pausing wherever a stall is on.
fn step_by_step(arrivals_ns: &[u64], service_ns: u64, stall: (u64, u64)) -> Vec<u64> {
    let (from_ns, until_ns) = stall;
    let mut idle_from_ns = 0;
    arrivals_ns
        .iter()
        .map(|&arrival_ns| {
            let mut now_ns = arrival_ns.max(idle_from_ns);
            let mut left_ns = service_ns;
            while left_ns > 0 {
                if now_ns < from_ns || until_ns <= now_ns {
                    left_ns -= 1;
                }
                now_ns += 1;
            }
            if from_ns <= now_ns && now_ns < until_ns {
                now_ns = until_ns;
            }
            idle_from_ns = now_ns;
            now_ns
        })
        .collect()
}

proptest! {
    #[test]
    fn a_queue_is_what_it_is_step_by_step(
        mut arrivals_ns in prop::collection::vec(0_u64..300, 1..30),
        service_ns in 1_u64..30,
        from_ns in 0_u64..300,
        length_ns in 0_u64..100,
    ) {
        arrivals_ns.sort_unstable();
        let stall = Fault::Stall { at: Duration::from_nanos(from_ns), length: Duration::from_nanos(length_ns) };
        let program = constant(Duration::from_nanos(service_ns), Discipline::Queue, vec![stall]);
        let dues = simulate(&program, &arrivals_ns);
        let dues_ns: Vec<u64> = dues.iter().map(|due| due.due_ns).collect();
        prop_assert_eq!(dues_ns, step_by_step(&arrivals_ns, service_ns, (from_ns, from_ns + length_ns)));
        prop_assert!(dues.iter().enumerate().all(|(place, due)| due.ticket == place));
    }

    #[test]
    fn every_request_is_answered_once_and_never_in_a_stall(
        mut arrivals_ns in prop::collection::vec(0_u64..10_000, 1..100),
        seed: u64,
        stalls in prop::collection::vec((0_u64..10_000, 0_u64..2_000), 0..5),
        is_queue: bool,
    ) {
        arrivals_ns.sort_unstable();
        let faults = stalls
            .iter()
            .map(|&(at, length)| Fault::Stall { at: Duration::from_nanos(at), length: Duration::from_nanos(length) })
            .collect();
        let program = Program {
            service: ServiceTime::Exponential { mean: Duration::from_nanos(200), seed },
            discipline: if is_queue { Discipline::Queue } else { Discipline::Parallel },
            faults,
        };
        let dues = simulate(&program, &arrivals_ns);
        let mut tickets: Vec<usize> = dues.iter().map(|due| due.ticket).collect();
        tickets.sort_unstable();
        prop_assert!(tickets.into_iter().eq(0..arrivals_ns.len()));
        for due in dues {
            let service_ns = program.service.of_request_ns(due.ticket as u64);
            prop_assert!(due.due_ns >= arrivals_ns[due.ticket] + service_ns);
            prop_assert!(!stalls.iter().any(|&(at, length)| at <= due.due_ns && due.due_ns < at + length));
        }
    }
}
