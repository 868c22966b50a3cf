//! `iotbench generate`.

use crate::command_line::program::{call, iotbench};
use std::{
    io::{BufRead, BufReader, Read},
    time::{Duration, Instant},
};

const DATASETS: [&str; 11] = [
    "machine",
    "pmu",
    "smart_meter",
    "weather",
    "greenhouse",
    "compressor",
    "text",
    "tsbs_cpu",
    "tsbs_iot",
    "tpcx_iot",
    "iot_benchmark",
];

#[test]
fn a_stretch_has_all_its_datapoints_in_every_format() {
    for (format, head) in [("csv", 1), ("json", 0), ("influx", 0)] {
        let said = call(&["generate", "--dataset", "pmu", "--for", "10s", "--devices", "3", "--format", format]);
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        assert_eq!(said.out.lines().count(), 3 * 500 + head, "{format}");
        assert!(said.out.ends_with('\n'));
    }
}

#[test]
fn what_begins_later_is_the_same_from_there_on() {
    let rows = |from: &str, length: &str| {
        let arguments =
            ["generate", "--dataset", "machine", "--from", from, "--for", length, "--format", "json", "--seed", "7"];
        call(&arguments).out
    };
    let whole = rows("2026-01-01T00:00:00Z", "3s");
    assert!(whole.ends_with(&rows("2026-01-01T00:00:02Z", "1s")));
    assert_eq!(whole.lines().count(), 3000);
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_one_others() {
    let bytes = |seed: &str| call(&["generate", "--dataset", "pmu", "--for", "1s", "--seed", seed]).out;
    assert_eq!(bytes("5"), bytes("5"));
    assert_ne!(bytes("5"), bytes("6"));
}

#[test]
fn parameters_are_taken() {
    let said = call(&["generate", "--dataset", "pmu", "--set", "rate=10", "--for", "1s"]);
    assert_eq!(said.out.lines().count(), 11, "{}", said.err);
}

#[test]
fn an_endless_stream_ends_quietly_when_nobody_reads_on() {
    for dataset in DATASETS {
        let mut child = iotbench(&["generate", "--dataset", dataset, "--format", "influx"]).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.by_ref().take(3).all(|line| line.unwrap().len() > 10));
        drop(lines);
        let begun = Instant::now();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""), "{dataset}");
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn a_file_is_written_or_the_failure_is_local() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pmu.csv");
    let to = |file: &str| call(&["generate", "--dataset", "pmu", "--for", "1s", "--out", file]);
    let said = to(file.to_str().unwrap());
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 51);
    let said = to("/proc/iotbench/pmu.csv");
    assert_eq!(said.code, 30, "{}", said.err);
    assert!(said.err.contains("/proc/iotbench/pmu.csv"), "{}", said.err);
    assert_eq!(to("/dev/full").code, 30);
}

#[test]
fn one_device_is_named_as_many_are() {
    for (format, name) in [("csv", ",pmu-0,"), ("json", "\"device\":\"pmu-0\""), ("influx", "pmu,device=pmu-0 ")] {
        let said = call(&["generate", "--dataset", "pmu", "--devices", "1", "--for", "40ms", "--format", format]);
        let named = said.out.lines().filter(|line| line.contains(name)).count();
        assert_eq!(named, 2, "{format}: {}", said.out);
    }
}
