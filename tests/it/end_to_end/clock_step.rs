//! The wall clock is stepped by an hour forwards and by two backwards while a run measures, and nothing of it is seen.

use crate::end_to_end::program::{document, iotbench, said};
use crate::soundness::{assert_sound, at_most_us};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Debian's package libfaketime: what a process asks of the wall clock is answered from a file.
fn libfaketime() -> Option<PathBuf> {
    let folders =
        fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path().join("faketime/libfaketimeMT.so.1"));
    folders.into_iter().find(|library| library.exists())
}

fn set(clock: &Path, offset: &str) {
    let new = clock.with_extension("new");
    fs::write(&new, offset).unwrap();
    fs::rename(new, clock).unwrap();
}

/// The series as far as it is written.
fn rows(out: &Path) -> usize {
    let folder = out.read_dir().unwrap().next().and_then(Result::ok);
    let series = folder.and_then(|folder| fs::read_to_string(folder.path().join("series.csv")).ok());
    series.map_or(0, |series| series.lines().count().saturating_sub(1))
}

fn wait_for_rows(out: &Path, count: usize) {
    let start = Instant::now();
    while rows(out) < count {
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain for {count} rows");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_stepped_wall_clock_changes_no_figure() {
    let Some(library) = libfaketime() else {
        assert!(std::env::var_os("IOTBENCH_REQUIRE_SERVERS").is_none(), "libfaketime not found: install libfaketime");
        eprintln!("skipped: libfaketime not found");
        return;
    };
    let (out, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let clock = place.path().join("clock");
    set(&clock, "+0");
    let load = ["-p", "machine_write", "-b", "sqlite:wide", "--arrival", "constant", "-r", "200", "-d", "4s"];
    let arguments = [&["run", "--output-format", "json", "--verify", "full", "--warmup", "0"], &load[..]].concat();
    let mut command = iotbench(out.path(), &arguments);
    command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", &clock);
    // The monotonic clock is the machine's: no clock step moves that one.
    let run = command.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1").spawn().unwrap();
    wait_for_rows(out.path(), 1);
    set(&clock, "+3600");
    wait_for_rows(out.path(), 2);
    set(&clock, "-3600");
    let output = run.wait_with_output().unwrap();
    let document = document(&output);
    let figure = |pointer: &str| document.pointer(pointer).cloned().unwrap_or(Value::Null);
    assert_sound(&document, output.status.code().unwrap(), said(&output));
    assert_eq!((figure("/measured/from_s"), figure("/measured/to_s")), (0.0.into(), 4.0.into()));
    assert_eq!((figure("/load/offered"), figure("/load/ok")), (800.into(), 800.into()));
    assert_eq!(figure("/throughput/operations_per_s"), 200.0);
    for times in ["response", "service", "lag"] {
        let of = |which: &str| at_most_us(&figure(&format!("/latency/by_operation/{times}")), which).unwrap();
        assert!(0.0 <= of("min") && of("max") < 60e6, "{times}: {} to {} µs", of("min"), of("max"));
        assert_eq!(figure(&format!("/latency/by_operation/{times}/count")), 800);
    }
    // The datapoints are those of the plan, with its times.
    let audit = figure("/audit");
    assert_eq!((&audit["right"], &audit["lost"], &audit["alien"]), (&figure("/points/acked"), &0.into(), &0.into()));
}
