//! What an open loop does when the server does not keep up: drop above a limit, wait, drain, or give up, each counted.

use crate::oracle::{Findings, Grid, OPEN, Request, alone, experiment, level, parallel, serve};
use iotbench_engine::{Event, Observer, RunOptions, StopSignal, run};
use iotbench_oracle_server::{Discipline, Entry, Program, Server, ServiceTime, Settings};
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn above_its_limit_an_open_loop_drops_what_the_ledger_implies() {
    experiment(|| {
        let (rate, limit) = (1000, 50);
        let server = parallel(1);
        let set = ["rate=1000", "operations=3000", "duration=60s", "overflow=drop", "in_flight=50", "connections=50"];
        let stall = |epoch: Instant| server.stall_at(epoch + SECOND, SECOND);
        let account = Request::new(OPEN, &set).at_start(stall).run(server.address());
        let load = account.outcome.load;
        assert_eq!((load.offered, load.pending, load.unknown, load.fail), (3000, 0, 0, 0));
        assert_eq!(load.dropped, load.censored, "what was dropped is in the distribution as at least so long");

        let grid = Grid::of(&server, &account, rate);
        assert_eq!(load.dropped, load.offered - grid.ledger.entries.len() as u64);
        let implied = implied_drops(&grid, load.offered, limit);
        let mut findings = Findings::of(&account);
        findings.expect(load.dropped.abs_diff(implied) <= 1, || format!("{} dropped, {implied} implied", load.dropped));
        findings
    });
}

/// How many operations find `limit` others outstanding when they are due, by the ledger's times.
fn implied_drops(grid: &Grid, offered: u64, limit: usize) -> u64 {
    let mut sent: Vec<&Entry> = grid.ledger.entries.iter().collect();
    sent.sort_unstable_by_key(|e| e.id);
    let finds_full = |id: &u64| {
        let due_ns = grid.intended_ns(*id);
        let earlier = sent.iter().take_while(|e| e.id < *id);
        earlier.filter(|e| e.reply_ns().is_none_or(|reply_ns| reply_ns > due_ns)).count() >= limit
    };
    (0..offered).filter(finds_full).count() as u64
}

#[test]
fn a_stall_over_the_end_is_drained_and_in_the_distribution() {
    let _alone = alone();
    let server = parallel(1);
    let stall = |epoch: Instant| server.stall_at(epoch + Duration::from_millis(1500), SECOND);
    let account = Request::new(OPEN, &["operations=800", "duration=60s"]).at_start(stall).run(server.address());
    let load = account.outcome.load;
    assert_eq!((load.offered, load.ok, load.censored), (800, 800, 0));
    // 0.5 s of 2 s began in the stall, the earliest of them waits a second, the latest half of it.
    let measured = account.measured();
    let p99_ns = measured.by_operation().ok().response().value_at(level(990)).unwrap();
    assert!(p99_ns >= 940_000_000, "p99 {p99_ns} ns");
}

#[test]
fn what_a_short_drain_gives_up_is_censored_exactly() {
    let _alone = alone();
    let server = parallel(1);
    let stall = |epoch: Instant| server.stall_at(epoch + Duration::from_millis(1500), Duration::from_secs(5));
    let set = ["duration=2s", "drain=300ms", "connections=100"];
    let account = Request::new(OPEN, &set).at_start(stall).run(server.address());
    let load = account.outcome.load;
    let unanswered = server.ledger().missing().count() as u64;
    assert_eq!(load.unknown, unanswered, "sent, and no answer came");
    assert_eq!(load.pending, 800 - server.ledger().entries.len() as u64, "never sent: all connections were taken");
    assert!(load.pending > 0 && load.unknown > 0);
    assert_eq!(load.censored, load.unknown + load.pending);
    assert_eq!(load.ok, 800 - load.censored);
    let with_censored = account.measured().response_with_censored();
    assert_eq!(with_censored.count(), 800);
    assert!(
        with_censored.value_at(level(990)).unwrap() >= 700_000_000,
        "they wait from their intended start to the end"
    );
    assert!(account.took < Duration::from_secs(5), "the end does not wait for the stall: {:?}", account.took);
}

/// Twice what the server carries: the backlog is a schedule, not memory.
#[test]
fn an_overload_takes_no_memory() {
    let _alone = alone();
    let server = serve(Duration::from_millis(1), Discipline::Queue, vec![]);
    let mut rss_kib = Vec::new();
    let set = ["rate=50k", "duration=4s", "drain=100ms", "connections=20"];
    let watch = Request::new(OPEN, &set).at_event(|event| {
        if matches!(event, Event::Second(_)) {
            rss_kib.push(rss());
        }
    });
    let account = watch.run(server.address());
    let load = account.outcome.load;
    assert_eq!(load.offered, 200_000);
    assert!(load.pending > 190_000, "{} pending", load.pending);
    let grown_kib = rss_kib[rss_kib.len() - 1].saturating_sub(rss_kib[1]);
    assert!(grown_kib < 16 << 10, "{grown_kib} KiB more after a backlog of {}: {rss_kib:?}", load.pending);
}

/// Twice what the server carries for an hour, or for `IOTBENCH_LONG_SECONDS`: at most 256 MiB, and at most 1 MiB more an
/// hour. Run by `scripts/long`.
#[test]
#[ignore = "takes an hour"]
fn an_hour_of_overload_takes_no_more_memory_than_its_first_minute() {
    let _alone = alone();
    let seconds: u64 = std::env::var("IOTBENCH_LONG_SECONDS").map_or(3600, |text| text.parse().unwrap());
    let service = ServiceTime::Constant(Duration::from_millis(1));
    let program = Program { service, discipline: Discipline::Queue, faults: vec![] };
    let server = Server::start(Settings { ledger_capacity: 1, ..Settings::new(program, Instant::now()) }).unwrap();
    let set = ["rate=2k", &format!("duration={seconds}s"), "drain=100ms", "connections=20"];
    let planned = Request::new(OPEN, &set).plan(server.address());
    let mut memory = Memory { rss_kib: Vec::with_capacity(usize::try_from(seconds).unwrap() + 60) };
    let (backend, options) = (&iotbench_oracle_server::backend::OracleBackend, RunOptions::default());
    let outcome = run(planned, backend, options, &mut memory, &StopSignal::default());
    assert_eq!(outcome.load.check(), Ok(()));
    assert_eq!(outcome.load.offered, 2000 * seconds);
    assert!(outcome.load.pending > 900 * seconds, "{} pending: no overload", outcome.load.pending);
    // The first minute warms caches up.
    let steady = &memory.rss_kib[memory.rss_kib.len().min(60)..];
    let peak_kib = memory.rss_kib.iter().copied().max().unwrap();
    let slope_kib = slope_an_hour(steady);
    println!(
        "{seconds} s, {} pending at the end: peak {peak_kib} KiB, {slope_kib:.0} KiB more an hour",
        outcome.load.pending
    );
    assert!(peak_kib <= 256 << 10, "peak {peak_kib} KiB");
    assert!(slope_kib <= 1024.0, "{slope_kib} KiB more an hour: {steady:?}");
}

/// Notes the memory of each second.
struct Memory {
    rss_kib: Vec<u64>,
}

impl Observer for Memory {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        if matches!(event, Event::Second(_)) {
            self.rss_kib.push(rss());
        }
        Ok(())
    }
}

/// The slope of the least-squares line through values a second apart, an hour.
fn slope_an_hour(values: &[u64]) -> f64 {
    let n = values.len() as f64;
    let (mean_t, mean_v) = ((n - 1.0) / 2.0, values.iter().sum::<u64>() as f64 / n);
    let each = values.iter().enumerate().map(|(t, &v)| (t as f64 - mean_t, v as f64 - mean_v));
    let (above, below) = each.fold((0.0, 0.0), |(a, b), (t, v)| (a + t * v, b + t * t));
    3600.0 * above / below
}

fn rss() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}
