//! What a run had its disk write, whenever the disk wrote it.

use crate::{
    end_to_end::program::{Run, run_in},
    soundness::is_looked_at_late,
};
use serde_json::Value;
use std::path::Path;

/// 200 transactions of a thousand datapoints.
fn filled(synchronous: &str, more: &[&str]) -> Run {
    let set = format!("backend.sqlite.synchronous={synchronous:?}");
    let load = ["-p", "compressor_insert", "-b", "sqlite", "--arrival", "closed", "--vus", "1", "--batch", "1000"];
    let length = ["--operations", "200", "-d", "60s", "--warmup", "0", "--set", &set];
    // On a disk, wherever temporary files lie.
    let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let run = run_in(out, &[&load[..], &length, more].concat());
    run.assert_sound();
    run
}

fn database(run: &Run) -> &Value {
    let roles = run.figure("resources").as_array().unwrap();
    roles.iter().find(|role| role["role"] == "client+database").unwrap()
}

fn growth(run: &Run) -> f64 {
    (run.count("storage.bytes_after") - run.count("storage.bytes_before")) as f64
}

/// Without a wait for the disk each page of the file is written once; with one, each page once in the write-ahead log and once
/// in the file. The results of the run are 2 % more, and the last pages of a log are written again. A log of 4 MiB that is removed
/// before it was written counts as written where others have pages wait.
#[test]
fn what_the_disk_writes_after_the_run_is_counted() {
    for (synchronous, times) in [("OFF", 1.0), ("NORMAL", 2.1), ("FULL", 2.1)] {
        let run = filled(synchronous, &[]);
        let (role, expected) = (database(&run), times * growth(&run));
        if is_looked_at_late(role) {
            continue;
        }
        let most = role["disk_written_most_bytes"].as_f64().unwrap();
        assert!((most / expected - 1.0).abs() < 0.15, "{synchronous}: {most} of {expected}: {role:#}");
        let least = role["disk_written_least_bytes"].as_f64().unwrap();
        assert!(least <= 1.15 * expected, "{synchronous}: {least} of {expected}: {role:#}");
        // Others that write meanwhile make it a range, and no figure.
        let figure = role["disk_written_bytes"].as_f64();
        assert!(figure.is_none_or(|figure| figure == most && least >= 0.85 * most), "{role:#}");
        assert!(run.figure("storage.write_back_s").is_number(), "{}", run.figure("storage"));
    }
}

#[test]
fn memory_is_no_disk() {
    let in_memory = Path::new("/dev/shm");
    if !in_memory.is_dir() {
        eprintln!("skipped: there is no /dev/shm");
        return;
    }
    let folder = tempfile::tempdir_in(in_memory).unwrap();
    let url = format!("sqlite:{}", folder.path().join("data.sqlite").display());
    let run = filled("FULL", &["--url", &url]);
    let role = database(&run);
    assert!(role["disk_written_bytes"].is_null() && role["disk_written_most_bytes"].is_null(), "{role:#}");
    assert!(role["note"].as_str().unwrap().contains("in memory"), "{role:#}");
    assert!(run.figure("storage.write_back_s").is_null());
}
