//! The same measurement with the backend of a real database, over HTTP, against a server that stands in for it and keeps a
//! ledger: what the tool says of InfluxDB it would say of this.

use crate::real_time::oracle::{Findings, Grid, OPEN, Request, experiment, quantile_ns, value_ns};
use iotbench_backends::BACKENDS;
use iotbench_core::{Backend, Cause, Endpoint, Registry, Target};
use iotbench_oracle_server::{
    Discipline, Fault, Ledger, Program, Protocol, Server, ServiceTime, Settings,
    http::{Answer, Service},
};
use std::{
    net::SocketAddr,
    num::{NonZeroU8, NonZeroU64},
    time::{Duration, Instant},
};

const RATE: u64 = 200;

/// A server that answers as InfluxDB 1.8 does where nothing is stored yet.
fn influxdb(service: Duration, discipline: Discipline) -> Server {
    let refused = Answer::new("400 Bad Request", "", "{\"error\":\"unable to parse\"}");
    let protocol = Protocol::Http(Service::like_influxdb().with_faults(vec![refused]));
    let program = Program { service: ServiceTime::Constant(service), discipline, faults: vec![] };
    Server::start(Settings { protocol, ledger_capacity: 1 << 16, ..Settings::new(program, Instant::now()) }).unwrap()
}

fn backend() -> &'static dyn Backend {
    Registry::new(BACKENDS).find("influxdb").unwrap()
}

fn target(address: SocketAddr) -> Target {
    let url = format!("http://{address}/").parse().unwrap();
    Target { endpoints: vec![Endpoint::new(url)], ..Target::default() }
}

/// The ledger as if each request had named its operation: a device's times rise with its operations.
fn numbered(server: &Server) -> Ledger {
    let mut ledger = server.ledger();
    ledger.entries.sort_unstable_by_key(|e| e.id);
    for (number, entry) in (0..).zip(&mut ledger.entries) {
        entry.id = number;
    }
    assert_eq!((ledger.overflow, ledger.strays), (0, 0));
    ledger
}

#[test]
fn a_stall_is_in_the_response_times_of_a_real_backend_as_the_ledger_has_it() {
    experiment(|| {
        let server = influxdb(Duration::from_millis(2), Discipline::Parallel);
        let stall = |epoch| server.stall_at(epoch + Duration::from_secs(1), Duration::from_millis(300));
        let set = ["rate=200", "connections=80", "operations=800", "duration=60s"];
        let account = Request::new(OPEN, &set).at_start(stall).run_on(backend(), target(server.address()));
        let ledger = numbered(&server);
        let grid = Grid { ledger, epoch_ns: account.epoch_ns(&server), rate: RATE };
        account.assert_contains(&server, &grid.in_order());
        assert_eq!((account.outcome.load.ok, account.outcome.points.acked), (800, grid.ledger.confirmed_points()));
        let measured = account.measured();
        let latency = measured.by_operation().ok();
        let (mut responses_ns, mut services_ns) = (grid.responses_ns(), grid.ledger.service_ns().collect::<Vec<_>>());
        let mut findings = Findings::of(&account.outcome);
        for per_mille in [500, 990] {
            for (what, histogram, truths_ns) in
                [("response", latency.response(), &mut responses_ns), ("service", latency.service(), &mut services_ns)]
            {
                let truth_ns = quantile_ns(truths_ns, u64::from(per_mille));
                // What waits for the stall's end is answered at once, and read one after the other by HTTP's parser.
                let slack_ns = account.disturbance_ns().max(if per_mille > 500 { 60 * 50_000 } else { 0 });
                findings.expect_near(
                    &format!("{what} {per_mille} ‰"),
                    value_ns(histogram, per_mille),
                    truth_ns,
                    slack_ns,
                );
            }
        }
        findings
    });
}

#[test]
fn half_of_all_refused_leaves_the_figures_of_the_others_alone() {
    let server = influxdb(Duration::from_millis(2), Discipline::Parallel);
    let (every, status) = (NonZeroU64::new(2).unwrap(), NonZeroU8::MIN);
    server.strike(Fault::ErrorEvery { every, status });
    let set = ["rate=200", "connections=20", "operations=600", "duration=60s"];
    let account = Request::new(OPEN, &set).run_on(backend(), target(server.address()));
    let (load, points, ledger) = (account.outcome.load, account.outcome.points, numbered(&server));
    assert_eq!((load.offered, load.ok, load.fail, load.unknown), (600, 300, 300, 0));
    assert_eq!((points.acked, points.failed), (ledger.confirmed_points(), 300));
    let measured = account.measured();
    let operations = measured.by_operation();
    assert_eq!((operations.ok().count(), operations.fail().unwrap().count()), (300, 300));
    let (_, tally) = account
        .outcome
        .measured
        .as_ref()
        .unwrap()
        .recording
        .errors()
        .iter()
        .find(|(name, _)| *name == Cause::Data.name())
        .unwrap();
    assert_eq!(tally.count, 300);
    let stored =
        ledger.entries.iter().filter(|e| matches!(e.fate, iotbench_oracle_server::Fate::Answered { status: 0, .. }));
    let served_ns: u128 = stored.filter_map(iotbench_oracle_server::Entry::service_ns).map(u128::from).sum();
    assert!(operations.ok().service().sum_ns() >= served_ns, "the successes are those that the server stored");
}
