//! Figures of which only a bound can be known: what is not answered, and what never starts, makes none of them better.

use crate::{
    end_to_end::{
        interruption::{Locked, read_until, wait_for},
        program::{document, iotbench, only_folder, run, said},
    },
    soundness::at_most_us,
};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::Command,
};

fn shown(folder: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_iotbench")).arg("show").arg(folder).output().unwrap();
    String::from_utf8(output.stdout).unwrap().replace('\u{a0}', " ")
}

/// The row of a table that begins with this word: of a table that is too wide it goes on below, after the word once more.
fn row(text: &str, word: &str) -> String {
    let lines: Vec<_> = text.lines().filter(|line| line.starts_with(word)).collect();
    assert!(!lines.is_empty(), "no {word} in {text}");
    lines.join("\n")
}

#[track_caller]
fn assert_overloaded(verdict: &Value, why: &str) {
    let reasons = verdict["reasons"].as_array().unwrap();
    let found = reasons.iter().filter_map(Value::as_str).find(|reason| reason.starts_with("overloaded: "));
    assert!(found.is_some_and(|reason| reason.contains(why)), "{verdict:#}");
    assert_eq!((&verdict["status"], &verdict["exit_code"]), (&"invalid".into(), &11.into()));
}

/// Many times what a file can take: of those that were due most never start, and no figure is that of the few that did.
#[test]
fn an_overload_is_no_valid_run_and_its_quantiles_are_bounds() {
    let load = ["-p", "machine_write", "-b", "sqlite", "--arrival", "constant", "-r", "200000", "-d", "2s"];
    let run = run(&[&load[..], &["--warmup", "0", "--set", "drain=100ms"]].concat());
    assert_overloaded(run.figure("verdict"), "were due and never started");
    assert!(run.count("load.pending") * 2 > run.count("load.offered"), "{:#}", run.figure("load"));
    let response = run.figure("latency.by_operation.response");
    for name in ["p50", "p90", "p99", "mean", "max"] {
        assert!(response[name].is_null(), "{name} is that of the survivors: {}", response[name]);
        assert!(response["at_least"][name].as_f64() > Some(0.0), "{name}: {:#}", response["at_least"]);
    }
    assert_eq!(response["at_least"]["count"], run.count("load.offered"));
    let text = shown(&run.folder);
    assert!(text.starts_with("INVALID") && text.contains("response p99 ≥ "), "{text}");
    let cells = row(&text, "response");
    assert_eq!(cells.matches('≥').count(), 7, "{cells}");
}

/// What is easily carried is called no overload, whatever else is said of it.
#[test]
fn a_load_that_is_carried_is_no_overload() {
    let run =
        run(&["-p", "machine_write", "-b", "sqlite", "--arrival", "poisson", "-r", "20", "-d", "7s", "--warmup", "0"]);
    let reasons = run.figure("verdict.reasons").to_string();
    assert!(!reasons.contains("overloaded"), "{reasons}");
    assert!(run.figure("latency.by_operation.response.at_least").is_null() || run.count("load.pending") > 0);
}

#[test]
fn sensors_that_lose_most_of_their_datapoints_are_an_overload() {
    let load = ["-p", "machine_write", "-b", "sqlite", "-r", "200000", "-d", "2s", "--warmup", "0"];
    let run = run(&load);
    assert_overloaded(run.figure("verdict"), "were lost, because the queues of their sensors were full");
    assert!(run.count("points.dropped") * 2 > run.count("points.generated"));
}

/// The database stands still from a moment in the load to its end, which does not wait for what is due by then: so many operations
/// cannot be left out of a 99th percentile.
#[test]
fn a_stall_at_the_end_is_in_the_quantiles() {
    let out = tempfile::tempdir().unwrap();
    let (locked, results) = (Locked::new(out.path()), out.path().join("results"));
    let fixed = ["run", "--output-format", "json", "-p", "machine_write", "--arrival", "constant", "-r", "400"];
    let patient = ["-d", "5s", "--warmup", "0", "--set", "drain=1ms", "--set", "backend.sqlite.busy_timeout_ms=600000"];
    let mut child = iotbench(&results, &[&fixed[..], &patient, &["--url", &locked.url]].concat()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let seconds = || {
        let folder = results.read_dir().ok().and_then(|mut entries| entries.next()).and_then(Result::ok);
        let series = folder.and_then(|folder| fs::read_to_string(folder.path().join("series.csv")).ok());
        series.map_or(0, |text| text.lines().count().saturating_sub(1))
    };
    wait_for("three seconds", || seconds() >= 3);
    let held = locked.hold();
    read_until(&mut lines, "drain");
    drop(held);
    lines.for_each(drop);
    let output = child.wait_with_output().unwrap();
    let document = document(&output);
    assert!(document["load"]["ok"].as_u64() >= Some(1_000), "{}", said(&output));
    let response = &document["latency"]["by_operation"]["response"];
    assert!(response["p99"].is_null() && response["mean"].is_null(), "{response:#}");
    let least_us = response["at_least"]["p99"].as_f64().unwrap();
    assert!(least_us > 500_000.0, "the first waited from the stall to the end: {least_us}");
    let known = at_most_us(response, "p50");
    assert!(known.is_some_and(|us| us < least_us), "the others do not matter to the median: {response:#}");
    let text = shown(&only_folder(&results));
    assert!(text.contains("response p99 ≥ "), "{text}");
    assert!(row(&text, "response").contains('≥'), "{text}");
}
