//! What an open loop does when the server does not keep up: drop above a limit, wait, drain, or give up, each counted.

use crate::real_time::oracle::{Findings, Grid, OPEN, Request, experiment, level, parallel, serve};
use iotbench_engine::Event;
use iotbench_oracle_server::{Discipline, Entry};
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
        let mut findings = Findings::of(&account.outcome);
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
    let response = account.measured().response();
    assert_eq!(response.count(), 800);
    let p99 = response.bounds(level(990)).unwrap();
    assert!(p99.at_least_ns >= 700_000_000, "they wait from their intended start to the end");
    assert_eq!(p99.at_most_ns, None, "and some for ever");
    assert!(account.took < Duration::from_secs(5), "the end does not wait for the stall: {:?}", account.took);
}

/// Twice what the server carries, for a second: the other half of it is served in the second after, and counts as what it took.
#[test]
fn what_waits_at_the_end_is_followed_to_its_answer() {
    let server = serve(Duration::from_millis(2), Discipline::Queue, vec![]);
    let set = ["rate=1000", "connections=1", "duration=1s", "drain=30s"];
    let account = Request::new(OPEN, &set).run(server.address());
    let (load, measured) = (account.outcome.load, account.outcome.measured.as_ref().unwrap());
    assert_eq!((load.offered, load.ok, load.pending), (1_000, 1_000, 0));
    assert!(measured.counts.ok <= 500, "throughput is that of the second: {}", measured.counts.ok);
    let response = account.measured().response();
    assert!(response.is_known());
    let served_ns: u64 = server.ledger().entries.iter().filter_map(Entry::service_ns).sum();
    assert!(served_ns >= 2_000_000_000, "a thousand times 2 ms: {served_ns}");
    assert!(response.max_ns().unwrap() >= 1_000_000_000, "{response:?}");
}

/// Twice what the server carries: the backlog is a schedule, not memory.
#[test]
fn an_overload_takes_no_memory() {
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

pub fn rss() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}
