//! Repetitions: a folder each, an order in rounds, and means with intervals.

use crate::end_to_end::program::{document, iotbench, said, undisturbed};
use serde_json::Value;

const SHORT: [&str; 11] =
    ["run", "-p", "pmu_write", "--vus", "2", "-d", "1s", "--warmup", "0s", "--set", "think_time=10ms"];

fn count(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

#[test]
fn each_run_has_a_folder_and_the_means_are_those_of_the_runs() {
    let more = ["-b", "sqlite", "-b", "memory", "--runs", "3", "--output-format", "json"];
    let mut out = tempfile::tempdir().unwrap();
    let output = undisturbed(|| {
        out = tempfile::tempdir().unwrap();
        iotbench(out.path(), &[&SHORT[..], &more].concat()).output().unwrap()
    });
    let json = document(&output);
    assert_eq!((output.status.code(), count(&json["runs"])), (Some(0), 6), "{}", said(&output));
    assert_eq!(out.path().read_dir().unwrap().count(), 6);
    let targets: Vec<_> =
        json["runs"].as_array().unwrap().iter().map(|run| run["target"]["backend"].as_str()).collect();
    for round in targets.chunks(2) {
        assert_ne!(round[0], round[1], "each round has both: {targets:?}");
    }
    for backend in ["sqlite", "memory"] {
        let of_backend = |run: &&Value| run["target"]["backend"] == backend;
        let runs: Vec<_> = json["runs"].as_array().unwrap().iter().filter(of_backend).collect();
        let rates: Vec<f64> = runs.iter().map(|r| r["throughput"]["operations_per_s"].as_f64().unwrap()).collect();
        let figures = json["repetitions"]["figures"].as_array().unwrap();
        let is_rate =
            |f: &&Value| f["figure"] == "operations_per_s" && f["target"].as_str().unwrap().starts_with(backend);
        let rate = figures.iter().find(is_rate).unwrap();
        let mean = rates.iter().sum::<f64>() / 3.0;
        assert!((rate["mean"].as_f64().unwrap() - mean).abs() < 1e-6, "{rate} of {rates:?}");
        assert!(rate["ci95"]["low"].as_f64().unwrap() <= mean && mean <= rate["ci95"]["high"].as_f64().unwrap());
        assert_eq!(rate["runs"], 3);
        for run in runs {
            assert_eq!((&run["steady"]["seconds"], &run["steady"]["is_steady"]), (&1.into(), &Value::Null));
            assert_eq!(run["points"]["stored"], run["points"]["acked"], "every run began with an empty table");
        }
    }
    assert_eq!(json["repetitions"]["method"], "Student's t over repetitions");
}

#[test]
fn people_get_a_table_that_says_how_it_was_made() {
    let out = tempfile::tempdir().unwrap();
    let runs = [&SHORT[..], &["-b", "memory", "--runs", "2"]].concat();
    let output = undisturbed(|| iotbench(out.path(), &runs).output().unwrap());
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    for part in ["operations/s", "mean response", "95 % from", "Student's t", "not for publication", "VALID"] {
        assert!(text.contains(part), "{part} is missing in {text}{}", said(&output));
    }
}

#[test]
fn what_would_be_left_for_the_next_repetition_is_refused() {
    let out = tempfile::tempdir().unwrap();
    for arguments in [&["--runs", "2", "--keep"][..], &["--runs", "0"]] {
        let output = iotbench(out.path(), &[&SHORT[..], arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert_eq!(out.path().read_dir().unwrap().count(), 0);
    }
}
