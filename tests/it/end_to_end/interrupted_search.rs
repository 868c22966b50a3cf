//! Ctrl-C while the greatest load is searched for: the interval that is known by then stands in the text and in the document.

use crate::end_to_end::{
    interruption::wait_for,
    program::{iotbench, only_folder, said},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};
use tempfile::TempDir;

/// A connection carries an operation in 50 ms, because of its pause: 20 a second, however fast the machine is. With a limit of
/// 0.3 s and 0.2 s of thinking that are ten users.
const PROFILE: &str = r#"
name = "paused"
summary = "test"
[dataset]
name = "pmu"
[[groups]]
name = "pmus"
connections = 1
load = { model = "closed", users = 1, think_time = "200ms" }
operations = [{ kind = "write", datapoints = 1, requests = 2, pause = "50ms" }]
[phases]
others_cpu = "100%"
[ramp]
first = 4
most = 1000
step = "1s"
[stop]
mean_response = "300ms"
"#;

/// A search that was interrupted when the last of its trials was of this kind: what it said, and its folder.
fn interrupted_in(purpose: &str) -> (TempDir, Output, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let (file, out) = (place.path().join("paused.toml"), place.path().join("results"));
    fs::write(&file, PROFILE).unwrap();
    let child = iotbench(&out, &["run", "-p", file.to_str().unwrap(), "-b", "memory"]).spawn().unwrap();
    wait_for(&format!("a trial of the kind {purpose}"), || {
        let purposes = out.is_dir().then(|| purposes(&out)).flatten().unwrap_or_default();
        // Of four users any machine has answers in time; in the bracket and in blocks the second of its kind.
        purposes.iter().filter(|other| *other == purpose).count() >= if purpose == "grow" { 1 } else { 2 }
    });
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let folder = only_folder(&out);
    (place, output, folder)
}

/// What the trials were run for that are kept.
fn purposes(out: &Path) -> Option<Vec<String>> {
    let folder = out.read_dir().ok()?.next()?.ok()?.path();
    let trials = fs::read_to_string(folder.join("trials.jsonl")).ok()?;
    let lines = trials.split_inclusive('\n').skip(1).filter(|line| line.ends_with('\n'));
    Some(lines.filter_map(|line| Some(trial(line)?.0)).collect())
}

/// What a trial was run for, its load, and whether it passed.
fn trial(line: &str) -> Option<(String, u64, bool)> {
    let figures = &serde_json::from_str::<Value>(line).ok()?["figures"];
    let step = &figures["step"];
    Some((step["purpose"].as_str()?.to_owned(), step["load"].as_u64()?, figures["passed"].as_bool()?))
}

#[test]
fn the_interval_that_is_known_is_told_in_growth_in_the_bracket_and_in_blocks() {
    for purpose in ["grow", "bisect", "sentinel"] {
        let (_place, output, folder) = interrupted_in(purpose);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(130), "{purpose}: {}", said(&output));
        let run: Value = serde_json::from_str(&fs::read_to_string(folder.join("run.json")).unwrap()).unwrap();
        assert_eq!(run["verdict"]["status"], "aborted", "{purpose}: {}", run["verdict"]);
        let capacity = &run["capacity"];
        let trials: Vec<_> =
            fs::read_to_string(folder.join("trials.jsonl")).unwrap().lines().filter_map(trial).collect();
        let steps = capacity["steps"].as_array().unwrap();
        assert_eq!(steps.len(), trials.len(), "{purpose}: what had ended counts");
        let sustained = capacity["sustained"].as_u64().unwrap();
        assert!(trials.iter().any(|(_, load, passed)| *load == sustained && *passed), "{purpose}: {trials:?}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&format!("{sustained} virtual users")), "{purpose}: {text}");
        let (lower, upper) = (capacity["lower"].as_u64(), capacity["upper"].as_u64());
        if purpose == "grow" {
            assert_eq!((lower, upper), (Some(sustained), None), "{capacity:#}");
            assert!(words.contains("No load that was tried failed: the limit lies higher."), "{text}");
        } else {
            assert!(lower.is_some() && lower < upper, "{purpose}: {capacity:#}");
            let failed = format!("{} failed", capacity["search"]["at_failed"]["load"]);
            assert!(words.contains(&failed), "{purpose}: {text}");
        }
        assert!(text.contains("ABORTED"), "{purpose}: {text}");
        if purpose == "sentinel" {
            // Every ten seconds: what is tried, why, and how long it still takes.
            let parts = ["measure · step ", " (", ", between ", " users · ", " gone, ", " left · "];
            let is_told = |line: &str| parts.iter().all(|part| line.contains(part));
            assert!(said(&output).lines().any(is_told), "{}", said(&output));
        }
        assert!(words.contains("The search was interrupted: this is what it knew by then."), "{purpose}: {text}");
    }
}
