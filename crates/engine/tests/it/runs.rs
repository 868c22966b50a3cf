//! Whole runs against the backends that need no server.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotbench_backends::BACKENDS;
use iotbench_core::{Node, Registry, Target};
use iotbench_engine::{
    Event, Observer, Outcome, Overrides, Phase, PlanRequest, Planned, Profile, RunOptions, Status, StopSignal,
    parse_profile, plan, run,
};
use std::{path::Path, process::Command};

const PMU: &str = r#"
name = "pmu"
summary = "test"
[dataset]
name = "pmu"
[[groups]]
name = "pmus"
load = { model = "closed", users = 20, think_time = "200ms" }
operations = [{ kind = "write", datapoints = "since_last" }]
[phases]
duration = "3s"
"#;

const MACHINE: &str = r#"
name = "machine"
summary = "test"
[dataset]
name = "machine"
[[groups]]
name = "machine"
load = { model = "paced" }
operations = [{ kind = "write" }]
[phases]
duration = "3s"
"#;

fn profile(text: &str, overrides: &Overrides) -> Profile {
    parse_profile("test.toml", text).unwrap().with(overrides).unwrap()
}

fn planned(profile: Profile, backend: &str, folder: &Path) -> Planned {
    let backend = Registry::new(BACKENDS).find(backend).unwrap();
    let target = Target { folder: Some(folder.to_owned()), ..Target::default() };
    let request = PlanRequest {
        profile,
        profile_file: "test.toml".into(),
        base: folder,
        run_id: "test".into(),
        target,
        now_ns: 0,
    };
    plan(request, backend).unwrap()
}

fn run_on(backend: &str, profile: Profile) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let planned = planned(profile, backend, folder.path());
    let backend = Registry::new(BACKENDS).find(backend).unwrap();
    run(planned, backend, RunOptions::default(), &mut (), &StopSignal::default())
}

fn assert_balanced(outcome: &Outcome) {
    assert_eq!(outcome.load.check(), Ok(()));
    assert_eq!(outcome.points.check(), Ok(()));
}

#[test]
fn a_closed_loop_on_sqlite_stores_what_it_acknowledges() {
    let outcome = run_on("sqlite", profile(PMU, &Overrides::default()));
    assert_eq!(outcome.verdict.status, Status::Valid, "{:?}", outcome.verdict);
    assert_balanced(&outcome);
    assert!(outcome.points.acked > 0);
    assert_eq!(outcome.stored.counts.unwrap().points, outcome.points.acked);
    assert_eq!(outcome.acked().len(), outcome.points.acked);
}

#[test]
fn paced_sensors_offer_every_datapoint_of_their_time() {
    let outcome = run_on("sqlite", profile(MACHINE, &Overrides::default()));
    assert_balanced(&outcome);
    assert_eq!(outcome.points.generated, 3000);
    assert_eq!(outcome.stored.counts.unwrap().points, outcome.points.acked);
}

#[test]
fn an_open_loop_offers_its_schedule() {
    let set = vec!["model=open".into(), "arrival=poisson".into(), "rate=5000".into()];
    let outcome = run_on("blackhole", profile(MACHINE, &Overrides { set, ..Overrides::default() }));
    assert_balanced(&outcome);
    let offered = f64::from(u32::try_from(outcome.load.offered).unwrap());
    assert!((offered - 15_000.0).abs() < 4.0 * 15_000_f64.sqrt(), "{offered} operations were offered");
}

/// What is offered in each second of a run is what the shape says.
#[test]
fn an_open_loop_follows_its_shape() {
    let set = ["model=open", "rate=1000", "shape=burst", "groups.0.load.period=3s", "peak=2", "burst=1/3"];
    let set = set.map(|assignment| assignment.replace("1/3", "0.333333333333")).to_vec();
    let outcome = run_on("blackhole", profile(MACHINE, &Overrides { set, ..Overrides::default() }));
    assert_balanced(&outcome);
    assert_eq!(outcome.verdict.status, Status::Valid, "{:?}", outcome.verdict);
    let offered: Vec<u64> = outcome.measured.unwrap().seconds.iter().map(|second| second.offered).collect();
    let is_near = |(found, meant): (&u64, u64)| found.abs_diff(meant) <= 1;
    assert!(offered.iter().zip([2_000, 500, 500]).all(is_near), "{offered:?}");
    assert_eq!(offered.len(), 3);
}

#[test]
fn a_closed_loop_follows_its_shape() {
    let set = ["model=closed", "users=8", "think_time=100ms", "shape=rise", "rise=1h"].map(Into::into).to_vec();
    let outcome = run_on("blackhole", profile(MACHINE, &Overrides { set, ..Overrides::default() }));
    assert_balanced(&outcome);
    assert_eq!(outcome.load.offered, 0, "half a user of eight is there after four minutes");
}

/// Two connections, and sessions beyond what is bearable are dropped: also in the warm-up.
#[test]
fn a_partly_open_load_on_sqlite_counts_everything_once() {
    let set = [
        "model=partly_open",
        "rate=200",
        "arrival=poisson",
        "operations_per_session=4",
        "think_time=50ms",
        "warmup=1s",
    ];
    let of = |more: &[&str]| {
        let set = set.iter().chain(more).map(ToString::to_string).collect();
        run_on("sqlite", profile(MACHINE, &Overrides { set, ..Overrides::default() }))
    };
    let outcome = of(&[]);
    assert_balanced(&outcome);
    assert_eq!((outcome.load.dropped, outcome.load.fail), (0, 0));
    assert!(outcome.load.offered > 0);
    assert_eq!(outcome.stored.counts.unwrap().points, outcome.points.acked);
    let few = of(&["most_sessions=8"]);
    assert_balanced(&few);
    assert!(few.load.dropped > 100 && few.load.ok > 100, "{:?}", few.load);
    assert_eq!(few.stored.counts.unwrap().points, few.points.acked);
    let counted = of(&["operations=321", "duration=60s", "warmup=0s"]);
    assert_balanced(&counted);
    assert_eq!((counted.load.offered, counted.load.ok), (321, 321));
}

#[test]
fn a_bounded_number_of_operations_is_all_done() {
    let set = vec!["model=open".into(), "rate=5000".into(), "operations=777".into()];
    let outcome = run_on("blackhole", profile(MACHINE, &Overrides { set, ..Overrides::default() }));
    assert_balanced(&outcome);
    assert_eq!((outcome.load.offered, outcome.load.ok), (777, 777));
}

/// As of a server of two roles on three nodes, each process the root of its own tree.
#[test]
fn resources_have_one_entry_for_each_role_and_node() {
    let mut processes = Vec::new();
    let mut target = Target::default();
    for role in ["store", "front"] {
        for node in 0..3 {
            let process = Command::new("sleep").arg("600").spawn().unwrap();
            target.nodes.push(Node { role: role.into(), node, pid: Some(process.id()), address: None });
            processes.push(process);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let backend = Registry::new(BACKENDS).find("blackhole").unwrap();
    let request = PlanRequest {
        profile: profile(MACHINE, &Overrides::default()),
        profile_file: "test.toml".into(),
        base: folder.path(),
        run_id: "test".into(),
        target: target.clone(),
        now_ns: 0,
    };
    let planned = plan(request, backend).unwrap();
    let outcome = run(planned, backend, RunOptions::default(), &mut (), &StopSignal::default());
    for process in &mut processes {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let roles: Vec<_> = outcome.machine.resources.iter().map(|r| (r.role.to_string(), r.node)).collect();
    let own = |role: &str| (role.to_string(), 0);
    let of_server = target.nodes.into_iter().map(|node| (node.role, node.node));
    let expected = [own("client+database")].into_iter().chain(of_server).chain([own("machine")]);
    assert_eq!(roles, expected.collect::<Vec<_>>());
    let processes: Vec<_> = outcome.machine.resources.iter().map(|r| r.processes_max).collect();
    assert_eq!(processes[1..7], [Some(1); 6]);
    assert!(processes[7] > Some(6), "all of the machine: {processes:?}");
}

/// What is settled at once is still counted: the result is as whole as it can be.
#[test]
fn a_signal_while_what_is_stored_is_counted_aborts_a_whole_result() {
    struct StopAt(Phase, StopSignal);
    impl Observer for StopAt {
        fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
            if matches!(event, Event::Phase { phase, .. } if *phase == self.0) {
                self.1.request(15);
            }
            Ok(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let set = vec!["duration=1s".into()];
    let planned = planned(profile(MACHINE, &Overrides { set, ..Overrides::default() }), "sqlite", folder.path());
    let sqlite = Registry::new(BACKENDS).find("sqlite").unwrap();
    let stop = StopSignal::default();
    let mut observer = StopAt(Phase::Verify, stop.clone());
    let outcome = run(planned, sqlite, RunOptions::default(), &mut observer, &stop);
    assert_balanced(&outcome);
    assert_eq!((outcome.verdict.status, outcome.verdict.exit_code()), (Status::Aborted, 143), "{:?}", outcome.verdict);
    assert_eq!(outcome.stored.counts.unwrap().points, outcome.points.acked);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "what was created is dropped");
}

#[test]
fn the_runs_deadline_ends_a_load_and_says_so() {
    let set = vec!["duration=1h".into(), "run_deadline=2s".into()];
    let outcome = run_on("blackhole", profile(PMU, &Overrides { set, ..Overrides::default() }));
    assert_balanced(&outcome);
    assert_eq!((outcome.verdict.status, outcome.verdict.exit_code()), (Status::Invalid, 11), "{:?}", outcome.verdict);
    assert!(outcome.load.ok > 0);
}
