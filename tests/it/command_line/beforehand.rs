//! What a run will be and take, told before it begins.

use crate::command_line::program::{call, ended, iotbench_in};
use serde_json::Value;
use std::path::Path;

/// What a dry run says of its only run.
fn dry_run(arguments: &[&str]) -> Value {
    let said = call(&[&["run", "--dry-run", "--output-format", "json"], arguments].concat());
    assert_eq!(said.code, 0, "{arguments:?}: {}", said.err);
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn a_paced_profile_becomes_a_closed_loop_with_its_users() {
    let plan = dry_run(&["-p", "machine_write", "-b", "blackhole", "--arrival", "closed", "--vus", "4", "-d", "2s"]);
    assert_eq!(plan["groups"][0]["load"]["model"], "closed");
    assert_eq!(plan["groups"][0]["load"]["users"], 4);
    assert_eq!(plan["groups"][0]["connections"], 4);
}

#[test]
fn a_batch_is_of_each_device_and_the_dry_run_shows_how_much_a_request_carries() {
    let help = call(&["run", "--help"]).out;
    assert!(help.contains("Datapoints of each device in a request"), "{help}");
    let requests = |arguments: &[&str]| dry_run(arguments)["expected"]["requests"].to_string();
    let meters = requests(&["-p", "smart_meter_write", "--batch", "2"]);
    assert!(meters.contains("2 datapoints of each of 1000 devices, 2000 in all"), "{meters}");
    let machine = requests(&["-p", "machine_write", "--batch", "50"]);
    assert!(machine.contains("50 datapoints of one device"), "{machine}");
}

/// The datapoints of a run that were handed to the database, or could not be.
fn points_of(folder: &Path, arguments: &[&str]) -> (u64, String) {
    let said = ended(&mut iotbench_in(folder, &[&["run", "--output-format", "json"], arguments].concat()));
    let document: Value = serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {}", said.err));
    (document["points"]["sent"].as_u64().unwrap_or_else(|| panic!("{}", document["points"])), said.err)
}

#[test]
fn a_run_says_beforehand_how_long_it_takes_and_how_much_it_writes() {
    for (load, factor) in [
        (&["-p", "machine_write", "--rate", "200"][..], 2),
        (&["-p", "machine_write", "--arrival", "constant", "--rate", "100", "--batch", "20"], 2),
        (&["-p", "pmu_write", "--vus", "3"], 4),
        (&["-p", "machine_write", "--arrival", "closed", "--vus", "2", "--operations", "500"], 2),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let common = ["-b", "memory", "-d", "2s", "--warmup", "0s"];
        let arguments = [load, &common].concat();
        let most = dry_run(&arguments)["expected"]["points_at_most"].as_u64().unwrap();
        let (sent, err) = points_of(folder.path(), &arguments);
        assert!(sent <= most && most <= factor * sent, "{load:?}: {sent} were sent, of at most {most}");
        let first = err.lines().next().unwrap();
        assert!(first.contains("time: load at most 2s, then at most ") && first.contains("; disk: at most "), "{err}");
    }
}

#[test]
fn what_cannot_be_bounded_beforehand_is_said_with_its_reason() {
    let disk = |arguments: &[&str]| dry_run(arguments)["expected"]["disk"].as_str().unwrap().to_owned();
    let closed = disk(&["-p", "machine_write", "--arrival", "closed", "--vus", "2"]);
    assert!(
        closed.contains("not bounded: a closed loop without think time") && closed.contains(" are free"),
        "{closed}"
    );
    let search = dry_run(&["-p", "pmu_write"]);
    let time = search["expected"]["time"].as_str().unwrap();
    assert!(time.contains("at most 112 steps of 6s"), "{time}");
    let room = search["expected"]["disk"].as_str().unwrap();
    assert!(room.contains(" at once, the first steps up to ") && room.contains("at its greatest load"), "{search}");
    let kept = disk(&["-p", "pmu_write", "--set", "ramp.state=keep"]);
    assert!(kept.contains("it grows until the answer is known"), "{kept}");
    assert_eq!(disk(&["-p", "machine_write", "-b", "blackhole"]), "blackhole stores nothing");
    let history = dry_run(&["-p", "greenhouse_dashboard"]);
    assert!(history["expected"]["time"].as_str().unwrap().starts_with("before it a history of "), "{history}");
}

#[test]
fn what_steps_of_a_ramp_begin_with_is_refused_where_it_cannot_be() {
    for (arguments, why) in [
        (&["-p", "machine_read", "--set", "ramp.steps=[1,2]", "--state", "fresh"][..], "ramp.state"),
        (&["-p", "pmu_write", "-b", "blackhole", "--state", "fresh"], "ramp.state"),
        (&["-p", "pmu_write", "--vus", "3", "--state", "keep"], "--state keep"),
        (&["-p", "pmu_write", "--state", "frsh"], "write fresh"),
        (&["-p", "pmu_write", "--set", "ramp.state=7"], "ramp.state"),
    ] {
        let said = call(&[&["run", "--dry-run"], arguments].concat());
        assert_eq!(said.code, 2, "{arguments:?}: {}", said.err);
        assert!(said.err.contains(why), "{arguments:?}: {}", said.err);
    }
}
