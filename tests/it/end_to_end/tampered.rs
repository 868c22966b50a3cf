//! What somebody changes in a history that an earlier run left is found.

use crate::end_to_end::program::{document, iotbench, only_folder, said};
use crate::soundness::assert_sound;
use rusqlite::Connection;
use serde_json::Value;
use std::{fs, path::PathBuf};
use tempfile::TempDir;

/// Each read asks for all that a device has.
const PROFILE: &str = r#"
name = "tampered"
summary = "every read asks for all records of a device"
devices = 2
[dataset]
name = "pmu"
rate = 50
[[groups]]
name = "readers"
load = { model = "closed", users = 2 }
operations = [{ kind = "read_device" }]
[phases]
preload = 40
operations = 20
duration = "1m"
"#;

/// A file that runs leave their history in.
struct Kept {
    folder: TempDir,
    layout: &'static str,
}

impl Kept {
    fn new(layout: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tampered.toml"), PROFILE).unwrap();
        Self { folder, layout }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A run that leaves it again: its exit code and its document.
    fn run(&self, more: &[&str]) -> (i32, Value) {
        let (profile, url) = (self.path("tampered.toml"), format!("sqlite:{}", self.path("kept.db").display()));
        let backend = format!("sqlite:{}", self.layout);
        let read = ["run", "-p", profile.to_str().unwrap(), "-b", &backend, "--url", &url, "--warmup", "0"];
        let ways = ["--verify", "full", "--output-format", "json"];
        let output = iotbench(&self.path("results"), &[&read[..], &ways, more].concat()).output().unwrap();
        (output.status.code().unwrap(), document(&output))
    }

    fn sound_run(&self, more: &[&str]) -> Value {
        let (code, document) = self.run(more);
        assert_sound(&document, code, self.layout);
        document
    }

    fn change(&self, statement: &str) {
        let changed = Connection::open(self.path("kept.db")).unwrap().execute(statement, []).unwrap();
        assert_eq!(changed, 1, "{statement}");
    }
}

#[test]
fn what_was_changed_in_a_kept_history_is_found() {
    let first = "WHERE rowid = (SELECT min(rowid) FROM iotbench_tampered)";
    for (layout, changes) in [
        (
            "wide",
            ["UPDATE iotbench_tampered SET analog_01 = analog_01 + 1", "UPDATE iotbench_tampered SET ts = ts + 1"],
        ),
        (
            "narrow",
            [
                "UPDATE iotbench_tampered SET measurement = measurement + 1",
                "UPDATE iotbench_tampered SET nanosecond = nanosecond + 1",
            ],
        ),
        (
            "document",
            [
                "UPDATE iotbench_tampered SET doc = json_set(doc, '$.analog_01', 1e6)",
                "UPDATE iotbench_tampered SET ts = ts + 1",
            ],
        ),
        (
            "bulk",
            [
                "UPDATE iotbench_tampered SET measurements = json_set(measurements, '$.measurements[0].m[0]', 1e6)",
                "UPDATE iotbench_tampered SET measurements = json_set(measurements, '$.measurements[0].ns', 1)",
            ],
        ),
    ] {
        for change in changes.into_iter().chain(["DELETE FROM iotbench_tampered"]) {
            let kept = Kept::new(layout);
            kept.sound_run(&["--keep"]);
            let document = kept.sound_run(&["--keep"]);
            assert!(document["remarks"].to_string().contains("that of an earlier run"), "{document:#}");
            kept.change(&format!("{change} {first}"));
            let (code, document) = kept.run(&["--keep"]);
            let what = format!("{layout} {change}: {:#} {:#}", document["verdict"], document["answers"]);
            assert_eq!(code, 12, "{what}");
            let example = document["answers"]["examples"][0].as_str().unwrap();
            let tells = ["should be", "there are", "is missing", "and not"].iter().any(|word| example.contains(word));
            assert!(example.contains("Range") && tells, "{what}");
            assert!(document["answers"]["right"].as_u64() > Some(0), "the other device is as it was: {what}");
            let is_told = document["remarks"].to_string().contains("was changed since");
            assert!(is_told || !change.starts_with("DELETE"), "{:#}", document["remarks"]);
            // As it says: a run without --keep drops it, and the next one writes it anew.
            assert_eq!(kept.run(&[]).0, 12);
            kept.sound_run(&[]);
        }
    }
}

/// What a killed run left half written is no tampering: the next run says so, and writes the history anew.
#[test]
fn a_history_that_was_not_written_whole_is_written_anew() {
    let kept = Kept::new("wide");
    kept.sound_run(&["--keep"]);
    kept.change("UPDATE iotbench_marker SET run_id = run_id || '-unfinished'");
    kept.change("DELETE FROM iotbench_tampered WHERE rowid = 1");
    let document = kept.sound_run(&["--keep"]);
    assert!(document["remarks"].to_string().contains("ended before its history was whole"), "{document:#}");
    assert_eq!(document["points"]["stored"], 80);
}

#[test]
fn what_carries_our_marker_in_a_file_is_listed_and_dropped() {
    let kept = Kept::new("wide");
    kept.sound_run(&["--keep"]);
    let url = format!("sqlite:{}", kept.path("kept.db").display());
    let clean = |more: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_iotbench"))
            .args([&["clean", "--url", &url], more].concat())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(clean(&["--dry-run"]).starts_with("iotbench_tampered, of run "));
    assert!(clean(&[]).starts_with("dropped iotbench_tampered, of run "));
    assert!(!kept.path("kept.db").exists());
    assert!(only_folder(&kept.path("results")).exists());
}
