//! Suites: all runs are done, one that fails does not end the others, and what was interrupted goes on.

use crate::end_to_end::{
    program::{iotbench, only_folder, said, undisturbed},
    pseudo_terminal::PseudoTerminal,
};
use crate::soundness::assert_sound;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Output},
    time::{Duration, Instant},
};
use tempfile::TempDir;

const SUITE: &str = r#"
name = "mine"
summary = "which of the layouts of SQLite is fastest?"
runs = 2
[[cells]]
profile = "pmu_write"
backends = ["sqlite:wide", "sqlite:bulk"]
options = ["--vus", "2"]
set = ["think_time=10ms", "phases.warmup=0s"]
short = ["phases.duration=1s"]
[[tables]]
title = "Table 7"
profile = "pmu_write"
columns = [{ figure = "response_mean_us", head = "mean response, µs" }]
rows."sqlite:wide" = [10]
rows."sqlite:bulk" = [20]
[[curves]]
title = "Figure 8"
figure = "response_mean_us"
head = "mean response, µs"
over = "profile"
of = "profile"
at = ["pmu_write", "pmu_wrs"]
plot = true
printed."sqlite:wide" = [10, 30]
printed."sqlite:bulk" = [20, nan]
"#;

/// A suite file in a folder of its own, and where its results go.
fn written(text: &str) -> (TempDir, PathBuf, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let (file, out) = (place.path().join("mine.toml"), place.path().join("results"));
    fs::write(&file, text).unwrap();
    fs::create_dir(&out).unwrap();
    (place, file, out)
}

fn suite(file: &Path, out: &Path, more: &[&str]) -> Output {
    iotbench(out, &[&["suite", file.to_str().unwrap()], more].concat()).output().unwrap()
}

/// A suite that the machine did not disturb, in a place of its own: how it ended, and where its results are.
fn ended(text: &str, how: impl Fn(&mut Command)) -> (Output, TempDir, PathBuf) {
    let mut place = None;
    let output = undisturbed(|| {
        let (_, file, out) = place.insert(written(text));
        let mut command = iotbench(out, &["suite", file.to_str().unwrap()]);
        how(&mut command);
        command.output().unwrap()
    });
    let (place, _, out) = place.unwrap();
    (output, place, out)
}

/// The document of an entry's one run.
fn only_run(folder: &Path, entry: &Value) -> Value {
    let run = folder.join(entry["folders"][0].as_str().unwrap()).join("run.json");
    serde_json::from_str(&fs::read_to_string(run).unwrap()).unwrap()
}

fn record(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("suite.json")).unwrap()).unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// How many entries of a record are in a state.
fn count(record: &Value, state: &str) -> usize {
    record["entries"].as_array().unwrap().iter().filter(|entry| entry["state"] == state).count()
}

#[test]
fn all_runs_are_done_and_stand_beside_what_was_printed() {
    let (output, _place, out) = ended(SUITE, |_| {});
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let folder = only_folder(&out);
    let record = record(&folder);
    assert_eq!(count(&record, "ended"), 4, "{record:#}");
    for entry in record["entries"].as_array().unwrap() {
        let document = only_run(&folder, entry);
        assert_eq!(document["verdict"]["status"], "valid");
        assert_eq!(document["measured"]["length_s"], 1.0);
        let words = document["command"].as_array().unwrap();
        assert_eq!(words[1], "run", "the command does what one run does: {words:?}");
    }
    let text = text(&output);
    for part in [
        "SUITE mine (short form): 4 runs: 4 valid",
        "sqlite:wide operations/s",
        "Table 7 (printed | here)",
        "1 pairs)",
        "Figure 8: mean response, µs (printed | here)",
        "pmu_wrs on sqlite:wide: n/a: not one of the short form's runs",
        "results: ",
    ] {
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(part), "{part} is missing in {text}");
    }
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("sqlite:wide") && page.contains("sqlite:bulk") && page.contains("Ranking"));
    assert!(page.contains("The study and these runs") && page.contains("Figure 8"));
    assert!(said(&output).contains("suite mine: 3 of 4 runs done, about 0:"), "{}", said(&output));
}

#[test]
fn a_run_that_fails_and_one_that_cannot_be_do_not_end_the_others() {
    let text_of_suite =
        SUITE.replace("runs = 2", "runs = 1").replace("\"sqlite:bulk\"]", "\"sqlite:bulk\", \"mysql\"]");
    // Without any program to be found, the server cannot be started.
    let (output, _place, out) = ended(&text_of_suite, |command| {
        command.env("PATH", "/nowhere").env("IOTBENCH_SERVERS_DIR", "/nowhere");
    });
    let record = record(&only_folder(&out));
    assert_eq!((count(&record, "ended"), count(&record, "not_available")), (2, 1), "{}", said(&output));
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output).contains("n/a: "), "{}", text(&output));
}

#[test]
fn what_was_interrupted_goes_on_where_it_stopped() {
    let (_place, file, out) = written(&SUITE.replace("duration=1s", "duration=2s"));
    let child = iotbench(&out, &["suite", file.to_str().unwrap()]).spawn().unwrap();
    let began = Instant::now();
    let ended = || {
        let folder = out.read_dir().unwrap().next()?.ok()?.path();
        let text = fs::read_to_string(folder.join("suite.json")).ok()?;
        Some(text.matches("\"ended\"").count())
    };
    while ended() != Some(1) {
        assert!(began.elapsed() < Duration::from_secs(60), "waited in vain for the first run");
        std::thread::sleep(Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    let folder = only_folder(&out);
    let before = record(&folder);
    assert!(count(&before, "ended") < 4 && count(&before, "waiting") > 0, "{before:#}");
    let output = resumed(&folder);
    let after = record(&folder);
    assert_eq!(count(&after, "ended"), 4, "{after:#} {}", said(&output));
    let codes = after["entries"].as_array().unwrap().iter().map(|entry| {
        let document = only_run(&folder, entry);
        let code = entry["exit_code"].as_i64().unwrap().try_into().unwrap();
        assert_sound(&document, code, "");
        code
    });
    assert_eq!(output.status.code(), codes.max(), "{}", said(&output));
    for (was, is) in before["entries"].as_array().unwrap().iter().zip(after["entries"].as_array().unwrap()) {
        if was["state"] == "ended" {
            assert_eq!(was, is, "what had ended is not done again");
        }
    }
    fs::write(folder.join("suite.toml"), SUITE.replace("\"2\"", "\"3\"")).unwrap();
    let output = resumed(&folder);
    assert_eq!(output.status.code(), Some(2), "other runs are not mixed in: {}", said(&output));
    assert_eq!(record(&folder), after);
}

/// Whether its runs are valid is the machine's affair, and no matter here.
#[test]
fn sittings_of_a_suite_wait_for_their_time_and_its_tables_are_over_sittings() {
    let (_place, file, out) = written(SUITE);
    let mut child =
        iotbench(&out, &["suite", file.to_str().unwrap(), "--sessions", "2", "--over", "10h"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.by_ref().any(|line| line.contains("sitting 2 begins in 35")), "nine hours and some are left");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    lines.for_each(drop);
    let interrupted = child.wait_with_output().unwrap();
    assert_eq!(interrupted.status.code(), Some(130), "{}", said(&interrupted));
    let method = "Means are geometric. Intervals: Student's t over the logarithms of the sittings' figures, 90 %";
    let words = |output: &Output| text(output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&interrupted).contains(method), "{}", text(&interrupted));
    let folder = only_folder(&out);
    let mut before = record(&folder);
    assert_eq!((count(&before, "ended"), count(&before, "waiting")), (2, 2), "{before:#}");
    assert_eq!(before["sittings"]["over_s"], 36_000.0);
    // The time of the second has come.
    before["sittings"]["began"] = "2020-01-01T00:00:00Z".into();
    fs::write(folder.join("suite.json"), before.to_string()).unwrap();
    let output = resumed(&folder);
    let after = record(&folder);
    assert_eq!(count(&after, "ended"), 4, "{}", said(&output));
    for (was, is) in before["entries"].as_array().unwrap().iter().zip(after["entries"].as_array().unwrap()) {
        assert!(was["state"] == "waiting" || was == is, "what had ended is not done again: {is:#}");
    }
    assert!(words(&output).contains(method), "{}", text(&output));
}

#[test]
fn a_dashboard_says_where_the_suite_is_and_q_ends_it_so_that_it_can_go_on() {
    let (_place, file, out) = written(&SUITE.replace("duration=1s", "duration=1h"));
    let mut terminal = PseudoTerminal::start(&iotbench(&out, &["suite", file.to_str().unwrap(), "--ui"]), 30, 110);
    let expected = ["suite mine: 0 of 4 runs done", "pmu_write on sqlite:", "2 users", "q ends the suite"];
    terminal.wait_for("figures", |text| expected.iter().all(|word| text.contains(word)));
    terminal.press("q");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(130));
    terminal.assert_given_back();
    assert_eq!(count(&record(&only_folder(&out)), "waiting"), 4);
}

fn resumed(folder: &Path) -> Output {
    // Not by way of the helper: a suite that goes on takes no --out.
    Command::new(env!("CARGO_BIN_EXE_iotbench")).args(["suite", "--resume"]).arg(folder).output().unwrap()
}

#[test]
fn what_is_wrong_with_a_suite_is_told_before_anything_is_made() {
    for (from, to, hint) in [
        ("summary", "sumary", "mine.toml:3"),
        ("pmu_write", "pmu_wirte", "did you mean pmu_write?"),
        ("sqlite:bulk", "sqlite:bulky", "bulky"),
        ("think_time", "think_tim", "think_tim"),
        ("[20]", "[20, 30]", "rows.sqlite:bulk"),
    ] {
        let (_place, file, out) = written(&SUITE.replacen(from, to, 1));
        let output = suite(&file, &out, &[]);
        assert_eq!(output.status.code(), Some(2), "{to}: {}", said(&output));
        assert!(said(&output).contains(hint), "{to}: {}", said(&output));
        assert_eq!(out.read_dir().unwrap().count(), 0);
    }
}

#[test]
fn a_dry_run_lists_the_runs_in_their_order() {
    let (_place, file, out) = written(SUITE);
    let output = suite(&file, &out, &["--dry-run", "--full", "--runs", "3"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = text(&output);
    assert_eq!(text.lines().count(), 6, "{text}");
    assert!(
        text.lines().all(|line| line.contains("iotbench run --profile pmu_write") && line.ends_with("--full")),
        "{text}"
    );
    assert_eq!(out.read_dir().unwrap().count(), 0);
}
