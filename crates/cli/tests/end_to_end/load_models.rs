//! Load models from the command line.

use crate::program::run;

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
    run.assert_valid();
    let capacity = run.figure("capacity");
    assert!(capacity.get("lower").and_then(serde_json::Value::as_u64).is_some_and(|n| n <= 32), "{capacity:#}");
    assert!(capacity.get("steps").and_then(serde_json::Value::as_array).is_some_and(|s| s.len() >= 3), "{capacity:#}");
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
    let output = crate::program::iotbench(out.path(), &arguments).output().unwrap();
    let document = crate::program::document(&output);
    let names: Vec<_> =
        document["runs"].as_array().unwrap().iter().map(|r| r["target"]["backend"].as_str().unwrap()).collect();
    assert_eq!(names, ["sqlite", "blackhole"]);
}
