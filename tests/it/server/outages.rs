//! Servers of the user's that stop answering, or end, in the middle of a run.

use crate::server::{
    client::say,
    on_a_server::{Ended, arguments},
    place::{Place, SERVERS, is_here, kill, tree, wait_for_series},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    fs,
    process::Child,
    time::{Duration, Instant},
};
use url::Url;

const DURATION: Duration = Duration::from_secs(6);
/// Waiting for answers and counting take a second each, dropping as long as an operation.
const GRACE: Duration = Duration::from_secs(7);
/// Far below the time-outs of drivers and of the system: what waits for those does not end by then.
const SLACK: Duration = Duration::from_secs(10);
const USERS: u64 = 4;

/// All at once: most of the time is waiting.
fn on_each(test: impl Fn(&'static str) + Sync) {
    std::thread::scope(|scope| {
        for backend in SERVERS.into_iter().filter(|b| is_here(b)) {
            let test = &test;
            scope.spawn(move || test(backend));
        }
    });
}

/// A run under way.
fn begin(place: &Place, backend: &str, url: &Url, limits: &[&str]) -> Child {
    let (results, duration, users) = (place.results(), format!("{}s", DURATION.as_secs()), USERS.to_string());
    let users = ["--vus", users.as_str(), "--connections", &users, "--set", "think_time=100ms"];
    let load = [&["-d", &duration, "--url", url.as_str()][..], &users].concat();
    let run = arguments(backend, &[&load[..], limits, &["--out", results.to_str().unwrap()]].concat());
    let run = place.iotbench(&run).spawn().unwrap();
    wait_for_series(place);
    run
}

/// How a run ended whose server was taken from it, and which is held against its time.
fn end(run: Child, since: Instant) -> Ended {
    let output = run.wait_with_output().unwrap();
    assert!(since.elapsed() < DURATION + GRACE + SLACK, "{:?}", since.elapsed());
    let document = serde_json::from_slice(&output.stdout).unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(!err.contains("panicked"), "{err}");
    Ended { code: output.status.code().unwrap(), document, err }
}

/// What was measured until then is told, on the disk as on standard output, and balances.
fn assert_partial_result_is_saved(place: &Place, ended: &Ended, case: &str) {
    let folder = place.results().read_dir().unwrap().next().unwrap().unwrap().path();
    let saved: Value = serde_json::from_slice(&fs::read(folder.join("run.json")).unwrap()).unwrap();
    assert_eq!(saved, ended.document, "{case}");
    assert!(folder.join("manifest.json").exists(), "{case}");
    assert_eq!(saved["verdict"]["status"], "failed", "{case}");
    let count = |pointer| ended.count(pointer);
    assert!(count("/points/acked") > 0, "{case}");
    assert_eq!(count("/load/started"), count("/load/ok") + count("/load/fail") + count("/load/unknown"), "{case}");
    assert_eq!(
        count("/points/sent"),
        count("/points/acked") + count("/points/failed") + count("/points/unknown"),
        "{case}"
    );
}

fn has_error(ended: &Ended, cause: &str) -> bool {
    ended.document["errors"].as_array().unwrap().iter().any(|error| error["cause"] == cause)
}

#[test]
fn a_server_that_stops_answering_hangs_nobody_and_goes_on_afterwards() {
    on_each(|backend| {
        let place = Place::new();
        let url: Url = place.started(&["server", "start", backend]).trim().parse().unwrap();
        let since = Instant::now();
        let limits = ["--set", "phases.deadline=5s", "--set", "phases.drain=1s", "--set", "phases.settle=1s"];
        let run = begin(&place, backend, &url, &limits);
        let stopped = tree(place.server(backend));
        let signal = |signal| {
            for &pid in &stopped {
                // Of a tree some may have ended meanwhile.
                let _ = kill_process(Pid::from_raw(pid).unwrap(), signal);
            }
        };
        signal(Signal::STOP);
        let ended = end(run, since);
        signal(Signal::CONT);
        assert_eq!(ended.code, 20, "{backend}: {} {}", ended.reasons(), ended.err);
        assert!(ended.reasons().contains("timed_out: no answer within 1 s"), "{backend}: {}", ended.reasons());
        assert!(ended.count("/load/unknown") >= USERS && has_error(&ended, "timed_out"), "{:#}", ended.document);
        assert_partial_result_is_saved(&place, &ended, backend);
        let question = match backend {
            "influxdb" => "SHOW DATABASES",
            "mongodb" => r#"{"ping": 1}"#,
            _ => "SELECT 1",
        };
        assert!(!say(backend, &url, question).is_empty(), "{backend} does not go on");
        assert!(
            place.out(&["clean", "--backend", backend, "--url", url.as_str()]).contains("dropped iotbench_pmu_write"),
            "{backend}"
        );
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    });
}

#[test]
fn a_users_server_that_is_killed_is_told_as_one_that_cannot_be_reached() {
    on_each(|backend| {
        let place = Place::new();
        let url: Url = place.started(&["server", "start", backend]).trim().parse().unwrap();
        let since = Instant::now();
        // Nobody waits as long as he would for an answer.
        let run = begin(&place, backend, &url, &[]);
        kill(place.server(backend));
        let ended = end(run, since);
        assert_eq!(ended.code, 20, "{backend}: {} {}", ended.reasons(), ended.err);
        assert!(ended.reasons().contains("connect: "), "{backend}: {}", ended.reasons());
        assert!(has_error(&ended, "connect"), "{:#}", ended.document["errors"]);
        assert_partial_result_is_saved(&place, &ended, backend);
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    });
}
