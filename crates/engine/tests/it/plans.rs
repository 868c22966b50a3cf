//! Loads by intervals, sweeps, and what a run has other than its study, as planned.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotbench_engine::{
    Load, Overrides, PlanError, PlanRequest, Planned, Profile, Quantity, RampRoom, RampState, parse_profile, plan,
};
use iotbench_oracle_server::backend::{OracleBackend, target};
use std::path::Path;

const OPEN: &str = r#"name = "open"
summary = "test"
[dataset]
name = "machine"
[[groups]]
name = "sensors"
load = { model = "open", rate = "1k" }
operations = [{ kind = "write" }]
"#;

fn planned(profile: Profile) -> Result<Planned, PlanError> {
    let request = PlanRequest {
        profile,
        profile_file: "test.toml".into(),
        base: Path::new("."),
        run_id: "test".into(),
        target: target(([127, 0, 0, 1], 1).into()),
        now_ns: 0,
    };
    plan(request, &OracleBackend)
}

fn set(text: &str, assignments: &[&str]) -> Profile {
    let set = assignments.iter().map(ToString::to_string).collect();
    parse_profile("test.toml", text).unwrap().with(&Overrides { set, ..Overrides::default() }).unwrap()
}

/// The key that planning blames after these assignments.
fn blamed(text: &str, assignments: &[&str]) -> String {
    match planned(set(text, assignments)) {
        Err(PlanError::Profile(error)) => error.key.unwrap(),
        other => panic!("{assignments:?}: {other:?}"),
    }
}

#[test]
fn without_transactions_the_requests_are_single_ones_and_the_plan_says_so() {
    let plan = planned(set(OPEN, &["requests=4", "transaction=true"])).unwrap().plan;
    assert!(!plan.groups[0].operation.transaction);
    assert!(plan.remarks.iter().any(|r| r.contains("oracle has no transactions")), "{:?}", plan.remarks);
}

/// Meters as the industrial monitoring study has them.
const INTERVAL: &str = r#"name = "meters"
summary = "test"
[dataset]
name = "smart_meter"
[[groups]]
name = "aggregator"
load = { model = "interval", interval = "15m" }
operations = [{ kind = "write", datapoints = 1, devices = 1000 }]
[phases]
deadline = "2m"
[ramp]
first = 10000
most = 40500
step = "1s"
"#;

#[test]
fn window_limit_and_steps_shrink_with_the_interval_unless_they_are_set() {
    let figures = |set_: &[&str]| {
        let plan = planned(set(INTERVAL, set_)).unwrap().plan;
        let Load::Interval { window_ns, .. } = plan.groups[0].load else { panic!("{:?}", plan.groups) };
        let limit_ns = plan.stop.mean_response_ns.unwrap();
        [window_ns, limit_ns, plan.ramp.unwrap().step_ns].map(|ns| ns / 1_000_000_000)
    };
    assert_eq!(figures(&[]), [120, 60, 900], "the study's");
    assert_eq!(figures(&["interval=30s"]), [4, 2, 30]);
    assert_eq!(figures(&["interval=30s", "load.window=9s", "mean_response=3s", "step=45s"]), [9, 3, 60]);
}

#[test]
fn a_ramp_of_intervals_is_over_devices_and_the_table_is_for_the_most() {
    let plan = planned(set(INTERVAL, &[])).unwrap().plan;
    assert_eq!(plan.ramp.as_ref().unwrap().quantity, Quantity::Devices);
    assert!(matches!(plan.groups[0].load, Load::Interval { devices: 10_000, .. }));
    assert_eq!((plan.table.devices, plan.groups[0].connections), (40_500, 32));
    let few = planned(set(INTERVAL, &["ramp.steps=[10]"])).unwrap().plan;
    assert_eq!(few.table.devices, 10, "less than a request");
    for (assignment, key) in [
        ("interval=0s", "groups.0.load.interval"),
        ("interval=1500ms", "groups.0.load.interval"),
        ("load.window=16m", "groups.0.load.window"),
        ("load.window=0s", "groups.0.load.window"),
        ("datapoints=since_last", "groups.0.operations.0.datapoints"),
        ("mean_response=6m", "ramp.step"),
        ("most=10000001", "ramp.most"),
    ] {
        assert_eq!(blamed(INTERVAL, &[assignment]), key, "{assignment}");
    }
}

#[test]
fn what_is_shorter_than_the_study_is_said() {
    let text =
        format!("{INTERVAL}[full]\n\"ramp.most\" = \"80k\"\n\"ramp.steps\" = [5, 6, 7]\n\"interval\" = \"900s\"\n");
    let remarks = |set_: &[&str]| planned(set(&text, set_)).unwrap().plan.remarks;
    let remark = "not the study's own lengths, which --full takes: ramp.most = 40500 instead of 80000, \
                  ramp.steps without 6, 7";
    assert!(remarks(&["ramp.steps=[5]"]).iter().any(|r| r == remark), "{:?}", remarks(&["ramp.steps=[5]"]));
    let own = remarks(&["ramp.steps=[5, 6, 7]", "most=80000"]);
    assert!(own.iter().all(|r| !r.contains("study")), "{own:?}");
}

#[test]
fn a_sweep_is_planned_value_by_value() {
    let text = format!("{OPEN}[sweep]\nfield = \"groups.0.operations.0.requests\"\nvalues = [2, 4]\nrepeat = 3\n");
    assert_eq!(blamed(&text, &[]), "sweep");
    let plans: Vec<_> = set(&text, &[]).runs().unwrap().into_iter().map(|run| planned(run).unwrap().plan).collect();
    let figures: Vec<_> = plans.iter().map(|p| (p.groups[0].operation.requests, p.phases.operations)).collect();
    assert_eq!(figures, [(2, Some(3)), (4, Some(3))]);
    assert_eq!(plans[1].sweep.as_ref().map(|s| s.value), Some(4));
}

/// Two groups that write, and one that reads.
const GROUPS: &str = r#"name = "groups"
summary = "test"
[dataset]
name = "machine"
[[groups]]
name = "meters"
devices = 4
load = { model = "closed", users = 3 }
operations = [{ kind = "write" }]
[[groups]]
name = "readers"
load = { model = "closed", users = 9 }
operations = [{ kind = "read_newest", records = 2 }]
[[groups]]
name = "gateways"
devices = 6
load = { model = "open", rate = 10 }
operations = [{ kind = "write", devices = 3 }]
[phases]
preload = 10
"#;

#[test]
fn each_of_several_groups_that_write_has_devices_of_its_own() {
    let plan = planned(set(GROUPS, &[])).unwrap().plan;
    let devices: Vec<_> = plan.groups.iter().map(|group| plan.devices_of(group)).collect();
    assert_eq!(devices, [0..4, 0..10, 4..10], "those of the reads are any");
    assert_eq!((plan.table.devices, plan.phases.preload_devices), (10, 10));
    assert_eq!(planned(set(GROUPS, &["devices=10"])).unwrap().plan.table.devices, 10);
    for (assignments, key) in [
        (["devices=11"].as_slice(), "devices"),
        (&["groups.0.devices=auto"], "groups.0.devices"),
        (&["groups.2.devices=0"], "groups.2.devices"),
        (&["groups.1.devices=5"], "groups.1.devices"),
        (&["groups.2.operations.0.devices=7"], "groups.2.operations.0.devices"),
        // A user who sends what a device has gathered is a device.
        (&["groups.0.operations.0.datapoints=since_last", "groups.0.load.users=5"], "groups.0.devices"),
        (&["groups.0.devices=6M", "groups.2.devices=6M"], "groups"),
    ] {
        assert_eq!(blamed(GROUPS, assignments), key, "{assignments:?}");
    }
    assert_eq!(blamed(OPEN, &["groups.0.devices=5"]), "groups.0.devices", "one group alone has all");
}

#[test]
fn a_ramp_of_the_first_of_several_groups_is_over_its_own_devices() {
    let ramp = "[ramp]\nfirst = 2\nmost = 4\nstep = \"9s\"\n[stop]\nmean_response = \"1s\"\n";
    let text = format!("{GROUPS}{ramp}");
    let gathering = ["groups.0.operations.0.datapoints=since_last"];
    let plan = planned(set(&text, &gathering)).unwrap().plan;
    assert_eq!((plan.ramp.as_ref().map(iotbench_engine::RampPlan::most), plan.table.devices), (Some(4), 10));
    assert_eq!(blamed(&text, &[gathering[0], "ramp.most=5"]), "groups.0.devices");
}

/// All datapoints that a run writes at most; none: not bounded.
fn most_points(text: &str, assignments: &[&str]) -> Option<u64> {
    let planned = planned(set(text, assignments)).unwrap();
    planned.plan.forecast(&*planned.dataset).points()
}

#[test]
fn what_a_load_writes_is_bounded_where_its_plan_bounds_it() {
    let open = |more: &[&str]| most_points(OPEN, &[&["phases.duration=10s"], more].concat());
    assert_eq!(open(&[]), Some(10_001));
    assert_eq!(open(&["datapoints=5", "phases.warmup=2s", "phases.preload=100"]), Some(5 * 12_001 + 100));
    assert!(open(&["arrival=poisson"]).is_some_and(|points| (10_100..11_000).contains(&points)));
    assert_eq!(open(&["model=paced"]), Some(10_000));
    let closed = |more: &[&str]| open(&[&["model=closed", "users=4"], more].concat());
    assert_eq!(closed(&[]), None, "the database decides");
    assert_eq!(closed(&["think_time=1s"]), Some(40));
    assert_eq!(closed(&["phases.operations=100"]), Some(104));
    let fixed = INTERVAL.split("[ramp]").next().unwrap();
    let meters = most_points(fixed, &["groups.0.load.interval=10s", "phases.duration=30s", "devices=2000"]);
    assert_eq!(meters, Some(6_000));
}

#[test]
fn a_ramp_is_bounded_in_steps_and_at_its_greatest_load_in_datapoints_a_second() {
    let ramp = ["ramp.first=100", "ramp.most=5k", "ramp.step=6s", "stop.mean_response=1s"];
    let planned = planned(set(OPEN, &ramp)).unwrap();
    let forecast = planned.plan.forecast(&*planned.dataset);
    assert_eq!((forecast.steps, forecast.points_per_s), (Some((124, 6_000_000_000)), Some(5_000.0)));
    assert_eq!(forecast.points(), None);
    assert!(forecast.load_ns < 100 * 6_000_000_000);
}

/// A datapoint of this dataset as a row takes 64 bytes and 24 for each value; a step is on for 2 s more than it counts.
#[test]
fn the_room_of_a_ramp_is_that_of_one_step_or_of_all_by_what_they_begin_with() {
    let room = |assignments: &[&str]| {
        let mut planned = planned(set(OPEN, assignments)).unwrap();
        let width = planned.dataset.schema().width() as u64;
        let of = |planned: &Planned| planned.plan.ramp_room(&*planned.dataset).unwrap();
        let kept = of(&planned);
        planned.plan.state = RampState::Fresh;
        let points = |bytes: u64| bytes as f64 / (64 + 24 * width) as f64;
        let told = |room: RampRoom| (points(room.certain), room.at_once.map(points));
        (told(kept), told(of(&planned)))
    };
    let search = ["layout=wide", "ramp.first=100", "ramp.most=5k", "ramp.step=6s", "stop.mean_response=1s"];
    assert_eq!(room(&search), ((800.0, None), (800.0, Some(40_000.0))), "of a search the first step is certain");
    let listed = ["layout=wide", "ramp.steps=[100,300,200]", "ramp.step=6s"];
    assert_eq!(room(&listed), ((4_800.0, Some(4_800.0)), (2_400.0, Some(2_400.0))), "of a list all are");
    let soaked = ["layout=wide", "ramp.steps=[100]", "ramp.step=6s", "ramp.soak=18s"];
    assert_eq!(room(&soaked), ((800.0, Some(2_800.0)), (800.0, Some(2_000.0))));
    let fixed = planned(set(OPEN, &[])).unwrap();
    assert_eq!(fixed.plan.ramp_room(&*fixed.dataset), None);
}
