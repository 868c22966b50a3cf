//! `kill -9` at any moment: what was known up to the last second comes back, and what was acknowledged is stored.

use crate::end_to_end::{
    interruption::{Locked, PATIENT, begun, read_until, wait_for},
    program::{document, iotbench, only_folder, said},
};
use crate::soundness::assert_sound;
use iotbench_report::{Document, check_manifest, read_document};
use serde_json::Value;
use std::{
    fs,
    path::Path,
    process::{Child, Command, Output},
    time::Duration,
};

/// The program with these arguments alone.
fn called(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_iotbench")).env_remove("IOTBENCH_URL").args(arguments).output().unwrap()
}

fn call(command: &str, folder: &Path, more: &[&str]) -> Output {
    let mut call = Command::new(env!("CARGO_BIN_EXE_iotbench"));
    call.env_remove("IOTBENCH_URL").arg(command).arg(folder).args(more).output().unwrap()
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Recovers a run, and holds what comes of it against the schema, the identities and the database.
fn recovered(folder: &Path, verify: &[&str], case: &str) -> Document {
    let output = call("recover", folder, &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{case}: {}", said(&output));
    let json: Value = document(&output);
    let schema: Value = serde_json::from_str(include_str!("../../../docs/run.schema.json")).unwrap();
    let errors: Vec<_> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&json).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{case}: {errors:?}");
    let document = read_document(folder).unwrap();
    assert_eq!(serde_json::to_value(&document).unwrap(), json, "{case}: what is printed is what is kept");
    assert_eq!(document.check(), Ok(()), "{case}");
    assert_eq!(
        (&json["verdict"]["status"], &json["verdict"]["reasons"][0]),
        (&"aborted".into(), &"iotbench was killed".into())
    );
    assert!(check_manifest(folder).unwrap().is_empty(), "{case}");
    let again = call("recover", folder, &[]);
    assert_eq!(again.status.code(), Some(2), "{case}: {}", said(&again));
    assert!(said(&again).contains("nothing to recover"), "{case}");
    // Before the table is made there is nothing to be verified.
    if document.points.counts.sent > 0 {
        let verified = call("verify", folder, &[verify, &["--full", "--json"]].concat());
        assert_eq!(
            verified.status.code(),
            Some(0),
            "{case}: {} {}",
            said(&verified),
            String::from_utf8_lossy(&verified.stdout)
        );
        let found: Value = serde_json::from_slice(&verified.stdout).unwrap();
        assert!(found["counted"].as_u64() >= Some(document.points.counts.acked), "{case}: {found:#}");
    }
    document
}

/// The seconds that a run has told so far.
fn rows(folder: &Path) -> u64 {
    let series = fs::read_to_string(folder.join("series.csv")).unwrap_or_default();
    (series.lines().count() as u64).saturating_sub(1)
}

#[test]
fn a_run_that_is_killed_at_any_moment_comes_back() {
    let mut phases = Vec::new();
    // From the first moment, in which there is no folder yet, to the end of the load.
    for number in 0..10_u64 {
        let out = tempfile::tempdir().unwrap();
        let load = ["run", "-p", "pmu_write", "--vus", "20", "--warmup", "1s", "-d", "3s", "--set", "preload=200"];
        let child = iotbench(out.path(), &load).spawn().unwrap();
        // Multiples of the golden section lie everywhere.
        std::thread::sleep(Duration::from_millis((number * 618) % 1_000 + number % 4 * 1_000));
        let folder = out.path().read_dir().unwrap().next().map(|entry| entry.unwrap().path());
        let told = folder.as_deref().map_or(0, rows);
        kill(child);
        let Some(folder) = folder.filter(|folder| folder.join("run.json").exists()) else { continue };
        if read_document(&folder).unwrap().verdict.status != iotbench_report::Status::Running {
            continue;
        }
        let document = recovered(&folder, &[], &format!("kill {number}"));
        let to_s = document.measured.as_ref().and_then(|measured| measured.to_s).unwrap_or(1.0);
        // What had been told before the kill is in it, but for a second that was being told.
        assert!(to_s + 1.0 >= told.min(4) as f64, "kill {number}: {told} seconds were told, {to_s} came back");
        if told > 2 {
            assert!(document.latency.is_some_and(|latency| latency.by_operation.response.count > 0), "kill {number}");
        }
        phases.push(document.phase);
    }
    assert!(phases.iter().any(|phase| phase == "measure") && phases.len() >= 5, "{phases:?}");
}

#[test]
fn every_phase_comes_back() {
    for phase in ["preload", "warm up", "drain", "verify"] {
        let out = tempfile::tempdir().unwrap();
        let (locked, results) = (Locked::new(out.path()), out.path().join("results"));
        let more: &[&str] = match phase {
            "preload" => &["--set", "preload=100M", "--vus", "1000", "-d", "1s"],
            "warm up" => &["--vus", "2", "--warmup", "1h", "-d", "1s"],
            _ => &[&PATIENT[..], &["-d", "2s"]].concat(),
        };
        let (child, mut lines) = begun(&results, &[more, &["--url", &locked.url]].concat());
        let held = match phase {
            "drain" => Some(locked.hold_writes(&mut lines)),
            "verify" => Some(locked.hold_reads(&mut lines)),
            _ => None,
        };
        read_until(&mut lines, phase);
        let folder = only_folder(&results);
        // Said before it is written.
        let line = format!("\"phase\":\"{}\"", phase.replace(' ', "_"));
        let journal = || fs::read_to_string(folder.join("journal.jsonl")).unwrap_or_default();
        wait_for("the phase to be kept", || journal().contains(&line));
        if ["warm up", "drain"].contains(&phase) {
            // The journal is written last of a second's files.
            wait_for("two seconds", || journal().matches("\"line\":\"second\"").count() >= 2);
        }
        kill(child);
        drop(held);
        let document = recovered(&folder, &["--url", &locked.url], phase);
        assert_eq!(document.phase.replace('_', " "), phase);
        match phase {
            "warm up" => {
                assert!(document.measured.is_none() && document.points.counts.acked > 0, "{:?}", document.points);
            }
            "drain" => assert_eq!(document.measured.and_then(|measured| measured.to_s), Some(2.0)),
            "verify" => assert!(document.latency.is_some() && !document.resources.is_empty(), "all of it is known"),
            _ => assert_eq!(document.load.counts.offered, 0),
        }
        let shown = call("show", &folder, &[]);
        assert!(String::from_utf8_lossy(&shown.stdout).contains("iotbench was killed"), "{}", said(&shown));
    }
}

#[test]
fn what_is_left_and_what_to_do_is_said() {
    let out = tempfile::tempdir().unwrap();
    let (locked, results) = (Locked::new(out.path()), out.path().join("results"));
    let (child, mut lines) = begun(&results, &["--vus", "2", "-d", "1h", "--url", &locked.url]);
    read_until(&mut lines, "measure");
    kill(child);
    let output = call("recover", &only_folder(&results), &[]);
    let said = said(&output);
    for words in ["iotbench_pmu_write", "locked.db", "iotbench verify", "clean --url sqlite:", "marker"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("ABORTED"), "{output:?}");
}

#[test]
fn of_two_runs_on_one_file_one_proceeds() {
    for number in 0..20 {
        let out = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", out.path().join("one.db").display());
        let arguments = ["run", "-p", "pmu_write", "--vus", "2", "-d", "1h", "--url", &url];
        let folder = |name: &str| out.path().join(name);
        let [mut a, mut b] = ["a", "b"].map(|name| iotbench(&folder(name), &arguments).spawn().unwrap());
        wait_for("one of them to be refused", || {
            [&mut a, &mut b].into_iter().any(|child| child.try_wait().unwrap().is_some())
        });
        let a_lost = a.try_wait().unwrap().is_some();
        let (loser, mut winner, names) = if a_lost { (a, b, ["a", "b"]) } else { (b, a, ["b", "a"]) };
        let pid = winner.id();
        let output = loser.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(31), "race {number}: {}", said(&output));
        assert!(said(&output).contains("one.db is in use by another iotbench"), "{}", said(&output));
        assert!(!folder(names[0]).exists(), "the one that was refused made nothing");
        assert!(winner.try_wait().unwrap().is_none(), "race {number}: the other goes on");
        if number == 0 {
            wait_for("its folder", || folder(names[1]).join("").read_dir().is_ok_and(|mut d| d.next().is_some()));
            let again = iotbench(&folder("c"), &arguments).output().unwrap();
            assert!(said(&again).contains(&format!("(process {pid}, since 20")), "{}", said(&again));
            let held = only_folder(&folder(names[1]));
            wait_for("its first document", || held.join("run.json").exists());
            let recovering = call("recover", &held, &[]);
            assert_eq!(recovering.status.code(), Some(31), "{}", said(&recovering));
            let cleaning = called(&["clean", "--url", &url]);
            assert_eq!(cleaning.status.code(), Some(31), "{}", said(&cleaning));
        }
        kill(winner);
        // A lock goes with its process, however that ends.
        if number == 0 {
            let next = [&arguments[..5], &["-d", "1s", "--url", &url, "--output-format", "json"]].concat();
            let next = iotbench(&folder("d"), &next).output().unwrap();
            assert_sound(&document(&next), next.status.code().unwrap(), said(&next));
        }
    }
}
