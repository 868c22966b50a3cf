//! The search for the highest sustainable load, as a user runs it.

use crate::end_to_end::{
    interruption::wait_for,
    program::{document, iotbench, only_folder, said},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::Output,
};

/// Beside other tests, which would have each of its trials run again: by what they take of processors and disk.
const SEARCH: [&str; 13] = [
    "capacity",
    "--output-format",
    "json",
    "-p",
    "pmu_write",
    "-b",
    "sqlite",
    "--trial",
    "3s",
    "--set",
    "others_cpu=100%",
    "--set",
    "ramp.probe=false",
];

/// Few enough users that any machine carries them, so that there is no upper bound to find.
#[test]
fn the_answer_is_an_interval_with_its_trials() {
    let out = tempfile::tempdir().unwrap();
    let more = ["--first", "2", "--most", "4", "--trials", "12", "--criterion", "mean<1s,errors<=5%"];
    let output = iotbench(out.path(), &[&SEARCH[..], &more].concat()).output().unwrap();
    let code = output.status.code();
    let document = document(&output);
    assert_eq!((&document["verdict"]["status"], code), (&"valid".into(), Some(0)), "{}", said(&output));
    let capacity = &document["capacity"];
    assert_eq!(
        (&capacity["lower"], &capacity["upper"], &capacity["sustained"], &capacity["estimate"]),
        (&4.into(), &Value::Null, &4.into(), &Value::Null)
    );
    let steps = capacity["steps"].as_array().unwrap();
    let loads: Vec<_> = steps.iter().map(|step| step["offered_load"].as_u64().unwrap()).collect();
    assert_eq!(loads, [2, 4, 4], "doubled, and the greatest once more");
    let search = &capacity["search"];
    assert_eq!(
        (&search["trials"], &search["most_trials_near"], &search["goal_width"]),
        (&3.into(), &12.into(), &0.02.into())
    );
    assert_eq!((&search["at_sustained"]["sustained"], &search["at_sustained"]["failed"]), (&2.into(), &0.into()));
    assert!(capacity["criterion"].as_str().is_some_and(|text| text.contains("failed ≤ 5%")), "{capacity:#}");
    let said = said(&output);
    assert!(said.contains("4 users") && said.contains("passed"), "each trial is told: {said}");
    let folder = only_folder(out.path());
    let shown = std::process::Command::new(env!("CARGO_BIN_EXE_iotbench")).arg("show").arg(folder).output().unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains("2 of 2 trials sustained it"), "{shown:?}");
}

#[test]
fn an_interrupted_search_saves_what_it_knows() {
    let out = tempfile::tempdir().unwrap();
    let mut child = iotbench(out.path(), &[&SEARCH[..], &["--first", "2"]].concat()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("2 users")), "no trial was told");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    lines.for_each(drop);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let document = document(&output);
    assert_eq!(document["verdict"]["status"], "aborted");
    assert_eq!((&document["capacity"]["lower"], &document["capacity"]["upper"]), (&2.into(), &Value::Null));
    assert_eq!(document["points"]["acked"], document["points"]["stored"]);
}

/// A search that was killed when it had told its first trial.
fn killed(out: &Path) -> PathBuf {
    let more = ["--first", "2", "--most", "4", "--trials", "12", "--criterion", "mean<1s,errors<=5%"];
    let mut child = iotbench(out, &[&SEARCH[..], &more].concat()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("2 users")), "no trial was told");
    let folder = only_folder(out);
    // Said before it is written.
    wait_for("the trial to be kept", || {
        fs::read_to_string(folder.join("trials.jsonl")).is_ok_and(|text| text.matches('\n').count() >= 2)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    folder
}

fn resume(out: &Path, folder: &Path, more: &[&str]) -> Output {
    let arguments = ["capacity", "--resume", folder.to_str().unwrap(), "--output-format", "json"];
    iotbench(out, &[&arguments[..], more].concat()).output().unwrap()
}

#[test]
fn a_search_that_was_killed_goes_on_where_it_stopped() {
    let out = tempfile::tempdir().unwrap();
    let folder = killed(&out.path().join("killed"));
    let kept = fs::read_to_string(folder.join("trials.jsonl")).unwrap();
    let made = kept.matches('\n').count() - 1;
    let output = resume(&out.path().join("resumed"), &folder, &[]);
    let document = document(&output);
    assert_eq!((&document["verdict"]["status"], output.status.code()), (&"valid".into(), Some(0)), "{}", said(&output));
    let capacity = &document["capacity"];
    let steps = capacity["steps"].as_array().unwrap();
    let loads: Vec<_> = steps.iter().map(|step| step["offered_load"].as_u64().unwrap()).collect();
    assert_eq!(loads, [2, 4, 4], "as if it had not been interrupted");
    assert_eq!((&capacity["lower"], &capacity["sustained"]), (&4.into(), &4.into()));
    assert_eq!(capacity["state"], "fresh", "each trial began with an empty database, before the kill and after it");
    let is_of_another: Vec<_> = steps.iter().map(|step| step["from_s"].is_null()).collect();
    assert_eq!(is_of_another, [0, 1, 2].map(|place| place < made));
    assert!(
        document["remarks"].to_string().contains(&format!("the first {made} trials were made by ")),
        "{document:#}"
    );
    let load = |step: &Value| step["load"]["ok"].as_u64().unwrap();
    assert!(document["load"]["ok"].as_u64().unwrap() >= steps.iter().map(load).sum(), "{}", document["load"]);
    assert!(document["latency"]["by_operation"]["response"]["count"].as_u64() > Some(0));
    assert_eq!(document["points"]["acked"], document["points"]["stored"]);
    // The whole of it again, of which nothing is left to be done: the answer's figures are those that were kept.
    let whole = only_folder(&out.path().join("resumed"));
    assert_eq!(resume(&out.path().join("ended"), &whole, &[]).status.code(), Some(2), "it has ended");
    let text = fs::read_to_string(whole.join("run.json")).unwrap();
    fs::write(whole.join("run.json"), text.replacen("\"valid\"", "\"running\"", 1)).unwrap();
    let again = resume(&out.path().join("again"), &whole, &[]);
    let again = crate::end_to_end::program::document(&again);
    assert_eq!(again["capacity"]["lower"], document["capacity"]["lower"]);
    assert_eq!((&again["latency"], &again["throughput"]), (&document["latency"], &document["throughput"]));
    assert_eq!(again["capacity"]["search"], document["capacity"]["search"]);
}

#[test]
fn a_search_that_would_be_another_does_not_go_on() {
    let out = tempfile::tempdir().unwrap();
    let folder = killed(&out.path().join("killed"));
    let trials = folder.join("trials.jsonl");
    let kept = fs::read_to_string(&trials).unwrap();
    let refused = |more: &[&str], words: &str| {
        let output = resume(&out.path().join("none"), &folder, more);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {}", said(&output));
        assert!(said(&output).contains(words), "{more:?}: {}", said(&output));
        assert!(!out.path().join("none").exists(), "nothing was made");
    };
    refused(&["-p", "pmu_write"], "cannot be used with");
    refused(&["--set", "seed=2"], "cannot be used with");
    refused(&["--url", "sqlite:other.db"], "leave out --url");
    let changed = |from: &str, to: &str| {
        assert!(kept.contains(from), "{from}");
        fs::write(&trials, kept.replacen(from, to, 1)).unwrap();
    };
    changed("\"seed\":1,\"origin_ns\"", "\"seed\":7,\"origin_ns\"");
    refused(&[], "plan.seed");
    changed("iotbench-trials/1.0", "iotbench-trials/9.0");
    refused(&[], "iotbench-trials/9.0");
    fs::write(&trials, &kept[..40]).unwrap();
    refused(&[], "begin it anew");
    fs::remove_file(&trials).unwrap();
    refused(&[], "trials.jsonl");
}
