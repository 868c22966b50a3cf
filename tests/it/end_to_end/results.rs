//! The results folder, and reading it again.

use crate::{
    end_to_end::program::{Run, run},
    soundness::at_most_us,
};
use std::{fs, process::Command};

fn short() -> Run {
    // Many operations, so that other readers' ways to rank sparse samples do not matter.
    run(&["-p", "machine_write", "-b", "blackhole", "--arrival", "constant", "-r", "5000", "-d", "4s", "--trace"])
}

#[test]
fn every_file_is_there_and_the_document_follows_the_committed_schema() {
    let run = short();
    for file in ["run.json", "series.csv", "latency.hlog", "operations.jsonl", "profile.toml", "manifest.json"] {
        assert!(run.folder.join(file).exists(), "{file}");
    }
    assert!(!run.folder.join("ledger.bin").exists(), "nothing can be read again");
    let on_disk: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(run.folder.join("run.json")).unwrap()).unwrap();
    assert_eq!(on_disk, run.document);
    let schema = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/run.schema.json")).unwrap();
    let schema = serde_json::from_str(&schema).unwrap();
    let errors: Vec<_> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&on_disk).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(run.count("load.offered"), 20_000);
}

#[test]
fn a_trace_tells_every_operation() {
    let run = short();
    let trace = fs::read_to_string(run.folder.join("operations.jsonl")).unwrap();
    let mut told = 0;
    for line in trace.lines() {
        let operation: serde_json::Value = serde_json::from_str(line).unwrap();
        let of = |key: &str| operation[key].as_u64().unwrap_or_else(|| panic!("no {key} in {line}"));
        assert!(of("intended_ns") <= of("sent_ns") && of("sent_ns") <= of("replied_ns"), "{line}");
        told += 1;
    }
    assert!(told >= run.count("load.started"), "{told} operations were told");
}

#[test]
fn a_finished_run_is_shown_again() {
    let run = short();
    let show = Command::new(env!("CARGO_BIN_EXE_iotbench")).arg("show").arg(&run.folder).output().unwrap();
    let text = String::from_utf8(show.stdout).unwrap();
    assert!(show.status.success() && text.contains("machine_write on blackhole") && text.contains("20,000"), "{text}");
}

#[test]
fn the_histogram_log_opens_elsewhere() {
    let Some(python) = std::env::var_os("IOTBENCH_PYTHON") else {
        assert!(
            std::env::var_os("IOTBENCH_REQUIRE_SERVERS").is_none(),
            "IOTBENCH_PYTHON must name a Python with hdrhistogram"
        );
        eprintln!("skipped: IOTBENCH_PYTHON does not name a Python with the package hdrhistogram");
        return;
    };
    // Without a warm-up the log holds what the figures are made of, and nothing else.
    let load = ["-p", "machine_write", "-b", "blackhole", "--arrival", "constant", "-r", "5000", "-d", "4s"];
    let run = run(&[&load[..], &["--warmup", "0"]].concat());
    let script = "
import sys
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
total = HdrHistogram(1, 86400000000000, 3)
reader = HistogramLogReader(sys.argv[1], total)
while True:
    interval = reader.get_next_interval_histogram()
    if interval is None:
        break
    if interval.get_tag() == 'response':
        total.add(interval)
print(total.get_total_count(), total.get_value_at_percentile(50))
";
    let output = Command::new(python).args(["-c", script]).arg(run.folder.join("latency.hlog")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut words = text.split_whitespace();
    let count: u64 =
        words.next().unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr))).parse().unwrap();
    let p50_us = words.next().unwrap().parse::<f64>().unwrap() / 1000.0;
    assert_eq!(count, run.count("latency.by_operation.response.count"), "operations in the log");
    let ours = at_most_us(run.figure("latency.by_operation.response"), "p50").unwrap();
    assert!((p50_us / ours - 1.0).abs() < 0.05, "p50 {p50_us} µs there, {ours} µs here");
}

/// What decides a result is in its fingerprint: the same again is the same, another setting of the database is not.
#[test]
fn the_fingerprint_is_that_of_the_settings() {
    let fingerprint = |more: &[&str]| {
        let load = ["-p", "pmu_write", "--vus", "2", "-d", "1s", "--warmup", "0"];
        run(&[&load[..], more].concat()).figure("fingerprint").as_str().unwrap().to_owned()
    };
    let same = fingerprint(&[]);
    assert_eq!(fingerprint(&[]), same);
    for other in [["--set", "backend.sqlite.synchronous=OFF"], ["--seed", "2"], ["--batch", "7"]] {
        assert_ne!(fingerprint(&other), same, "{other:?}");
    }
}
