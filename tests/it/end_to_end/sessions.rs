//! Sittings of one job: a folder with all of them, what they tell together, and going on after a kill.

use crate::end_to_end::{
    interruption::wait_for,
    program::{document, iotbench, only_folder, said},
};
use crate::small_search::SMALL_SEARCH;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Output},
};

/// A fixed load. Whether a run is valid is the machine's affair, and no matter here.
const LOAD: [&str; 12] =
    ["run", "-p", "pmu_write", "-b", "sqlite", "--vus", "2", "-d", "1s", "--warmup", "0s", "--sessions"];

const SEARCH: [&str; 5] = ["capacity", "-p", "pmu_write", "-b", "sqlite"];

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

fn record(folder: &Path) -> Value {
    serde_json::from_str(&read(folder, "sessions.json")).unwrap()
}

/// How many sittings have ended.
fn ended(record: &Value) -> usize {
    record["entries"].as_array().unwrap().iter().filter(|entry| !entry["end"].is_null()).count()
}

/// The run of a sitting, from 0.
fn run_of(folder: &Path, sitting: usize) -> Value {
    let name = record(folder)["entries"][sitting]["end"]["folder"].as_str().unwrap().to_owned();
    serde_json::from_str(&read(&folder.join(name), "run.json")).unwrap()
}

/// Reads what is said until a line holds this.
fn read_until(child: &mut Child, words: &str) -> impl Iterator<Item = String> + use<> {
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut before = Vec::new();
    let found = lines.by_ref().any(|line| {
        before.push(line.clone());
        line.contains(words)
    });
    assert!(found, "nothing was said of {words:?}: {before:#?}");
    lines
}

fn resume(folder: &Path, more: &[&str]) -> Output {
    let arguments = ["run", "--resume", folder.to_str().unwrap()];
    iotbench(&folder.join("../elsewhere"), &[&arguments[..], more].concat()).output().unwrap()
}

#[test]
fn each_sitting_is_kept_and_all_have_an_interval() {
    let out = tempfile::tempdir().unwrap();
    let load = [&LOAD[..], &["2", "-b", "memory", "--output-format", "json"]].concat();
    let output = iotbench(out.path(), &load).output().unwrap();
    let folder = only_folder(out.path());
    let kept = record(&folder);
    assert_eq!((kept["sessions"].as_u64(), ended(&kept)), (Some(2), 4), "{}", said(&output));
    assert_eq!(document(&output), kept, "standard output has the record");
    for (place, entry) in kept["entries"].as_array().unwrap().iter().enumerate() {
        assert_eq!(entry["session"], place as u64 / 2 + 1, "a sitting is a run of each: {kept:#}");
        let run = run_of(&folder, place);
        assert_eq!(run["points"]["stored"], run["points"]["acked"], "each began with an empty table");
        assert_eq!(run["verdict"]["exit_code"], entry["end"]["exit_code"]);
    }
    let summary = &kept["summary"];
    let left_out = summary["left_out"].as_array().unwrap().len() as u64;
    let rates = summary["figures"].as_array().unwrap().iter().filter(|f| f["figure"] == "operations_per_s");
    let in_rates: u64 = rates.map(|figure| figure["sittings"].as_u64().unwrap()).sum();
    assert_eq!(in_rates + left_out, 4, "{summary:#}");
    let text = read(&folder, "sessions.txt");
    let shown = std::process::Command::new(env!("CARGO_BIN_EXE_iotbench")).arg("show").arg(&folder).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&shown.stdout), text);
    for words in ["SESSIONS  pmu_write: 2 of 2 sittings", "Means are geometric", "sqlite:wide", "memory:wide"] {
        assert!(text.contains(words), "{words} is missing in {text}");
    }
    let again = resume(&folder, &[]);
    assert_eq!(again.status.code(), Some(2), "{}", said(&again));
    assert!(said(&again).contains("nothing to go on with"), "{}", said(&again));
}

/// Sittings of which the first was held; the program waits for the time of the second.
fn waiting(out: &Path) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut child = iotbench(out, &[&LOAD[..], &["2", "--over", "10h"]].concat()).spawn().unwrap();
    let lines = read_until(&mut child, "sitting 2 begins in");
    (child, lines)
}

#[test]
fn a_signal_ends_the_waiting_with_what_is_known() {
    let out = tempfile::tempdir().unwrap();
    let (child, lines) = waiting(out.path());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let more: Vec<String> = lines.collect();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{more:#?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("1 of 2 sittings") && text.contains("one sitting, the spread"), "{text}");
    assert!(more.iter().any(|line| line.contains("go on with: iotbench run --resume ")), "{more:#?}");
    assert_eq!(ended(&record(&only_folder(out.path()))), 1);
}

#[test]
fn sittings_that_were_killed_while_they_waited_go_on_with_the_next() {
    let out = tempfile::tempdir().unwrap();
    let (mut child, _lines) = waiting(out.path());
    child.kill().unwrap();
    child.wait().unwrap();
    let folder = only_folder(out.path());
    let kept = record(&folder);
    assert_eq!(ended(&kept), 1, "{kept:#}");
    // It would be another job, or one of another program.
    for (more, words) in
        [(&["-p", "machine_write"][..], "cannot be used with"), (&["--url", "sqlite:x"], "leave out --url")]
    {
        let refused = resume(&folder, more);
        assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
        assert!(said(&refused).contains(words), "{}", said(&refused));
    }
    let write = |path: &str, value: Value| {
        let mut changed = kept.clone();
        *changed.pointer_mut(path).unwrap_or_else(|| panic!("{path} is not in {kept:#}")) = value;
        fs::write(folder.join("sessions.json"), changed.to_string()).unwrap();
    };
    for (path, value, words) in [
        ("/schema", Value::from("iotbench-sessions/9.0"), "iotbench-sessions/9.0"),
        ("/jobs/0/plan/seed", Value::from(7), "plan.seed"),
        ("/entries/0/end/folder", Value::from("../x"), "is no folder in it"),
    ] {
        write(path, value);
        let refused = resume(&folder, &[]);
        assert!([Some(2), Some(30)].contains(&refused.status.code()), "{}", said(&refused));
        assert!(said(&refused).contains(words), "{}", said(&refused));
    }
    // The time of the second has come.
    write("/began", Value::from("2020-01-01T00:00:00Z"));
    let output = resume(&folder, &["--output-format", "json"]);
    let whole = document(&output);
    assert_eq!(ended(&whole), 2, "{}", said(&output));
    assert_eq!(whole["entries"][0], kept["entries"][0], "what had been held is not held again");
    assert!(!said(&output).contains("sitting 1 of 2"), "{}", said(&output));
    assert_eq!(record(&folder), whole);
}

#[test]
fn a_sitting_that_was_killed_goes_on_after_its_last_whole_trial() {
    let out = tempfile::tempdir().unwrap();
    let mut child = iotbench(out.path(), &[&SEARCH[..], &SMALL_SEARCH, &["--sessions", "2"]].concat()).spawn().unwrap();
    let _lines = read_until(&mut child, "2 users");
    let folder = only_folder(out.path());
    let runs = || -> Vec<PathBuf> {
        let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect()
    };
    // Said before it is written.
    wait_for("the trial to be kept", || {
        let trials = runs().first().and_then(|run| fs::read_to_string(run.join("trials.jsonl")).ok());
        trials.is_some_and(|text| text.matches('\n').count() >= 2)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let [killed] = &runs()[..] else { panic!("one sitting had begun") };
    let made = read(killed, "trials.jsonl").matches('\n').count() - 1;
    let output = resume(&folder, &["--output-format", "json"]);
    let whole = document(&output);
    assert_eq!(ended(&whole), 2, "{}", said(&output));
    let interrupted = whole["entries"].as_array().unwrap().iter().map(|entry| entry["end"]["interrupted"].clone());
    let name = killed.file_name().unwrap().to_str().unwrap();
    assert_eq!(interrupted.collect::<Vec<_>>(), [Value::from(vec![name]), Value::Array(Vec::new())]);
    let words = format!("the first {made} trials were made by {name}");
    for (sitting, is_resumed) in [(0, true), (1, false)] {
        let run = run_of(&folder, sitting);
        let steps = run["capacity"]["steps"].as_array().unwrap();
        let loads: Vec<_> = steps.iter().map(|step| step["offered_load"].as_u64().unwrap()).collect();
        assert_eq!(loads, [2, 4, 4], "as if it had not been interrupted: {}", said(&output));
        assert_eq!(run["remarks"].to_string().contains(&words), is_resumed, "{}", run["remarks"]);
        assert_eq!(run["capacity"]["state"], "fresh");
    }
}

/// Runs in the results folder of what is searched again are its earlier sittings.
#[test]
fn a_search_tells_what_earlier_sittings_here_found() {
    let out = tempfile::tempdir().unwrap();
    let search = [&SEARCH[..], &SMALL_SEARCH, &["--output-format", "json"]].concat();
    let run = || document(&iotbench(out.path(), &search).output().unwrap());
    let first = run();
    assert_eq!(first["capacity"]["earlier"], Value::Null, "{first:#}");
    let second = run();
    let is_valid = first["verdict"]["status"] == "valid";
    let expected = if is_valid { [1.0, 4.0, 4.0].map(Some) } else { [None; 3] };
    let earlier = ["count", "least", "greatest"].map(|figure| second["capacity"]["earlier"][figure].as_f64());
    assert_eq!(earlier, expected, "{}", second["verdict"]);
}
