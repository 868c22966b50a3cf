//! Load models from the command line.

use crate::end_to_end::program::{document, iotbench, only_folder, run, said};
use crate::soundness::assert_sound;

#[test]
fn a_poisson_process_offers_its_rate() {
    let run = run(&["-p", "machine_write", "-b", "blackhole", "--arrival", "poisson", "-r", "20000", "-d", "10s"]);
    let offered = run.count("load.offered");
    // Three standard deviations of a count of 200,000; the seed is fixed, so that the count is too.
    assert!(offered.abs_diff(200_000) <= 3 * 447, "{offered} operations were offered");
    assert_eq!(run.count("load.dropped"), 0);
    assert_eq!(run.figure("load.model").as_str(), Some("open (poisson)"));
}

#[test]
fn a_ramp_ends_with_the_most_users_that_were_sustained() {
    let short = ["--set", "step=3s", "--set", "most=32", "--set", "first=8"];
    let run = run(&[&["-p", "pmu_write"], &short[..]].concat());
    run.assert_sound();
    let capacity = run.figure("capacity");
    assert!(capacity.get("lower").and_then(serde_json::Value::as_u64).is_some_and(|n| n <= 32), "{capacity:#}");
    assert!(capacity.get("steps").and_then(serde_json::Value::as_array).is_some_and(|s| s.len() >= 3), "{capacity:#}");
    let refused = run.figure("capacity.usl.refused").as_str().unwrap();
    assert!(refused.starts_with("users who think are not at work all the time"), "{refused}");
}

/// The second step takes all that there is, and fails: it is the last one, and not the one that is quoted.
#[test]
fn the_resources_of_a_ramp_are_those_of_the_step_that_is_quoted() {
    let short = ["--set", "ramp.steps=[4, 20000]", "--set", "step=3s", "--set", "mean_response=500ms"];
    let run = run(&[&["-p", "pmu_write", "-b", "sqlite"], &short[..], &["--set", "others_cpu=100%"]].concat());
    assert_eq!(run.figure("capacity.lower"), 4, "{:#}", run.figure("capacity"));
    let steps = run.figure("capacity.steps").as_array().unwrap();
    assert_eq!((steps.len(), &steps[1]["passed"]), (2, &false.into()), "{steps:#?}");
    let resources = run.figure("resources").as_array().unwrap();
    let own = resources.iter().find(|of| of["role"] == "client+database").unwrap();
    let cpu_pct = own["cpu_pct_mean"].as_f64().unwrap();
    assert!(cpu_pct < 20.0, "four users are no work: {cpu_pct} % of a core");
}

#[test]
fn several_backends_make_one_document_of_runs() {
    let out = tempfile::tempdir().unwrap();
    let arguments = [
        "run",
        "--output-format",
        "json",
        "-p",
        "machine_write",
        "-b",
        "sqlite:wide",
        "-b",
        "blackhole",
        "-d",
        "1s",
        "--warmup",
        "0",
    ];
    let output = iotbench(out.path(), &arguments).output().unwrap();
    let document = document(&output);
    let names: Vec<_> =
        document["runs"].as_array().unwrap().iter().map(|r| r["target"]["backend"].as_str().unwrap()).collect();
    assert_eq!(names, ["sqlite", "blackhole"]);
}

#[test]
fn a_ramp_of_intervals_ends_with_the_most_devices_that_report_in_time() {
    let short =
        ["--set", "interval=1s", "--set", "ramp.steps=[1500, 2500]", "--set", "step=2s", "--set", "others_cpu=100%"];
    let run =
        run(&[&["-p", "smart_meter_write", "-b", "sqlite"], &short[..], &["--set", "mean_response=500ms"]].concat());
    assert_eq!(run.figure("capacity.quantity"), "devices");
    let steps = run.figure("capacity.steps").as_array().unwrap();
    let offered: Vec<_> = steps.iter().map(|step| step["load"]["offered"].as_u64().unwrap()).collect();
    assert_eq!(offered, [4, 6], "requests of two intervals each");
    assert_eq!(run.count("points.stored"), run.count("points.acked"));
}

#[test]
fn a_sweep_is_a_run_for_each_value_and_one_table() {
    let out = tempfile::tempdir().unwrap();
    let short = ["--set", "sweep.values=[2, 4, 10]", "--set", "repeat=3", "--set", "preload=100"];
    let arguments = [&["run", "-p", "weather_insert", "--output-format", "json"], &short[..]].concat();
    let output = iotbench(out.path(), &arguments).output().unwrap();
    let said = said(&output);
    let document = document(&output);
    assert_sound(&document, output.status.code().unwrap(), &said);
    assert!(said.contains("value 3 of 3: 10"), "{said}");
    let runs = document["runs"].as_array().unwrap();
    let figures: Vec<_> = runs
        .iter()
        .map(|run| {
            ["/sweep/value", "/load/ok", "/points/stored"].map(|place| run.pointer(place).unwrap().as_u64().unwrap())
        })
        .collect();
    assert_eq!(figures, [[2, 3, 106], [4, 3, 112], [10, 3, 130]], "value, operations, stored in a table of its own");
    assert!(runs.iter().all(|run| run["empty_transaction_us"].as_f64().is_some_and(|us| us > 0.0)));
    let folder = only_folder(out.path());
    let table: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.join("sweep.json")).unwrap()).unwrap();
    assert_eq!((table["rows"].as_array().unwrap().len(), &table["rows"][2]["value"]), (3, &10.into()), "{table:#}");
    assert!(table["rows"][2]["queries_per_s"].as_f64() > Some(0.0), "{table:#}");
    let shown = std::process::Command::new(env!("CARGO_BIN_EXE_iotbench")).arg("show").arg(&folder).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("3 values of groups.0.operations.0.requests"), "{shown}");
    assert!(shown.contains("Query jitter") && shown.contains("2–10"), "{shown}");
}

#[test]
fn one_value_of_a_sweep_is_a_run() {
    let run = run(&["-p", "weather_insert", "--set", "sweep.only=3", "--set", "preload=0", "--set", "repeat=2"]);
    run.assert_sound();
    assert_eq!((run.count("sweep.value"), run.count("points.stored")), (3, 6));
}

/// Two million datapoints a second, each a transaction of its own, are more than any disk takes.
#[test]
fn sensors_that_are_too_fast_lose_what_their_queues_cannot_hold_and_the_rest_is_stored() {
    let run = run(&["-p", "machine_write", "-b", "sqlite:wide", "--rate", "2M", "-d", "2s", "--warmup", "0"]);
    let [generated, dropped, pending] =
        ["generated", "dropped", "pending"].map(|key| run.count(&format!("points.{key}")));
    assert!(dropped > 0 && run.count("points.acked") > 0, "{:#}", run.figure("points"));
    assert_eq!(run.figure("points.stored"), run.figure("points.acked"));
    let delivered = run.count("points.stored") as f64 / (generated - pending) as f64;
    let told = run.figure("audit.delivered").as_f64().unwrap();
    assert!(told < 1.0 && (told - delivered).abs() < 1e-3, "{delivered}: {:#}", run.figure("audit"));
    assert_eq!(run.figure("audit.lost"), 0);
    run.assert_sound();
}
