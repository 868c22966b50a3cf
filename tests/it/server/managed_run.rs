//! `iotbench run` with a private server, on every backend that has one.

use crate::server::{
    on_a_server::{Ended, sound},
    place::{Place, SERVERS, every_server, is_alive, is_here, kill, parent, some_servers, wait_for, wait_for_series},
};
use iotbench_backends::BACKENDS;
use procfs::process::Process;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::Child,
};

/// Longer than any test waits: a run that does not end by itself.
const ENDLESS: &str = "1h";

fn arguments<'a>(place: &'a str, backend: &'a str, duration: &'a str) -> Vec<&'a str> {
    // A closed loop has no schedule that a busy machine could break.
    let load = ["run", "-p", "pmu_write", "--vus", "5", "-b", backend, "--warmup", "0", "-d", duration];
    [&load[..], &["--output-format", "json", "--out", place]].concat()
}

/// The one results folder.
fn results(place: &Place) -> PathBuf {
    let mut entries = place.results().read_dir().unwrap();
    entries.next().unwrap().unwrap().path()
}

/// A run that has begun to measure: its series has rows.
fn measuring(place: &Place, backend: &str) -> Child {
    let out = place.results();
    let child = place.iotbench(&arguments(out.to_str().unwrap(), backend, ENDLESS)).spawn().unwrap();
    wait_for_series(place);
    child
}

/// The process of the server in a place: the one that its supervisor started.
fn server(place: &Place) -> i32 {
    let is_supervisor = |pid| Process::new(pid).unwrap().cmdline().unwrap().last().is_some_and(|w| w == "supervise");
    let mut pids = place.processes().into_iter().map(|(pid, _)| pid);
    pids.find(|&pid| is_supervisor(parent(pid))).unwrap()
}

#[test]
fn a_run_starts_samples_and_removes_its_server() {
    for backend in every_server() {
        let place = Place::new();
        let out = place.results();
        let document = sound(&place, &arguments(out.to_str().unwrap(), backend, "3s"));
        assert_eq!(document["target"]["managed"], true);
        let promise = BACKENDS.iter().find(|b| b.info().name == backend).unwrap().info().promise;
        let level = serde_json::to_value(promise).unwrap()["level"].clone();
        assert_eq!(document["target"]["durability"]["promise"], level, "{backend}, as it is listed");
        let roles: Vec<_> = document["resources"].as_array().unwrap().iter().collect();
        let server = roles.iter().find(|r| r["role"] == "server").unwrap();
        assert!(server["rss_bytes_mean"].as_u64().is_some_and(|bytes| bytes > 1 << 20), "{server:#}");
        let series = fs::read_to_string(results(&place).join("series.csv")).unwrap();
        assert!(series.lines().next().unwrap().contains("server_cpu_pct"), "{series}");
        assert!(results(&place).join("server.log").exists());
        place.assert_nothing_is_left();
    }
}

#[test]
fn a_sweep_has_one_server_and_fresh_tables() {
    // VictoriaMetrics stores no text.
    for backend in some_servers().filter(|&backend| backend != "victoriametrics") {
        let place = Place::new();
        let out = place.results();
        let short =
            ["--set", "sweep.values=[2, 4]", "--set", "repeat=2", "--set", "preload=50", "--set", "layout=wide"];
        let arguments = ["run", "-p", "weather_insert", "-b", backend, "--output-format", "json", "--out"];
        let document = sound(&place, &[&arguments[..], &[out.to_str().unwrap()], &short].concat());
        let runs = document["runs"].as_array().unwrap();
        let stored: Vec<_> = runs.iter().map(|run| run["points"]["stored"].as_u64()).collect();
        assert_eq!(stored, [Some(54), Some(58)], "{backend}");
        assert_eq!(runs[0]["target"]["endpoints"], runs[1]["target"]["endpoints"], "{backend}");
        let transactions = BACKENDS.iter().any(|b| b.info().name == backend && b.info().capabilities.transactions);
        assert!(runs.iter().all(|run| run["empty_transaction_us"].is_number() == transactions), "{backend}");
        assert!(results(&place).join("server.log").exists());
        place.assert_nothing_is_left();
    }
}

#[test]
fn devices_report_by_intervals() {
    for backend in SERVERS.into_iter().filter(|b| is_here(b)) {
        let place = Place::new();
        let out = place.results();
        let short = [
            "--set",
            "interval=3s",
            "--set",
            "groups.0.load.window=2s",
            "--set",
            "ramp.steps=[2500]",
            "--set",
            "mean_response=1s",
            "--set",
            "layout=wide",
            "--set",
            "others_cpu=100%",
        ];
        let arguments = ["run", "-p", "smart_meter_write", "-b", backend, "--output-format", "json", "--out"];
        // A busy machine's disk may miss the window, and its client may be held up: seldom each time.
        let tries = (0..4).map(|_| Ended::of(&place, &[&arguments[..], &[out.to_str().unwrap()], &short].concat()));
        let mut codes = Vec::new();
        let ended = tries.inspect(|ended| codes.push(ended.code)).find(|ended| ended.code == 0);
        let document = &ended.unwrap_or_else(|| panic!("{backend}: {codes:?}")).document;
        assert_eq!(document["capacity"]["steps"][0]["load"]["offered"], 3, "{backend}");
        assert_eq!(document["points"]["stored"], document["points"]["acked"], "{backend}");
        place.assert_nothing_is_left();
    }
}

#[test]
fn ctrl_c_and_sigkill_leave_no_server() {
    for backend in some_servers() {
        for (signal, code) in [(Signal::INT, Some(130)), (Signal::HUP, Some(129)), (Signal::KILL, None)] {
            let place = Place::new();
            let child = measuring(&place, backend);
            kill_process(Pid::from_child(&child), signal).unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), code, "{}", String::from_utf8_lossy(&output.stderr));
            place.assert_nothing_is_left();
        }
    }
}

/// Also while its server starts a run says at its end how it ended.
#[test]
fn ctrl_c_while_the_server_starts_leaves_an_aborted_document() {
    let Some(backend) = every_server().next() else { return };
    let place = Place::new();
    let results = place.results();
    let run = ["run", "-p", "pmu_write", "-b", backend, "--vus", "1", "-d", "1h", "--out", results.to_str().unwrap()];
    let mut child = place.iotbench(&run).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.by_ref().map_while(Result::ok).any(|line| line.starts_with("starting")));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    lines.for_each(drop);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let folder = results.read_dir().unwrap().next().unwrap().unwrap().path();
    let document: Value = serde_json::from_str(&fs::read_to_string(folder.join("run.json")).unwrap()).unwrap();
    assert_eq!(document["verdict"]["status"], "aborted", "{:#}", document["verdict"]);
    assert!(folder.join("manifest.json").exists());
    place.assert_nothing_is_left();
}

#[test]
fn a_server_that_dies_ends_the_run_and_is_the_verdict() {
    for backend in some_servers() {
        let place = Place::new();
        let child = measuring(&place, backend);
        let server = server(&place);
        kill(server);
        let output = child.wait_with_output().unwrap();
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(24), "{:#}", document["verdict"]);
        assert_eq!(document["verdict"]["status"], "failed");
        let reasons = document["verdict"]["reasons"].to_string();
        assert!(reasons.contains("the server died during the run") && reasons.contains("signal 9"), "{reasons}");
        place.assert_nothing_is_left();
    }
}

#[test]
fn keep_leaves_the_folder_and_stops_the_server() {
    for backend in some_servers() {
        let place = Place::new();
        let out = place.results();
        let arguments = [&arguments(out.to_str().unwrap(), backend, "2s")[..], &["--keep"]].concat();
        let ended = Ended::of(&place, &arguments);
        ended.assert_sound(backend);
        let (folders, err) = (place.folders(), ended.err);
        assert!(err.contains("iotbench server start") && err.contains(folders[0].to_str().unwrap()), "{err}");
        wait_for("the server's end", || place.processes().iter().all(|(pid, _)| !is_alive(*pid)));
    }
}

#[test]
fn a_servers_settings_are_not_for_somebody_elses() {
    for backend in every_server() {
        let place = Place::new();
        let setting = format!("backend.{backend}.server.x=1");
        let url = "http://127.0.0.1:1/";
        let (code, _, err) =
            place.call(&["run", "-p", "machine_write", "-b", backend, "--url", url, "--set", &setting]);
        assert!(code == 2 && err.contains("--url names another one"), "{code} {err}");
    }
}
