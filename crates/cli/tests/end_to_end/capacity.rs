//! The search for the highest sustainable load, as a user runs it.

use crate::program::{document, iotbench, only_folder, said};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};

const SEARCH: [&str; 9] = ["capacity", "--output-format", "json", "-p", "pmu_write", "-b", "sqlite", "--trial", "3s"];

/// Few enough users that any machine carries them, so that there is no upper bound to find.
#[test]
fn the_answer_is_an_interval_with_its_trials() {
    let out = tempfile::tempdir().unwrap();
    let more = ["--first", "2", "--most", "4", "--repeats", "3", "--criterion", "mean<1s,errors<=5%"];
    let output = iotbench(out.path(), &[&SEARCH[..], &more].concat()).output().unwrap();
    let code = output.status.code();
    let document = document(&output);
    assert_eq!((&document["verdict"]["status"], code), (&"valid".into(), Some(0)), "{}", said(&output));
    let capacity = &document["capacity"];
    assert_eq!(
        (&capacity["lower"], &capacity["upper"], &capacity["confirmed"]),
        (&4.into(), &Value::Null, &true.into())
    );
    let steps = capacity["steps"].as_array().unwrap();
    let loads: Vec<_> = steps.iter().map(|step| step["offered_load"].as_u64().unwrap()).collect();
    assert_eq!(loads, [2, 4, 4], "doubled, and the greatest confirmed");
    let search = &capacity["search"];
    assert_eq!((&search["trials"], &search["repeats"], &search["goal_width"]), (&3.into(), &3.into(), &0.02.into()));
    assert_eq!((&search["at_lower"]["sustained"], &search["at_lower"]["failed"]), (&2.into(), &0.into()));
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
    assert_eq!((&document["capacity"]["lower"], &document["capacity"]["confirmed"]), (&2.into(), &false.into()));
    assert_eq!(document["points"]["acked"], document["points"]["stored"]);
}
