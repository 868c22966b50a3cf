//! What arrives at the server is what the schedule says, and the pacing error that is printed is the true one.

use crate::real_time::oracle::{Findings, Grid, OPEN, Request, experiment, parallel, quantile_ns, serve, value_ns};
use iotbench_engine::Reason;
use iotbench_oracle_server::{Discipline, backend::identity};
use std::time::Duration;

#[test]
fn a_constant_rate_arrives_at_that_rate() {
    experiment(|| {
        let server = parallel(1);
        let account = Request::new(OPEN, &["rate=1000"]).run(server.address());
        let mut arrivals_ns: Vec<u64> = server.ledger().arrivals().collect();
        arrivals_ns.sort_unstable();
        let gaps = arrivals_ns.len() as f64 - 1.0;
        let rate = gaps / ((arrivals_ns[arrivals_ns.len() - 1] - arrivals_ns[0]) as f64 / 1e9);
        let mut findings = Findings::of(&account.outcome);
        findings.expect((rate / 1000.0 - 1.0).abs() <= 0.001, || format!("{rate} arrivals a second instead of 1000"));
        findings
    });
}

/// What the schedule intends is exponentially spaced, and each operation of it arrives once, after it was sent: how late a busy machine
/// sends decides nothing, and is told ([`the_printed_pacing_error_is_the_ledgers`]).
#[test]
fn poisson_arrivals_are_exponentially_spaced_at_the_server() {
    let server = parallel(1);
    let account = Request::new(OPEN, &["rate=300", "arrival=poisson", "duration=5s"]).run(server.address());
    let ledger = server.ledger();
    let mut entries: Vec<_> = ledger.entries.iter().collect();
    entries.sort_unstable_by_key(|entry| identity(entry.id).1);
    account.assert_contains(&server, &entries);
    let mut intended_ns: Vec<u64> = account.seen.operations.iter().map(|o| o.timing.intended_ns()).collect();
    intended_ns.sort_unstable();
    let mut gaps_s: Vec<f64> = intended_ns.windows(2).map(|w| (w[1] - w[0]) as f64 / 1e9).collect();
    assert!(gaps_s.len() > 1300, "{}", gaps_s.len());
    let distance = distance_from_exponential(&mut gaps_s, 300.0);
    // The Kolmogorov-Smirnov distance that a true exponential sample exceeds in 1 % of all cases.
    let most = 1.628 / (gaps_s.len() as f64).sqrt();
    assert!(distance <= most, "KS distance {distance}, at most {most}");
}

/// The greatest distance between the sample's distribution and the exponential one.
fn distance_from_exponential(sample_s: &mut [f64], rate: f64) -> f64 {
    sample_s.sort_unstable_by(f64::total_cmp);
    let n = sample_s.len() as f64;
    let distance = |(i, &x): (usize, &f64)| {
        let expected = 1.0 - (-rate * x).exp();
        (expected - i as f64 / n).abs().max(((i + 1) as f64 / n - expected).abs())
    };
    sample_s.iter().enumerate().map(distance).fold(0.0, f64::max)
}

/// The ledger stamps an arrival after the way from the client, which the trace tells for every operation. So a quantile of
/// the ledger's lateness is at least that of the pacing error, and at most the sum of the two at half the distance from 1.
#[test]
fn the_printed_pacing_error_is_the_ledgers() {
    let server = parallel(1);
    let account = Request::new(OPEN, &["rate=500"]).run(server.address());
    let grid = Grid::of(&server, &account, 500);
    let mut late_ns = grid.lateness_ns();
    let mut ways_ns = account.ways_ns(&grid);
    assert_eq!(ways_ns.len(), late_ns.len());
    let error = &account.outcome.client.pacing_error;
    for (per_mille, half_way) in [(500, 750), (990, 995)] {
        let ledger_ns = quantile_ns(&mut late_ns, u64::from(per_mille));
        // A thousandth is what the histogram rounds up.
        let least_ns = value_ns(error, per_mille) * 999 / 1000;
        let most_ns = value_ns(error, half_way) + quantile_ns(&mut ways_ns, u64::from(half_way));
        assert!(
            (least_ns..=most_ns).contains(&ledger_ns),
            "pacing error at {per_mille} ‰: {ledger_ns} ns in the ledger, printed {least_ns} to {most_ns} ns"
        );
    }
}

/// One connection carries a third of what is due, so that nearly every operation waits for it: that is the database's doing, and
/// what the client adds after each answer is its own.
#[test]
fn an_overload_tells_the_pacing_error_of_every_operation() {
    let server = serve(Duration::from_millis(1), Discipline::Queue, vec![]);
    let set = ["rate=3000", "connections=1", "duration=2s", "drain=100ms"];
    let account = Request::new(OPEN, &set).run(server.address());
    let outcome = &account.outcome;
    let (error, load) = (&outcome.client.pacing_error, outcome.load);
    assert_eq!(error.count(), load.started, "{load:?}");
    assert!(load.pending > load.started, "most never started: {load:?}");
    let measured = outcome.measured.as_ref().unwrap();
    let pooled = measured.recording.pooled();
    let (lag, service) = (pooled.by_operation().ok().lag(), pooled.by_operation().ok().service());
    assert!(value_ns(lag, 500) > 20 * value_ns(error, 500), "the lag is the wait for the connection");
    // Between the first send and the last answer the connection is either serving, or free for a client that does not send.
    let busy_ns = u128::from(measured.to_ns - measured.from_ns);
    assert!(error.sum_ns() + service.sum_ns() > busy_ns * 9 / 10, "{error:?}");
    assert!(outcome.verdict.reasons.iter().any(|r| matches!(r, Reason::Overloaded(_))), "{:?}", outcome.verdict);
}

#[test]
fn every_operation_of_the_schedule_arrives_once() {
    let server = parallel(1);
    let account = Request::new(OPEN, &["duration=1s", "warmup=1s"]).run(server.address());
    let mut numbers: Vec<u64> = server.ledger().entries.iter().map(|e| identity(e.id).1).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..800).collect::<Vec<_>>());
    assert_eq!((account.outcome.load.offered, account.outcome.load.ok), (400, 400), "the warm-up is not in the result");
    assert_eq!(account.outcome.points.acked, 800, "datapoints are those of the whole run");
    let measured = account.outcome.measured.unwrap();
    assert_eq!((measured.from_ns, measured.to_ns), (1_000_000_000, 2_000_000_000));
    assert!(measured.counts.ok.abs_diff(400) <= 10, "{} operations in a second of 400", measured.counts.ok);
}

#[test]
fn a_number_of_operations_is_that_of_the_measured_part() {
    let server = parallel(1);
    let account = Request::new(OPEN, &["operations=300", "warmup=1s"]).run(server.address());
    assert_eq!((account.outcome.load.offered, account.outcome.load.ok), (300, 300));
    assert_eq!(server.ledger().entries.len(), 400 + 300, "the warm-up is not bounded by it");
}
