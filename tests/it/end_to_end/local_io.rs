//! Folders and files that cannot be written.

use crate::end_to_end::program::{iotbench, run, said};
use std::{fs, path::Path, process::Command};

const SHORT: [&str; 7] = ["run", "-p", "pmu_write", "--vus", "5", "-d", "1s"];

#[test]
fn a_results_folder_that_cannot_be_made_is_local_io() {
    for out in ["/proc/iotbench", "/dev/null/results"] {
        let output = iotbench(Path::new(out), &SHORT).output().unwrap();
        assert_eq!(output.status.code(), Some(30), "{}", said(&output));
        assert!(said(&output).contains(out), "{}", said(&output));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_database_path_that_cannot_be_written_is_no_connection() {
    let run = run(&["-p", "pmu_write", "--vus", "5", "-d", "1s", "--url", "sqlite:/proc/iotbench.sqlite"]);
    assert_eq!((run.figure("verdict.status").as_str(), run.code), (Some("failed"), 20));
}

#[test]
fn what_is_wrong_with_a_profile_leaves_no_folder_behind() {
    let out = tempfile::tempdir().unwrap();
    let output = iotbench(out.path(), &[&SHORT[..], &["--set", "stepp=3s"]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert_eq!(out.path().read_dir().unwrap().count(), 0);
}

/// A small file system of its own, unmounted at the end.
struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    fn tmpfs(path: &'a Path, size: &str) -> Option<Self> {
        let options = format!("size={size}");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(path).status();
        mount.is_ok_and(|s| s.success()).then_some(Self(path))
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn a_disk_that_fills_keeps_the_last_good_document() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mounted) = Mounted::tmpfs(folder.path(), "24m") else {
        eprintln!("skipped: no file system can be mounted here (needs root)");
        return;
    };
    let arguments = ["run", "-p", "pmu_write", "-b", "blackhole", "--vus", "5", "-d", "1h"];
    let out = mounted.0.join("results");
    let child = iotbench(&out, &arguments).spawn().unwrap();
    let run_json = || out.read_dir().ok()?.next().map(|f| f.unwrap().path().join("run.json"));
    let start = std::time::Instant::now();
    while !run_json().is_some_and(|p| p.exists()) {
        assert!(start.elapsed().as_secs() < 60, "no document was written");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let mut filler = fs::File::create(mounted.0.join("filler")).unwrap();
    while std::io::Write::write_all(&mut filler, &[0; 1 << 16]).is_ok() {}
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(30), "{}", said(&output));
    let text = fs::read_to_string(run_json().unwrap()).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "the last good document is whole: {text}");
    assert!(said(&output).contains("\"schema\""), "what was measured is shown: {}", said(&output));
}

#[test]
fn sittings_without_room_for_their_results_are_refused_before_anything_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mounted) = Mounted::tmpfs(folder.path(), "256m") else {
        eprintln!("skipped: no file system can be mounted here (needs root)");
        return;
    };
    for arguments in [&[&SHORT[..], &["-b", "blackhole"]].concat()[..], &["suite", "quick"]] {
        let output = iotbench(mounted.0, &[arguments, &["--sessions", "1000"]].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(30), "{}", said(&output));
        assert!(said(&output).contains("make room"), "{}", said(&output));
        assert_eq!(mounted.0.read_dir().unwrap().count(), 0);
    }
}

#[test]
fn a_ramp_without_room_for_its_first_step_is_refused_before_anything_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mounted) = Mounted::tmpfs(folder.path(), "256m") else {
        eprintln!("skipped: no file system can be mounted here (needs root)");
        return;
    };
    let output = iotbench(mounted.0, &["run", "-p", "pmu_write"]).output().unwrap();
    assert_eq!(output.status.code(), Some(30), "{}", said(&output));
    assert!(said(&output).contains("make room"), "{}", said(&output));
    assert_eq!(mounted.0.read_dir().unwrap().count(), 0);
}
